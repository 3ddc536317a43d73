import {
  Inject,
  Injectable,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { LimitStore, type Clock } from '@gateway/contracts';
import { CLOCK, LOGGER, repeat, type Repeated } from '@gateway/platform';
import type { Logger } from 'pino';
import { KeysDatabase } from '../postgres/keys-database.js';

const RELAY_EVERY_MS = 500;
const RELAY_BATCH = 200;
const KNOWN_MAX = 50_000;

/**
 * Sends the limit store the newest version of an account: at once after a commit, and by the relay where that failed
 * or the process died in between. The number is PostgreSQL's, so writing it twice is harmless.
 */
@Injectable()
export class VersionStamps implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private relay: Repeated | null = null;
  /** Newest versions that this process has made. */
  private readonly known = new Map<string, number>();

  constructor(
    private readonly database: KeysDatabase,
    private readonly limits: LimitStore,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    this.relay = repeat(
      this.clock,
      RELAY_EVERY_MS,
      () => this.stampLate(),
      (failure) => this.logger.warn({ err: failure }, 'account versions could not be relayed'),
    );
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.relay?.stop();
  }

  /** True where a record of this version is older than a change that this process has made. */
  isOutdated(accountId: string, version: number): boolean {
    return (this.known.get(accountId) ?? 0) > version;
  }

  /** Stamps after the commit and before the answer. Never fails: what is missed, the relay writes. */
  async stamp(accountId: string, version: number): Promise<void> {
    this.remember(accountId, version);
    try {
      await this.write(accountId, version);
    } catch (failure) {
      this.logger.warn({ err: failure, account_id: accountId }, 'an account version will be stamped later');
    }
  }

  /** Every account whose version the store may not know. */
  async stampLate(): Promise<void> {
    const late = await this.database.prisma.$queryRaw<{ id: string; version: number }[]>`
      SELECT id, version FROM account WHERE version > stamped_version ORDER BY id LIMIT ${RELAY_BATCH}`;
    for (const { id, version } of late) await this.write(id, version);
  }

  private remember(accountId: string, version: number): void {
    const newest = Math.max(version, this.known.get(accountId) ?? 0);
    this.known.delete(accountId);
    this.known.set(accountId, newest);
    const [oldest] = this.known.keys();
    if (this.known.size > KNOWN_MAX) this.known.delete(oldest);
  }

  private async write(accountId: string, version: number): Promise<void> {
    await this.limits.stamp(accountId, version, null);
    await this.database.prisma.$executeRaw`
      UPDATE account SET stamped_version = ${version} WHERE id = ${accountId} AND stamped_version < ${version}`;
  }
}
