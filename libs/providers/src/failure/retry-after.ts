const DURATION_UNITS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** Go's duration form, as OpenAI's reset headers write it: `1s`, `6m0s`, `250ms`. */
function goDurationMs(text: string): number | null {
  if (!/^(\d+(\.\d+)?(ms|s|m|h))+$/.test(text)) return null;
  let total = 0;
  for (const [, amount, , unit] of text.matchAll(/(\d+(\.\d+)?)(ms|s|m|h)/g))
    total += Number(amount) * DURATION_UNITS[unit];
  return total;
}

function finite(value: number): number | null {
  return Number.isFinite(value) && value >= 0 ? value : null;
}

function dateMs(text: string, nowMs: number): number | null {
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : Math.max(0, at - nowMs);
}

function header(headers: Record<string, string>, name: string): string | null {
  const value = headers[name];
  return value === undefined || value.trim() === '' ? null : value.trim();
}

/**
 * Returns the wait that the provider asks for, in milliseconds, or null. `retry-after-ms` and
 * `retry-after` are both read and the larger wins: one cloud sends 0 in the first and 1 in the second.
 */
export function retryAfterMs(
  headers: Record<string, string>,
  bodyText: string,
  nowMs: number,
): number | null {
  const milliseconds = header(headers, 'retry-after-ms');
  const seconds = header(headers, 'retry-after');
  const fromMs = milliseconds === null ? null : finite(Number(milliseconds));
  const fromSeconds =
    seconds === null
      ? null
      : /^[\d.]+$/.test(seconds)
        ? finite(Number(seconds) * 1_000)
        : dateMs(seconds, nowMs);
  if (fromMs !== null || fromSeconds !== null) return Math.max(fromMs ?? 0, fromSeconds ?? 0);
  const retryInfo =
    /"retryDelay"\s*:\s*"([\d.]+)s"/.exec(bodyText) ?? /(?:retry|again) in ([\d.]+)\s?s/i.exec(bodyText);
  if (retryInfo) return finite(Number(retryInfo[1]) * 1_000);
  for (const name of ['x-ratelimit-reset-requests', 'x-ratelimit-reset-tokens']) {
    const value = header(headers, name);
    const duration = value === null ? null : goDurationMs(value);
    if (duration !== null) return duration;
  }
  for (const name of [
    'anthropic-ratelimit-requests-reset',
    'anthropic-ratelimit-tokens-reset',
    'anthropic-ratelimit-input-tokens-reset',
  ]) {
    const value = header(headers, name);
    const wait = value === null ? null : dateMs(value, nowMs);
    if (wait !== null) return wait;
  }
  return null;
}
