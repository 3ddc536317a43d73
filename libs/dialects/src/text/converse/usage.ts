import type { UnitUsage } from '@gateway/contracts';
import { objectsOf, pick, wholeCount, type JsonObject } from '../../body/json-object.js';
import { withoutMoney } from '../../translation/money-names.js';

const TRANSLATED: ReadonlySet<string> = new Set([
  'inputTokens',
  'outputTokens',
  'totalTokens',
  'cacheReadInputTokens',
  'cacheWriteInputTokens',
  'cacheReadInputTokenCount',
  'cacheWriteInputTokenCount',
  'cacheDetails',
]);

/** Counts of a Converse usage: inputTokens leaves cache reads and writes out. */
export function unitUsage(raw: JsonObject): UnitUsage {
  const usage: UnitUsage = {};
  const input = wholeCount(raw.inputTokens);
  const output = wholeCount(raw.outputTokens);
  if (input !== null) {
    const read = wholeCount(raw.cacheReadInputTokens) ?? 0;
    const write = wholeCount(raw.cacheWriteInputTokens) ?? 0;
    let hour = 0;
    for (const { ttl, inputTokens } of objectsOf(raw.cacheDetails))
      if (ttl === '1h') hour += wholeCount(inputTokens) ?? 0;
    usage.prompt_tokens = input + read + write;
    usage.cached_tokens = read;
    usage.cache_write_tokens = write;
    usage.cache_write_1h_tokens = Math.min(hour, write);
  }
  if (output !== null) {
    usage.completion_tokens = output;
    usage.reasoning_tokens = 0;
  }
  return usage;
}

/** Returns the members that are no count of ours: shown beside the fixed keys. */
export function addedKeys(raw: JsonObject): JsonObject {
  return withoutMoney(pick(raw, (name) => !TRANSLATED.has(name))) as JsonObject;
}
