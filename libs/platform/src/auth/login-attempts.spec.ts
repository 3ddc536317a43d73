import { ApiError } from '@gateway/contracts';
import { fixedClock, type FixedClock } from '@gateway/testing/plain';
import { LoginAttempts } from './login-attempts.js';

const OWNER = 'owner@example.com';

/** Seconds to wait before the next attempt; null where it may be made now. */
function waitOf(attempts: LoginAttempts, ip: string, email = OWNER): number | null {
  try {
    attempts.take(ip, email);
    return null;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    expect(error.code).toBe('rate_limit_exceeded');
    return error.options.retryAfterSeconds ?? null;
  }
}

describe('login attempts', () => {
  let clock: FixedClock;
  let attempts: LoginAttempts;

  beforeEach(() => {
    clock = fixedClock('2026-11-22T12:00:00.000Z');
    attempts = new LoginAttempts(clock);
  });

  function fail(ip: string, times: number): void {
    for (let n = 0; n < times; n += 1) attempts.failed(ip, OWNER);
  }

  it('waits after five failures, twice as long after each, and never longer than a quarter of an hour', async () => {
    fail('203.0.113.1', 4);
    expect(waitOf(attempts, '203.0.113.1')).toBeNull();
    for (const seconds of [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]) {
      fail('203.0.113.1', 1);
      expect(waitOf(attempts, '203.0.113.1')).toBe(seconds);
      await clock.advance(seconds * 1_000);
      expect(waitOf(attempts, '203.0.113.1')).toBeNull();
    }
  });

  it('keeps no owner out for whose address somebody else guesses', () => {
    fail('203.0.113.1', 100);
    expect(waitOf(attempts, '203.0.113.1')).toBe(900);
    expect(waitOf(attempts, '203.0.113.2')).toBeNull();
  });

  it('forgets the failures of a pair after a login, and after a quiet quarter of an hour', async () => {
    fail('203.0.113.1', 5);
    attempts.succeeded('203.0.113.1', OWNER);
    expect(waitOf(attempts, '203.0.113.1')).toBeNull();
    fail('203.0.113.1', 5);
    await clock.advance(15 * 60_000 + 1_000);
    fail('203.0.113.1', 1);
    expect(waitOf(attempts, '203.0.113.1')).toBeNull();
  });

  it('bounds the logins of one IP over all addresses, for a quarter of an hour', async () => {
    for (let n = 0; n < 50; n += 1) expect(waitOf(attempts, '203.0.113.1', `u${n}@example.com`)).toBeNull();
    await clock.advance(60_000);
    expect(waitOf(attempts, '203.0.113.1')).toBe(840);
    await clock.advance(840_000);
    expect(waitOf(attempts, '203.0.113.1')).toBeNull();
  });
});
