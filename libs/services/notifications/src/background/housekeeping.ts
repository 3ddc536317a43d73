import {
  Inject,
  Injectable,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import type { Clock } from '@gateway/contracts';
import { IdempotencyTable } from '@gateway/database';
import { CLOCK, LOGGER, repeat, type Repeated, IDEMPOTENCY_KEPT_MS } from '@gateway/platform';
import type { Logger } from 'pino';
import { EVENTS_KEPT_MS } from '../events/enqueue.js';
import { NotificationsDatabase } from '../postgres/notifications-database.js';

const EVERY_MS = 3_600_000;
/** Number of rows of one statement, so that it holds no lock for long. */
const ROWS_MAX = 5_000;

/** Deletes what has run out: events with their deliveries, answers kept for Idempotency-Key, secrets past their grace. */
@Injectable()
export class Housekeeping implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private loop: Repeated | null = null;

  constructor(
    private readonly database: NotificationsDatabase,
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
    const { prisma, pool } = this.database;
    const now = this.clock.now();
    await new IdempotencyTable(prisma).forgetBefore(new Date(now - IDEMPOTENCY_KEPT_MS));
    await prisma.signingSecret.deleteMany({ where: { ends_at: { lt: new Date(now) } } });
    const before = new Date(now - EVENTS_KEPT_MS).toISOString();
    for (let deleted = ROWS_MAX; deleted === ROWS_MAX;) {
      const { rowCount } = await pool.query(
        `DELETE FROM event WHERE id IN (SELECT id FROM event WHERE created_at < $1::timestamptz LIMIT $2)`,
        [before, ROWS_MAX],
      );
      deleted = rowCount ?? 0;
    }
  }
}
