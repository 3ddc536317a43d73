import { Inject, Injectable } from '@nestjs/common';
import { ApiError, type Clock } from '@gateway/contracts';
import { CLOCK } from '../time/tokens.js';

const WINDOW_MS = 15 * 60_000;
const PER_IP = 50;
/** Failures of an IP with one email address before it has to wait. */
const FREE_FAILURES = 5;
const FIRST_WAIT_MS = 1_000;
/** Entries of each kind; past it the oldest is forgotten. */
const ENTRIES_MAX = 20_000;

interface Window {
  startedAt: number;
  count: number;
}

interface Failures {
  count: number;
  /** Earliest time of the next try, on the monotonic clock. */
  waitUntil: number;
}

/**
 * Slows down who guesses passwords, or codes of coupons with the person in place of the IP: per IP a bounded number of
 * logins in a window; per IP and email address, known or not, a wait that doubles with each failure. Never per email
 * address alone, or anybody could lock its owner out. Counts live in this process: n replicas allow n times as many,
 * which a password of 32 random characters or argon2id bears.
 */
@Injectable()
export class LoginAttempts {
  private readonly failures = new Map<string, Failures>();
  private readonly byIp = new Map<string, Window>();

  constructor(@Inject(CLOCK) private readonly clock: Clock) {}

  /** Counts one attempt. Throws ApiError `rate_limit_exceeded` where it comes too soon. */
  take(ip: string, email: string): void {
    const now = this.clock.monotonic();
    const { waitUntil } = this.failures.get(pairOf(ip, email)) ?? { waitUntil: 0 };
    if (waitUntil > now) throw tooSoon(waitUntil - now);
    this.count(ip, now);
  }

  /** The same for who presents or asks for a mailed link, whose token nobody guesses. */
  takeLink(ip: string): void {
    this.count(`link ${ip}`, this.clock.monotonic());
  }

  private count(name: string, now: number): void {
    const known = this.byIp.get(name);
    const window =
      known !== undefined && now - known.startedAt < WINDOW_MS ? known : { startedAt: now, count: 0 };
    window.count += 1;
    if (window !== known) remember(this.byIp, name, window);
    if (window.count > PER_IP) throw tooSoon(window.startedAt + WINDOW_MS - now);
  }

  /** The attempt was refused: the next of this pair has to wait longer. */
  failed(ip: string, email: string): void {
    const pair = pairOf(ip, email);
    const now = this.clock.monotonic();
    const known = this.failures.get(pair);
    // Who was quiet for a window begins anew.
    const count = known !== undefined && now - known.waitUntil < WINDOW_MS ? known.count + 1 : 1;
    const doubled = FIRST_WAIT_MS * 2 ** (count - FREE_FAILURES);
    const waitMs = count < FREE_FAILURES ? 0 : Math.min(WINDOW_MS, doubled);
    remember(this.failures, pair, { count, waitUntil: now + waitMs });
  }

  /** A login that succeeded ends the waits of its pair. */
  succeeded(ip: string, email: string): void {
    this.failures.delete(pairOf(ip, email));
  }
}

function pairOf(ip: string, email: string): string {
  return `${ip} ${email}`;
}

function remember<T>(entries: Map<string, T>, name: string, entry: T): void {
  entries.delete(name);
  entries.set(name, entry);
  const [oldest] = entries.keys();
  if (entries.size > ENTRIES_MAX) entries.delete(oldest);
}

function tooSoon(waitMs: number): ApiError {
  return new ApiError('rate_limit_exceeded', {
    message: 'Too many attempts. Wait before the next one.',
    retryAfterSeconds: waitMs / 1_000,
  });
}
