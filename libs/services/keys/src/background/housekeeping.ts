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
import { KeysConfig } from '../keys.config.js';
import { KeysDatabase } from '../postgres/keys-database.js';
import { SigningKeys } from '../sessions/signing-keys.js';

const EVERY_MS = 3_600_000;
const DAY_MS = 86_400_000;

/**
 * Deletes what has run out: answers kept for Idempotency-Key, sessions, links and mail past their end, what is kept of deleted
 * provider keys, and counts of platform credentials. Replaces an old signing key.
 */
@Injectable()
export class Housekeeping implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private loop: Repeated | null = null;

  constructor(
    private readonly database: KeysDatabase,
    private readonly signingKeys: SigningKeys,
    private readonly config: KeysConfig,
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
    await new IdempotencyTable(this.database.prisma).forgetBefore(new Date(now - IDEMPOTENCY_KEPT_MS));
    const ended = { where: { expires_at: { lt: new Date(now) } } };
    await this.database.prisma.session.deleteMany(ended);
    await this.database.prisma.mail.deleteMany(ended);
    const dayBefore = new Date(now - DAY_MS);
    await this.database.prisma.passwordReset.deleteMany({ where: { expires_at: { lt: dayBefore } } });
    await this.database.prisma.removedProviderKey.deleteMany({ where: { removed_at: { lt: dayBefore } } });
    await this.database.prisma.platformCredentialUse.deleteMany({ where: { hour: { lt: dayBefore } } });
    const days = this.config.KEYS_SIGNING_KEY_DAYS;
    if (days > 0 && (await this.signingKeys.rotateOlderThan(days * DAY_MS)))
      this.logger.info('the key of session tokens was replaced');
  }
}
