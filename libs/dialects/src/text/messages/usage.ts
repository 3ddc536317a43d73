import type { UnitUsage } from '@gateway/contracts';
import { namesMoney } from '../../translation/money-names.js';
import type { TextFacts } from '../text-dialect.js';
import { isObject, objectAt, objectsAt, type JsonObject } from './json.js';

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

/** A count, null where it is none. */
function reported(usage: JsonObject, key: string): number | null {
  const value = usage[key];
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? Math.trunc(value) : null;
}

interface Counts {
  input: number;
  read: number;
  write: number;
  write1h: number;
  output: number;
}

function countsOf(usage: JsonObject): Counts {
  const split = objectAt(usage, 'cache_creation');
  const write1h = reported(split, 'ephemeral_1h_input_tokens') ?? 0;
  const write =
    reported(usage, 'cache_creation_input_tokens') ??
    (reported(split, 'ephemeral_5m_input_tokens') ?? 0) + write1h;
  return {
    input: reported(usage, 'input_tokens') ?? 0,
    read: reported(usage, 'cache_read_input_tokens') ?? 0,
    write,
    // The split may be older than the total (it stands in message_start only), so it can at most be the total.
    write1h: Math.min(write1h, write),
    output: reported(usage, 'output_tokens') ?? 0,
  };
}

const INPUT_KEYS = ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens'];

/** True where one of the counts was reported: what was not is no 0, it is estimated. */
function reports(usage: JsonObject, keys: readonly string[]): boolean {
  return [usage, ...objectsAt(usage, 'iterations')].some((counts) =>
    keys.some((key) => reported(counts, key) !== null),
  );
}

function sum(list: readonly Counts[]): Counts {
  const total: Counts = { input: 0, read: 0, write: 0, write1h: 0, output: 0 };
  for (const counts of list) {
    total.input += counts.input;
    total.read += counts.read;
    total.write += counts.write;
    total.write1h += counts.write1h;
    total.output += counts.output;
  }
  return total;
}

/**
 * The top-level totals leave compaction out, so with one the iterations count; they do not where the provider fell back
 * to another model, because the failed message is not billed. Advisors never count here (wire-formats 2.2).
 */
function billedCounts(usage: JsonObject): Counts {
  const iterations = objectsAt(usage, 'iterations');
  const has = (type: string): boolean => iterations.some((iteration) => iteration.type === type);
  if (!has('compaction') || has('fallback_message')) return countsOf(usage);
  return sum(
    iterations.filter(({ type }) => type === 'message' || type === 'compaction').map((one) => countsOf(one)),
  );
}

/**
 * Counts of a native usage object. Anthropic's input_tokens is the uncached input alone; prompt_tokens is all of it
 * (wire-formats 5.7.1). A side that was not reported is left out. `isFinal` false leaves the output out: at the start of a stream it is no count yet.
 */
export function unitUsage(usage: JsonObject, isFinal = true): UnitUsage {
  const counts = billedCounts(usage);
  const thinking = reported(objectAt(usage, 'output_tokens_details'), 'thinking_tokens');
  const searches = reported(objectAt(usage, 'server_tool_use'), 'web_search_requests') ?? 0;
  return {
    ...(reports(usage, INPUT_KEYS)
      ? {
          prompt_tokens: counts.input + counts.write + counts.read,
          cached_tokens: counts.read,
          cache_write_tokens: counts.write,
          cache_write_1h_tokens: counts.write1h,
        }
      : {}),
    ...(isFinal && reports(usage, ['output_tokens'])
      ? { completion_tokens: counts.output, reasoning_tokens: thinking ?? 0 }
      : {}),
    ...(searches > 0 ? { tool_calls: { web_search: searches } } : {}),
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
