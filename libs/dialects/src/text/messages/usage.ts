import type { UnitUsage } from '@gateway/contracts';
import { wholeCount, isObject, type JsonObject } from '../../body/json-object.js';
import { namesMoney } from '../../translation/money-names.js';
import type { TextFacts } from '../text-dialect.js';
import { objectAt, objectsAt } from './json.js';
import { unpricedCounters } from './unpriced-counters.js';

/** The messages endpoint returns no reasoning count (spec, usage object, messages endpoint). */
const REASONING_COUNTS = new Set(['output_tokens_details', 'thinking_tokens', 'reasoning_tokens']);

/** A copy without the members whose names pass the test, at any depth. */
function without(value: unknown, isLeftOut: (key: string) => boolean): unknown {
  if (Array.isArray(value)) return value.map((item) => without(item, isLeftOut));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !isLeftOut(key))
      .map(([key, member]) => [key, without(member, isLeftOut)]),
  );
}

/** A later report replaces an earlier one key by key; null and missing keys leave what stands. */
export function mergeUsage(earlier: JsonObject, later: JsonObject): JsonObject {
  const merged = { ...earlier };
  for (const [key, value] of Object.entries(later)) {
    if (value !== null && value !== undefined) merged[key] = value;
  }
  return merged;
}

interface InputCounts {
  prompt: number;
  read: number;
  write: number;
  write1h: number;
}

/** null where input_tokens is no count: the cache counts beside it are a part of the prompt, and not all of it. */
function inputOf(usage: JsonObject): InputCounts | null {
  const input = wholeCount(usage.input_tokens);
  if (input === null) return null;
  const split = objectAt(usage, 'cache_creation');
  const write1h = wholeCount(split.ephemeral_1h_input_tokens) ?? 0;
  const write =
    wholeCount(usage.cache_creation_input_tokens) ??
    (wholeCount(split.ephemeral_5m_input_tokens) ?? 0) + write1h;
  const read = wholeCount(usage.cache_read_input_tokens) ?? 0;
  // The split may be older than the total (it stands in message_start only), so it can at most be the total.
  return { prompt: input + write + read, read, write, write1h: Math.min(write1h, write) };
}

/**
 * The top-level totals leave compaction out, so with one the iterations count; they do not where the provider fell back
 * to another model, because the failed message is not billed. Advisors never count here.
 */
function billed(usage: JsonObject): readonly JsonObject[] {
  const iterations = objectsAt(usage, 'iterations');
  const has = (type: string): boolean => iterations.some((iteration) => iteration.type === type);
  if (!has('compaction') || has('fallback_message')) return [usage];
  return iterations.filter(({ type }) => type === 'message' || type === 'compaction');
}

/** The sum; null where one of them is no count. */
function total(counts: readonly (number | null)[]): number | null {
  let sum = 0;
  for (const count of counts) {
    if (count === null) return null;
    sum += count;
  }
  return sum;
}

function inputSide(usages: readonly JsonObject[]): UnitUsage {
  const inputs = usages.map(inputOf);
  const sumOf = (name: keyof InputCounts): number | null =>
    total(inputs.map((counts) => counts && counts[name]));
  const prompt = sumOf('prompt');
  if (prompt === null) return {};
  return {
    prompt_tokens: prompt,
    cached_tokens: sumOf('read') ?? 0,
    cache_write_tokens: sumOf('write') ?? 0,
    cache_write_1h_tokens: sumOf('write1h') ?? 0,
  };
}

function outputSide(usages: readonly JsonObject[], { output_tokens_details }: JsonObject): UnitUsage {
  const completion = total(usages.map(({ output_tokens }) => wholeCount(output_tokens)));
  if (completion === null) return {};
  const { thinking_tokens } = isObject(output_tokens_details) ? output_tokens_details : {};
  return { completion_tokens: completion, reasoning_tokens: wholeCount(thinking_tokens) ?? 0 };
}

/**
 * Counts of a native usage object. Anthropic's input_tokens is the uncached input alone; prompt_tokens is all of it.
 * A side whose total is absent or no count is left out: it is estimated, and not free. `isFinal`
 * false leaves the output out: at the start of a stream it is no count yet.
 */
export function unitUsage(usage: JsonObject, isFinal = true): UnitUsage {
  const usages = billed(usage);
  const searches = wholeCount(objectAt(usage, 'server_tool_use').web_search_requests) ?? 0;
  const unpriced = isFinal ? unpricedCounters(usage) : null;
  return {
    ...inputSide(usages),
    ...(isFinal ? outputSide(usages, usage) : {}),
    ...(searches > 0 ? { tool_calls: { web_search: searches } } : {}),
    ...(unpriced === null ? {} : { unpriced_counters: unpriced }),
  };
}

/** The usage object of the messages endpoint: every key on every answer, 0 when unused (spec). */
export function messagesUsage(usage: UnitUsage, facts: TextFacts): JsonObject {
  const cached = usage.cached_tokens ?? 0;
  const write = usage.cache_write_tokens ?? 0;
  const write1h = Math.min(usage.cache_write_1h_tokens ?? 0, write);
  return {
    input_tokens: Math.max(0, (usage.prompt_tokens ?? 0) - cached - write),
    cache_creation_input_tokens: write,
    cache_read_input_tokens: cached,
    cache_creation: { ephemeral_5m_input_tokens: write - write1h, ephemeral_1h_input_tokens: write1h },
    output_tokens: usage.completion_tokens ?? 0,
    byok_used: facts.byokUsed,
    fallback_triggered: facts.fallbackTriggered,
  };
}

/** The native object rewritten: keys the provider adds stay beside, the gateway's keys win. */
export function nativeUsage(raw: JsonObject, usage: UnitUsage, facts: TextFacts): JsonObject {
  const added = without(raw, (key) => namesMoney(key) || REASONING_COUNTS.has(key)) as JsonObject;
  return { ...added, ...messagesUsage(usage, facts) };
}
