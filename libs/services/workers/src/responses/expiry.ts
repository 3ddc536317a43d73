import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import type { Clock, Timer } from '@gateway/contracts';
import { CLOCK, LOGGER } from '@gateway/platform';
import type { Logger } from 'pino';
import { StoredResponses } from './responses.store.js';

const EVERY_MS = 60_000;

/** Removes responses that are past their time, a bounded number at once. */
@Injectable()
export class Expiry implements OnApplicationBootstrap, OnModuleDestroy {
  private timer: Timer | null = null;
  private running: Promise<void> = Promise.resolve();
  private isStopped = false;

  constructor(
    private readonly responses: StoredResponses,
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

  private async round(): Promise<void> {
    try {
      while (!this.isStopped && (await this.responses.removeExpired()));
    } catch (failure) {
      this.logger.warn({ err: failure }, 'responses past their time could not be removed');
    }
  }
}
