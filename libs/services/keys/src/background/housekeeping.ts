import {
  Inject,
  Injectable,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import type { Clock } from '@gateway/contracts';
import { IDEMPOTENCY_KEPT_MS } from '@gateway/database';
import { CLOCK, LOGGER, repeat, type Repeated } from '@gateway/platform';
import type { Logger } from 'pino';
import { forgetAnswersBefore } from '../accounts/idempotency.store.js';
import { KeysDatabase } from '../postgres/keys-database.js';

const EVERY_MS = 3_600_000;

/** Deletes what has run out: answers kept for Idempotency-Key, sessions past their end. */
@Injectable()
export class Housekeeping implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private loop: Repeated | null = null;

  constructor(
    private readonly database: KeysDatabase,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    this.loop = repeat(
      this.clock,
      EVERY_MS,
      () => this.sweep(),
      (failure) => this.logger.warn({ err: failure }, 'housekeeping failed'),
    );
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.loop?.stop();
  }

  async sweep(): Promise<void> {
    const now = this.clock.now();
    await forgetAnswersBefore(this.database.prisma, new Date(now - IDEMPOTENCY_KEPT_MS));
    await this.database.prisma.session.deleteMany({ where: { expires_at: { lt: new Date(now) } } });
  }
}
