import { fixedClock } from '@gateway/testing/plain';
import { AddressLimit } from './address-limit.js';

describe('AddressLimit', () => {
  const clock = fixedClock('2026-11-22T12:00:00Z');
  let limit: AddressLimit;
  const taken = (address: string, times: number): number => {
    let served = 0;
    for (let n = 0; n < times; n += 1) {
      try {
        limit.take(address);
        served += 1;
      } catch {
        // Refused: not counted as served.
      }
    }
    return served;
  };
  beforeEach(() => (limit = new AddressLimit(clock)));

  it('MOD-42 MOD-52 lets 60 reads a minute of one address through, and those of another beside them', async () => {
    expect(taken('203.0.113.9', 100)).toBe(60);
    expect(taken('203.0.113.10', 1)).toBe(1);
    await clock.advance(59_999);
    expect(taken('203.0.113.9', 1)).toBe(0);
    await clock.advance(1);
    expect(taken('203.0.113.9', 61)).toBe(60);
  });

  it('MOD-42 429 rate_limit_exceeded says when the minute is over', async () => {
    taken('203.0.113.9', 60);
    await clock.advance(20_000);
    expect(() => limit.take('203.0.113.9')).toThrow(
      expect.objectContaining({
        code: 'rate_limit_exceeded',
        status: 429,
        options: expect.objectContaining({ retryAfterSeconds: 40 }) as unknown,
      }),
    );
  });

  it('counts a network of IPv6 as one, and an IPv4 address written as IPv6 as itself', () => {
    taken('2001:db8:1:2::1', 60);
    expect(taken('2001:0DB8:0001:0002:ffff::9', 1)).toBe(0);
    expect(taken('2001:db8:1:3::1', 1)).toBe(1);
    taken('::ffff:203.0.113.9', 60);
    expect(taken('203.0.113.9', 1)).toBe(0);
    expect(taken('::1', 60)).toBe(60);
  });
});
