import type { UnitUsage } from '@gateway/contracts';
import { withoutMoney } from '../../translation/money-names.js';
import type { Quirks } from '../../translation/translation.js';
import type { TextFacts } from '../text-dialect.js';
import { isObject, objectOf, wholeCount, type JsonObject } from '../../body/json-object.js';

function firstOf(...values: unknown[]): number {
  for (let at = 0; at < values.length; at += 1) {
    const count = wholeCount(values[at]);
    if (count !== null) return count;
  }
  return 0;
}

/** The usage object of a chunk or answer. Groq repeats it in `x_groq`: one of the two counts, never both. */
export function reportedUsage(answer: JsonObject): JsonObject | null {
  for (const usage of [answer.usage, objectOf(answer.x_groq).usage]) {
    if (isObject(usage) && (wholeCount(usage.prompt_tokens) ?? wholeCount(usage.completion_tokens)) !== null)
      return usage;
  }
  return null;
}

/**
 * Counts of an OpenAI-compatible usage object (wire-formats 5.7.1). Cached and written tokens never exceed the
 * prompt. A side whose total is absent or no count is left out: it is estimated, and not free.
 */
export function unitUsage(raw: JsonObject, quirks: Quirks): UnitUsage {
  // `prompt_token_details` is Mistral's spelling.
  const input = objectOf(raw.prompt_tokens_details ?? raw.prompt_token_details);
  const output = objectOf(raw.completion_tokens_details);
  let prompt = firstOf(raw.prompt_tokens);
  let completion = firstOf(raw.completion_tokens);
  const total = wholeCount(raw.total_tokens);
  let cached = firstOf(
    raw.prompt_cache_hit_tokens,
    raw.num_cached_tokens,
    input.cached_tokens,
    raw.cached_tokens,
  );
  const reasoning = firstOf(output.reasoning_tokens, raw.reasoning_tokens);
  if (quirks.usageExcludesReasoning) {
    // xAI counts reasoning on top; its total shows whether this answer does.
    if (total !== prompt + completion) completion += reasoning;
    if (cached > prompt) prompt += cached;
  }
  cached = Math.min(cached, prompt);
  const written = Math.min(
    firstOf(input.cache_write_tokens, input.cache_creation_input_tokens),
    prompt - cached,
  );
  const usage: UnitUsage = {};
  if (wholeCount(raw.prompt_tokens) !== null) {
    usage.prompt_tokens = prompt;
    usage.cached_tokens = cached;
    usage.cache_write_tokens = written;
    usage.cache_write_1h_tokens = Math.min(firstOf(input.cache_write_1h_tokens), written);
    usage.audio_input_tokens = firstOf(input.audio_tokens);
    const images = wholeCount(input.image_tokens);
    if (images) usage.image_input_tokens = images;
  }
  if (wholeCount(raw.completion_tokens) !== null) {
    usage.completion_tokens = completion;
    usage.reasoning_tokens = reasoning;
    usage.audio_output_tokens = firstOf(output.audio_tokens);
    usage.accepted_prediction_tokens = firstOf(output.accepted_prediction_tokens);
    usage.rejected_prediction_tokens = firstOf(output.rejected_prediction_tokens);
    const images = wholeCount(output.image_tokens);
    if (images) usage.image_output_tokens = images;
  }
  const searches = wholeCount(raw.num_search_queries);
  if (searches) usage.searches = searches;
  return usage;
}

/** Counts of other dialects that the fixed keys already say; they are translated, not added by the provider. */
const TRANSLATED = [
  'input_tokens',
  'output_tokens',
  'input_tokens_details',
  'cache_read_input_tokens',
  'cache_creation',
  'output_tokens_details',
];

function providerKeys(raw: JsonObject): JsonObject {
  const keys = { ...objectOf(withoutMoney(raw)) };
  delete keys.cache_creation_input_tokens;
  if (raw.prompt_tokens === undefined) for (const name of TRANSLATED) delete keys[name];
  return keys;
}

/**
 * The chat usage object (spec, Usage object): every fixed key always present and always the gateway's value, the
 * provider's own keys beside them, no money. `raw` is the provider's object in whatever dialect it speaks.
 */
export function chatUsage(usage: UnitUsage, raw: JsonObject, facts: TextFacts): JsonObject {
  const keys = providerKeys(raw);
  const prompt = usage.prompt_tokens ?? 0;
  const completion = usage.completion_tokens ?? 0;
  const written = usage.cache_write_tokens ?? 0;
  return {
    ...keys,
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: {
      ...objectOf(keys.prompt_tokens_details),
      cached_tokens: usage.cached_tokens ?? 0,
      cache_write_tokens: written,
      cache_write_1h_tokens: usage.cache_write_1h_tokens ?? 0,
      audio_tokens: usage.audio_input_tokens ?? 0,
    },
    completion_tokens_details: {
      ...objectOf(keys.completion_tokens_details),
      reasoning_tokens: usage.reasoning_tokens ?? 0,
      audio_tokens: usage.audio_output_tokens ?? 0,
      accepted_prediction_tokens: usage.accepted_prediction_tokens ?? 0,
      rejected_prediction_tokens: usage.rejected_prediction_tokens ?? 0,
    },
    byok_used: facts.byokUsed,
    fallback_triggered: facts.fallbackTriggered,
    ...(facts.deprecatedCacheKey && written > 0 ? { cache_creation_input_tokens: written } : {}),
  };
}
