import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { ObjectStore, type Clock, type Timer } from '@gateway/contracts';
import { IdempotencyTable } from '@gateway/database';
import { CLOCK, LOGGER, IDEMPOTENCY_KEPT_MS } from '@gateway/platform';
import type { Logger } from 'pino';
import { contentOf, FileStore } from '../files/files.store.js';
import { StoredResponses } from '../responses/responses.store.js';

const EVERY_MS = 60_000;

const WEEK_MS = 7 * 86_400_000;
/** Objects that no row says the end of, by their kind. */
const KEPT_MS = [
  // Of models: as long as they can be fetched by their links.
  ['results', WEEK_MS],
  // Of batches whose worker died as they ended.
  ['batches', WEEK_MS],
  // What was answered under an Idempotency-Key.
  ['answers', IDEMPOTENCY_KEPT_MS],
] as const;
const RESULTS_EVERY_MS = 3_600_000;

/** Removes responses, files, results and answers to creates that are past their time, a bounded number at once. */
@Injectable()
export class Expiry implements OnApplicationBootstrap, OnModuleDestroy {
  private timer: Timer | null = null;
  private running: Promise<void> = Promise.resolve();
  private isStopped = false;
  private resultsAtMs = 0;

  constructor(
    private readonly responses: StoredResponses,
    private readonly files: FileStore,
    private readonly objects: ObjectStore,
    private readonly creates: IdempotencyTable,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    this.arm();
  }

  async onModuleDestroy(): Promise<void> {
    this.isStopped = true;
    this.timer?.cancel();
    await this.running;
  }

  private arm(): void {
    if (this.isStopped) return;
    this.timer = this.clock.setTimer(EVERY_MS, () => {
      this.running = this.round().finally(() => this.arm());
    });
  }

  /** Now and then: a store has to list them all. */
  private async removeResults(): Promise<void> {
    const now = this.clock.monotonic();
    if (now < this.resultsAtMs) return;
    this.resultsAtMs = now + RESULTS_EVERY_MS;
    for (const [kind, keptMs] of KEPT_MS)
      await this.objects.removeAll({ kind, before: new Date(this.clock.now() - keptMs) });
  }

  /** All that is due by now, or a part of it. */
  async round(): Promise<void> {
    try {
      while (!this.isStopped && (await this.responses.removeExpired()));
      for (const file of await this.files.expired()) {
        await this.objects.remove(contentOf(file));
        await this.files.remove(file.key_id, file.id);
      }
      await this.creates.forgetBefore(new Date(this.clock.now() - IDEMPOTENCY_KEPT_MS));
      await this.removeResults();
    } catch (failure) {
      this.logger.warn({ err: failure }, 'what is past its time could not be removed');
    }
  }
}
