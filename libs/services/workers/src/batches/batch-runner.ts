import {
  Inject,
  Injectable,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { uuidv7, type Clock, type Random } from '@gateway/contracts';
import { CLOCK, LOGGER, RANDOM, repeat, type Repeated } from '@gateway/platform';
import type { Logger } from 'pino';
import { WorkersConfig } from '../workers.config.js';
import { LeaseLost, BatchStore, type Batch } from './batches.store.js';
import { BatchWork } from './batch-work.js';

const EVERY_MS = 1_000;
/** Batches that one process works on at once. */
const AT_ONCE = 4;

/** Takes batches that nobody works on, under a lease: a worker that dies loses them to another one. */
@Injectable()
export class BatchRunner implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly worker: string;
  private readonly stopping = new AbortController();
  private readonly stops = new Map<string, AbortController>();
  private readonly running = new Set<Promise<void>>();
  private loop: Repeated | null = null;

  constructor(
    private readonly batches: BatchStore,
    private readonly work: BatchWork,
    private readonly config: WorkersConfig,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) random: Random,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.worker = uuidv7(clock, random);
  }

  onApplicationBootstrap(): void {
    const onFailure = (failure: unknown): void =>
      this.logger.warn({ err: failure }, 'batches could not be looked for');
    this.loop = repeat(this.clock, EVERY_MS, () => this.round(), onFailure);
  }

  /** A new one is there. */
  nudge(): void {
    this.loop?.nudge();
  }

  /** One is to be cancelled: a worker of another process finds out when it renews its lease. */
  cancel(id: string): void {
    this.stops.get(id)?.abort();
    this.nudge();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await this.loop?.stop();
    await Promise.all(this.running);
  }

  private async round(): Promise<void> {
    while (this.running.size < AT_ONCE && !this.stopping.signal.aborted) {
      const batch = await this.batches.claim(this.worker, this.config.WORKERS_LEASE_MS);
      if (batch === null) return;
      const done: Promise<void> = this.run(batch).finally(() => {
        this.running.delete(done);
        this.nudge();
      });
      this.running.add(done);
    }
  }

  private async run(batch: Batch): Promise<void> {
    const { WORKERS_LEASE_MS: leaseMs } = this.config;
    const stop = new AbortController();
    const signal = AbortSignal.any([stop.signal, this.stopping.signal]);
    if (batch.status !== 'cancelling') this.stops.set(batch.id, stop);
    let { status } = batch;
    const renewal = repeat(
      this.clock,
      leaseMs / 3,
      async () => {
        const now = await this.batches.renew(batch.id, this.worker, leaseMs);
        // The work goes on from what its status is.
        if (now === 'cancelling' && status !== now) stop.abort();
        status = now;
      },
      (failure) => {
        if (failure instanceof LeaseLost) stop.abort();
      },
    );
    try {
      await this.work.run(batch, this.worker, signal);
    } catch (failure) {
      if (!signal.aborted && !(failure instanceof LeaseLost))
        this.logger.warn({ err: failure, batch: batch.id }, 'a batch will be gone on with');
    } finally {
      await renewal.stop();
      this.stops.delete(batch.id);
      await this.batches.release(batch.id, this.worker).catch(() => undefined);
    }
  }
}
