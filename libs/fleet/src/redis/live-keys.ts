import type { Clock } from '@gateway/contracts';
import { within } from '@gateway/event-log';
import type { Cluster, Redis } from 'ioredis';
import { untilReady } from './connect-redis.js';

/** Name of the sorted set; its members are digests of secrets, their scores the times of their last look-up. */
const NAME = 'live_keys';
const LIVE_MS = 3_600_000;
/** Digests that are kept, the newest: 170 bytes of Redis each. */
const LIVE_KEYS_MAX = 50_000;
/** Digests of one command. */
const PART = 1_000;
/** Longest wait for the connection, and for an answer: nothing waits for what is noted here. */
const WAIT_MS = 2_000;
const DIGEST = /^[0-9a-f]{64}$/;

/**
 * The API keys that any edge has looked up in the last hour, so that an edge which starts reads them before its callers
 * come. A digest authenticates nobody outside of the fleet.
 */
export class LiveKeys {
  private noted = new Set<string>();

  constructor(
    private readonly client: Redis | Cluster,
    private readonly clock: Clock,
  ) {}

  /** Notes a key that was looked up, which a key in use is every 15 minutes at least. */
  note(digest: string): void {
    if (this.noted.size < LIVE_KEYS_MAX) this.noted.add(digest);
  }

  /** Writes what was noted, and forgets what is older than an hour. What could not be written is written later. */
  async flush(): Promise<void> {
    if (this.noted.size === 0) return;
    const digests = [...this.noted];
    this.noted = new Set();
    const now = this.clock.now();
    try {
      for (let at = 0; at < digests.length; at += PART) {
        const scored = digests.slice(at, at + PART).flatMap((digest) => [now, digest]);
        await this.answer(this.client.zadd(NAME, ...scored));
      }
      await this.answer(this.client.zremrangebyscore(NAME, '-inf', now - LIVE_MS));
      await this.answer(this.client.zremrangebyrank(NAME, 0, -LIVE_KEYS_MAX - 1));
      await this.answer(this.client.pexpire(NAME, LIVE_MS));
    } catch (failure) {
      for (const digest of digests) this.note(digest);
      throw failure;
    }
  }

  /** Returns the digests of the last hour, the newest first: those that came before a monotonic time. */
  async read(untilMs: number): Promise<string[]> {
    await this.answer(untilReady(this.client));
    const digests: string[] = [];
    for (let at = 0; at < LIVE_KEYS_MAX; at += PART) {
      const since = this.clock.now() - LIVE_MS;
      const part = await this.answer(this.client.zrevrangebyscore(NAME, '+inf', since, 'LIMIT', at, PART));
      digests.push(...part.filter((text) => DIGEST.test(text)));
      if (part.length < PART || this.clock.monotonic() >= untilMs) break;
    }
    return digests;
  }

  private answer<T>(work: Promise<T>): Promise<T> {
    return within(work, { clock: this.clock, timeoutMs: WAIT_MS });
  }
}
