import type { UnitUsage } from '@gateway/contracts';
import { isObject, objectOf, wholeCount, type JsonObject } from '../../body/json-object.js';
import { withoutMoney } from '../../translation/money-names.js';
import type { TextFacts } from '../text-dialect.js';

/** Calls of hosted tools that are billed apart; null where the response says nothing of them. */
function hostedCalls({ usage, tool_usage: tools }: JsonObject): Record<string, number> | null {
  // xAI's, by the kind of search.
  const details = objectOf(usage).server_side_tool_usage_details;
  if (isObject(details))
    return {
      web_search: wholeCount(details.web_search_calls) ?? 0,
      x_search: wholeCount(details.x_search_calls) ?? 0,
    };
  const searches = wholeCount(objectOf(objectOf(tools).web_search).num_requests);
  return searches === null ? null : { web_search: searches };
}

/** True for an item that is a search; to open a page, or to look for something in it, is none. */
export function isSearch({ type, action }: JsonObject): boolean {
  return type === 'web_search_call' && ['search', undefined].includes(objectOf(action).type as string);
}

/**
 * Counts of a native response's usage; a side that was not reported is left out. `searches` are those
 * that its items show: they count where the response itself does not count them.
 */
export function unitUsage(response: JsonObject, searches: number): UnitUsage {
  const raw = objectOf(response.usage);
  const input = objectOf(raw.input_tokens_details);
  const output = objectOf(raw.output_tokens_details);
  const prompt = wholeCount(raw.input_tokens);
  const completion = wholeCount(raw.output_tokens);
  const calls = Object.entries(hostedCalls(response) ?? { web_search: searches }).filter(
    ([, count]) => count > 0,
  );
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
  if (calls.length > 0) usage.tool_calls = Object.fromEntries(calls);
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
