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
import { VideoWork } from './video-work.js';
import { VideoStore, type VideoTask } from './video.store.js';

const EVERY_MS = 1_000;
/** Tasks that one process waits for at once. */
const AT_ONCE = 500;

/** Takes tasks that nobody works on, under a lease: a worker that dies loses them to another one. */
@Injectable()
export class VideoRunner implements OnApplicationBootstrap, BeforeApplicationShutdown {
  readonly worker: string;
  private readonly stopping = new AbortController();
  private readonly running = new Set<Promise<void>>();
  private loop: Repeated | null = null;

  constructor(
    private readonly tasks: VideoStore,
    private readonly work: VideoWork,
    private readonly config: WorkersConfig,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) random: Random,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.worker = uuidv7(clock, random);
  }

  onApplicationBootstrap(): void {
    const onFailure = (failure: unknown): void =>
      this.logger.warn({ err: failure }, 'video tasks could not be looked for');
    this.loop = repeat(this.clock, EVERY_MS, () => this.round(), onFailure);
  }

  nudge(): void {
    this.loop?.nudge();
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await this.loop?.stop();
    await Promise.all(this.running);
  }

  private async round(): Promise<void> {
    while (this.running.size < AT_ONCE && !this.stopping.signal.aborted) {
      const task = await this.tasks.claim(this.worker, this.config.WORKERS_LEASE_MS);
      if (task === null) return;
      const done: Promise<void> = this.run(task).finally(() => this.running.delete(done));
      this.running.add(done);
    }
  }

  private async run(task: VideoTask): Promise<void> {
    const { WORKERS_LEASE_MS: leaseMs } = this.config;
    const stop = new AbortController();
    const signal = AbortSignal.any([stop.signal, this.stopping.signal]);
    const renewal = repeat(
      this.clock,
      leaseMs / 3,
      async () => {
        if (!(await this.tasks.renew(task.id, this.worker, leaseMs))) stop.abort();
      },
      // Where the database is away nobody else can take it.
      () => undefined,
    );
    try {
      await this.work.run(task, signal);
    } catch (failure) {
      this.logger.warn({ err: failure, task: task.id }, 'a video task will be gone on with');
    } finally {
      await renewal.stop();
      await this.tasks.release(task.id, this.worker).catch(() => undefined);
    }
  }
}
