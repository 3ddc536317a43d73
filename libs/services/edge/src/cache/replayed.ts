import { isObject, parseSpelled, writeJson } from '@gateway/json-body';
import type { UnitUsage } from '@gateway/contracts';

type Json = Record<string, unknown>;

/**
 * An answer as a hit gives it again: its counts, with all counts of prompt caches 0,
 * and served by nobody: neither by the caller's own key nor by a fallback.
 */
export function replayed(out: string, isStream: boolean): string {
  if (!isStream) return edited(out);
  return out
    .split('\n')
    .map((line) => (line.startsWith('data: {') ? `data: ${edited(line.slice('data: '.length))}` : line))
    .join('\n');
}

/** The counts of a hit's usage event. */
export function replayedUsage(usage: UnitUsage): UnitUsage {
  const { cached_tokens: _c, cache_write_tokens: _w, cache_write_1h_tokens: _h, ...counts } = usage;
  return counts;
}

function edited(text: string): string {
  if (!text.includes('"usage"')) return text;
  const body = parseSpelled(text) as Json;
  // Beside the answer itself: the first event of a messages stream, the events of a responses stream.
  for (const holder of [body, body.message, body.response])
    if (isObject(holder) && isObject(holder.usage)) holder.usage = withoutCaches(holder.usage);
  return writeJson(body);
}

function withoutCaches(usage: Json): Json {
  const counts = zeroed(usage);
  if ('cache_read_input_tokens' in usage) {
    const { input_tokens, cache_read_input_tokens: read, cache_creation_input_tokens: written } = usage;
    counts.input_tokens = count(input_tokens) + count(read) + count(written);
  } else delete counts.cache_creation_input_tokens;
  if ('byok_used' in counts) counts.byok_used = false;
  if ('fallback_triggered' in counts) counts.fallback_triggered = false;
  return counts;
}

/** Every count of a prompt cache is 0, whatever provider named it. */
function zeroed(usage: Json): Json {
  return Object.fromEntries(
    Object.entries(usage).map(([name, value]) => {
      if (typeof value === 'number') return [name, /cache|ephemeral/.test(name) ? 0 : value];
      return [name, isObject(value) ? zeroed(value) : value];
    }),
  );
}

function count(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}
