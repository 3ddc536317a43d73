import { isObject, wholeCount, type JsonObject } from '../../body/json-object.js';
import { namesMoney } from '../../translation/money-names.js';

/** Counters of a usage object that are billed, or that Anthropic names as free, by their path. */
const KNOWN: ReadonlySet<string> = new Set([
  'input_tokens',
  'output_tokens',
  'cache_creation_input_tokens',
  'cache_read_input_tokens',
  'cache_creation.ephemeral_5m_input_tokens',
  'cache_creation.ephemeral_1h_input_tokens',
  'output_tokens_details.thinking_tokens',
  'server_tool_use.web_search_requests',
  'server_tool_use.web_fetch_requests',
]);
const MOST = 16;
const NAME = /^[a-z0-9_]{1,48}$/;

/** True for the name of a counter. What a provider charges is no counter, and callers never see it. */
function namesCounter(name: string): boolean {
  return NAME.test(name) && !namesMoney(name);
}

/**
 * Returns counters above 0 that this release does not know, as `server_tool_use.<name>` of a nested one; null for none.
 * Leaves out a count that no double holds exactly.
 */
export function unpricedCounters(usage: JsonObject): Record<string, number> | null {
  const found: [string, number][] = [];
  const note = (path: string, value: unknown): void => {
    const count = wholeCount(value) ?? 0;
    if (count > 0 && Number.isSafeInteger(count) && !KNOWN.has(path) && found.length < MOST)
      found.push([path, count]);
  };
  for (const [name, value] of Object.entries(usage)) {
    if (!namesCounter(name)) continue;
    note(name, value);
    if (isObject(value))
      for (const [inner, count] of Object.entries(value))
        if (namesCounter(inner)) note(`${name}.${inner}`, count);
  }
  return found.length === 0 ? null : Object.fromEntries(found);
}
