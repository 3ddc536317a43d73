import { retryAfterMs } from './retry-after.js';

describe('how long a provider asks us to wait', () => {
  const now = Date.parse('2026-11-21T00:00:00Z');
  it.each<[string, Record<string, string>, string, number | null]>([
    ['seconds', { 'retry-after': '20' }, '', 20_000],
    ['no wait at all', { 'retry-after': '0' }, '', 0],
    ['a fraction of seconds', { 'retry-after': '0.5' }, '', 500],
    ['a date', { 'retry-after': 'Sat, 21 Nov 2026 00:00:30 GMT' }, '', 30_000],
    ['the larger of both headers', { 'retry-after': '1', 'retry-after-ms': '0' }, '', 1_000],
    ['milliseconds', { 'retry-after-ms': '1500' }, '', 1_500],
    ['RetryInfo in the body', {}, '{"retryDelay": "34.4s"}', 34_400],
    ['the text', {}, 'Please retry in 48.9s.', 48_900],
    ['a reset as a duration', { 'x-ratelimit-reset-requests': '6m0s' }, '', 360_000],
    ['a reset in an hour and more', { 'x-ratelimit-reset-requests': '1h0m0.5s' }, '', 3_600_500],
    ['a reset as a date', { 'anthropic-ratelimit-requests-reset': '2026-11-21T00:00:07Z' }, '', 7_000],
    ['nothing', {}, 'busy', null],
    ['nonsense', { 'retry-after': 'soon' }, '', null],
  ])('%s', (_name, headers, body, expected) => {
    expect(retryAfterMs(headers, body, now)).toBe(expected);
  });
});
