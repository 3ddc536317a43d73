import type { UnitUsage } from '@gateway/contracts';
import { objectOf, type JsonObject } from '../../body/json-object.js';
import { wholeCount } from '../../body/whole-count.js';
import { withoutMoney } from '../../translation/money-names.js';
import type { TextFacts } from '../text-dialect.js';

/**
 * Counts of a native usage object (wire-formats 5.7.1); a side that was not reported is left out. `tools` is the
 * response's `tool_usage`: what hosted tools did is billed apart.
 */
export function unitUsage(raw: JsonObject, tools: JsonObject): UnitUsage {
  const input = objectOf(raw.input_tokens_details);
  const output = objectOf(raw.output_tokens_details);
  const prompt = wholeCount(raw.input_tokens);
  const completion = wholeCount(raw.output_tokens);
  const searches = wholeCount(objectOf(tools.web_search).num_requests) ?? 0;
  const usage: UnitUsage = {};
  if (prompt !== null) {
    usage.prompt_tokens = prompt;
    usage.cached_tokens = Math.min(wholeCount(input.cached_tokens) ?? 0, prompt);
    usage.cache_write_tokens = Math.min(
      wholeCount(input.cache_write_tokens) ?? 0,
      prompt - usage.cached_tokens,
    );
    usage.cache_write_1h_tokens = Math.min(
      wholeCount(input.cache_write_1h_tokens) ?? 0,
      usage.cache_write_tokens,
    );
    usage.audio_input_tokens = wholeCount(input.audio_tokens) ?? 0;
  }
  if (completion !== null) {
    usage.completion_tokens = completion;
    usage.reasoning_tokens = wholeCount(output.reasoning_tokens) ?? 0;
  }
  if (searches > 0) usage.tool_calls = { web_search: searches };
  return usage;
}

/** Counts of other formats that the fixed keys already say; they are translated, not added by the provider. */
const TRANSLATED = [
  'prompt_tokens',
  'completion_tokens',
  'prompt_tokens_details',
  'completion_tokens_details',
  'cache_creation',
  'cache_creation_input_tokens',
  'cache_read_input_tokens',
];

/**
 * The usage object of the responses endpoint (spec): every fixed key always present and always the gateway's value, the
 * provider's own keys beside them, no money. `raw` is the provider's object in whatever format it speaks.
 */
export function responsesUsage(
  usage: UnitUsage,
  raw: JsonObject,
  facts: Pick<TextFacts, 'byokUsed' | 'fallbackTriggered'>,
  isNative: boolean,
): JsonObject {
  const keys = { ...objectOf(withoutMoney(raw)) };
  if (!isNative) for (const name of TRANSLATED) delete keys[name];
  const input = usage.prompt_tokens ?? 0;
  const output = usage.completion_tokens ?? 0;
  return {
    ...keys,
    input_tokens: input,
    input_tokens_details: {
      ...(isNative ? objectOf(keys.input_tokens_details) : {}),
      cached_tokens: usage.cached_tokens ?? 0,
      cache_write_tokens: usage.cache_write_tokens ?? 0,
      cache_write_1h_tokens: usage.cache_write_1h_tokens ?? 0,
      audio_tokens: usage.audio_input_tokens ?? 0,
    },
    output_tokens: output,
    output_tokens_details: {
      ...(isNative ? objectOf(keys.output_tokens_details) : {}),
      reasoning_tokens: usage.reasoning_tokens ?? 0,
      ...(isNative
        ? {}
        : {
            audio_tokens: usage.audio_output_tokens ?? 0,
            accepted_prediction_tokens: usage.accepted_prediction_tokens ?? 0,
            rejected_prediction_tokens: usage.rejected_prediction_tokens ?? 0,
          }),
    },
    // As the provider counted it, where it did.
    total_tokens: wholeCount(raw.total_tokens) ?? input + output,
    byok_used: facts.byokUsed,
    fallback_triggered: facts.fallbackTriggered,
  };
}
