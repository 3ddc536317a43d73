import type { LimitScope } from '@gateway/contracts';
import { durationText, limitReadings, rateHeaders } from './rate-headers.js';
import type { Admitted, RejectedAdmission } from './rate-headers.js';

const KEY: LimitScope = { kind: 'key', id: 'k1', rpm: 100, rpd: 1_000, tpm: null, capNano: null };
const ORG: LimitScope = { kind: 'org', id: 'o1', rpm: 5, rpd: null, tpm: null, capNano: null };

const ADMITTED: Admitted = {
  kind: 'ok',
  counters: [
    { kind: 'key', id: 'k1', rpm: 3, rpd: 40, tpm: 9 },
    { kind: 'org', id: 'o1', rpm: 5, rpd: 50, tpm: 9 },
  ],
  minuteResetSeconds: 42,
  minute: 1,
};

describe('rateHeaders', () => {
  it('LIM-36 LIM-37 carries limit, remaining and reset of the key alone, also while the org binds', () => {
    expect(rateHeaders([KEY, ORG], ADMITTED)).toEqual({
      'x-ratelimit-limit-requests': '100',
      'x-ratelimit-remaining-requests': '97',
      'x-ratelimit-reset-requests': '42s',
    });
  });

  it('LIM-37 carries them of a rejection by another limit, and none where the key’s minute is not known', () => {
    const refused: RejectedAdmission = {
      kind: 'refused',
      rejection: {
        ...{ scope: 'org', scopeId: 'o1', metric: 'rpm', counter: null, current: '5', limit: '5' },
        ...{ resetsInSeconds: 42, reservationsOnly: false, held: null },
      },
    };
    expect(rateHeaders([KEY, ORG], { ...refused, keyMinute: { rpm: 5, resetsInSeconds: 42 } })).toEqual({
      'x-ratelimit-limit-requests': '100',
      'x-ratelimit-remaining-requests': '95',
      'x-ratelimit-reset-requests': '42s',
    });
    expect(rateHeaders([KEY, ORG], refused)).toEqual({});
  });

  it('never reports a negative remaining, and nothing of a key without a limit', () => {
    expect(rateHeaders([{ ...KEY, rpm: 2 }], ADMITTED)['x-ratelimit-remaining-requests']).toBe('0');
    expect(rateHeaders([{ ...KEY, rpm: null }], ADMITTED)).toEqual({});
  });

  it.each([
    [0, '0s'],
    [1, '1s'],
    [59.2, '1m0s'],
    [360, '6m0s'],
    [3_661, '1h1m1s'],
  ])('writes %s seconds as %s', (seconds, text) => {
    expect(durationText(seconds)).toBe(text);
  });
});

describe('limitReadings', () => {
  it('joins the counters with the limits and caps they were checked against', () => {
    expect(limitReadings([KEY, ORG], ADMITTED, (at) => ['5', null][at])).toEqual([
      { scope: 'key', scope_id: 'k1', rpm: 3, rpd: 40, rpm_limit: 100, rpd_limit: 1_000, cap_usd: '5' },
      { scope: 'org', scope_id: 'o1', rpm: 5, rpd: 50, rpm_limit: 5, rpd_limit: null, cap_usd: null },
    ]);
  });
});
