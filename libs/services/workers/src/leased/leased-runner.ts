import type { BeforeApplicationShutdown, OnApplicationBootstrap } from '@nestjs/common';
import { uuidv7, type Clock, type Random } from '@gateway/contracts';
import { repeat, type Repeated } from '@gateway/platform';
import type { Logger } from 'pino';
import type { WorkersConfig } from '../workers.config.js';

const EVERY_MS = 1_000;

interface Leased {
  id: string;
  account_id: string;
}

/** One kind of work in PostgreSQL that a process takes under a lease: one that dies loses it to another. */
export interface LeasedWork<T extends Leased> {
  /** Name of the work in the log. */
  noun: string;
  /** Number of works that one process runs at once. */
  atOnce: number;
  /** One that nobody works on, of none of the accounts that have their share of this process. */
  claim(worker: string, leaseMs: number, served: readonly string[]): Promise<T | null>;
  /** False where its run has to stop: another worker has it, or it is to end in another way. */
  renew(work: T, worker: string, leaseMs: number): Promise<boolean>;
  release(id: string, worker: string): Promise<void>;
  /**
   * Runs the work to its end, unless `signal` stops it. After a failure the next claimant continues it. A failure
   * leaves it to whoever claims it next.
   */
  run(work: T, worker: string, signal: AbortSignal): Promise<void>;
}

/** Claims work, renews its leases while it runs, and gives it back. */
export class LeasedRunner<T extends Leased> implements OnApplicationBootstrap, BeforeApplicationShutdown {
  readonly worker: string;
  private readonly stopping = new AbortController();
  private readonly stops = new Map<string, AbortController>();
  private readonly running = new Map<Promise<void>, string>();
  private loop: Repeated | null = null;

  constructor(
    private readonly work: LeasedWork<T>,
    private readonly config: WorkersConfig,
    private readonly clock: Clock,
    random: Random,
    private readonly logger: Logger,
  ) {
    this.worker = uuidv7(clock, random);
  }

  onApplicationBootstrap(): void {
    const { clock, logger } = this;
    const onFailure = (failure: unknown): void =>
      logger.warn({ err: failure, what: this.work.noun }, 'work could not be looked for');
    this.loop = repeat(clock, EVERY_MS, () => this.round(), onFailure);
  }

  /** There is something new. */
  wake(): void {
    this.loop?.wake();
  }

  /** It is to end in another way: a worker of another process finds out when it renews its lease. */
  stop(id: string): void {
    this.stops.get(id)?.abort();
    this.wake();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await this.loop?.stop();
    await Promise.all(this.running.keys());
  }

  private async round(): Promise<void> {
    const { work, config } = this;
    while (this.running.size < work.atOnce && !this.stopping.signal.aborted) {
      const claimed = await work.claim(this.worker, config.WORKERS_LEASE_MS, this.served());
      if (claimed === null) return;
      const done: Promise<void> = this.run(claimed).finally(() => {
        this.running.delete(done);
        this.wake();
      });
      this.running.set(done, claimed.account_id);
    }
  }

  /** Accounts that have as many places as are free: each leaves others as much as it takes, whatever it has under way. */
  private served(): string[] {
    const counts = new Map<string, number>();
    for (const account of this.running.values()) counts.set(account, (counts.get(account) ?? 0) + 1);
    const free = this.work.atOnce - this.running.size;
    return [...counts].flatMap(([account, count]) => (count >= free ? [account] : []));
  }

  private async run(claimed: T): Promise<void> {
    const { work, worker, clock, logger } = this;
    const { WORKERS_LEASE_MS: leaseMs } = this.config;
    const stop = new AbortController();
    const signal = AbortSignal.any([stop.signal, this.stopping.signal]);
    this.stops.set(claimed.id, stop);
    const renewal = repeat(
      clock,
      leaseMs / 3,
      async () => {
        if (!(await work.renew(claimed, worker, leaseMs))) stop.abort();
      },
      // Where the database is away nobody else can take it.
      () => undefined,
    );
    try {
      await work.run(claimed, worker, signal);
    } catch (failure) {
      if (!signal.aborted) {
        logger.warn({ err: failure, what: work.noun, work_id: claimed.id }, 'work will be gone on with');
        // Whoever claims it next may fail at once as well.
        await clock.sleep(EVERY_MS, signal).catch(() => undefined);
      }
    } finally {
      await renewal.stop();
      this.stops.delete(claimed.id);
      await work.release(claimed.id, worker).catch(() => undefined);
    }
  }
}
