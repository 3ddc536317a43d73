import { attemptTimes } from './attempt.js';

const settings = {
  UPSTREAM_CONNECT_TIMEOUT_MS: 3_000,
  UPSTREAM_TOTAL_TIMEOUT_MS: 600_000,
  UPSTREAM_STREAM_FIRST_BYTE_TIMEOUT_MS: 60_000,
  UPSTREAM_STREAM_IDLE_TIMEOUT_MS: 30_000,
  UPSTREAM_STREAM_TOTAL_TIMEOUT_MS: 900_000,
};
const free = { remainingMs: Infinity, attemptMs: Infinity };
const timesOf = (
  ...[own, more]: [Parameters<typeof attemptTimes>[1], Partial<Parameters<typeof attemptTimes>[2]>]
) => {
  const times = attemptTimes(settings, own, { isStream: false, ...free, ...more });
  return [times.connectTimeoutMs, times.firstByteTimeoutMs, times.idleTimeoutMs, times.totalTimeoutMs];
};

describe('the times of an attempt', () => {
  it('are the settings where the provider has none of its own', () => {
    expect(timesOf(undefined, {})).toEqual([3_000, 600_000, 600_000, 600_000]);
    expect(timesOf(undefined, { isStream: true })).toEqual([3_000, 60_000, 30_000, 900_000]);
  });

  it('issue 38 are the provider’s own, shorter or longer, but for the time to connect', () => {
    const own = { connectMs: 2_000, firstByteMs: 90_000, idleMs: 5, totalMs: 950_000 };
    expect(timesOf(own, {})).toEqual([2_000, 90_000, 5, 950_000]);
    expect(timesOf(own, { isStream: true })).toEqual([2_000, 90_000, 5, 950_000]);
    expect(timesOf({ connectMs: 9_000 }, {})[0]).toBe(3_000);
    expect(timesOf({ totalMs: 7 }, {})).toEqual([3_000, 7, 7, 7]);
  });

  it('end with the request and with the attempt that its policy allows', () => {
    const own = { firstByteMs: 90_000, totalMs: 950_000 };
    expect(timesOf(own, { remainingMs: 40 })).toEqual([40, 40, 950_000, 40]);
    expect(timesOf(own, { attemptMs: 50 })).toEqual([50, 50, 950_000, 50]);
    expect(timesOf(own, { isStream: true, attemptMs: 50, remainingMs: 800_000 })).toEqual([
      50, 50, 30_000, 800_000,
    ]);
    expect(timesOf(own, { remainingMs: 0 })[0]).toBe(1);
  });
});
