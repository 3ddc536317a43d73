import {
  Inject,
  Injectable,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import type { Clock } from '@gateway/contracts';
import { CLOCK, LOGGER, repeat, type Repeated } from '@gateway/platform';
import type { Logger } from 'pino';
import { KeysDatabase } from '../postgres/keys-database.js';

const FLUSH_EVERY_MS = 10_000;
/** Number of noted uses; past it a use is not noted, the next one is. */
const NOTED_MAX = 50_000;

/**
 * Moves `last_used_at`, in one statement for all keys seen. Other services ask about a key at most once a minute while
 * it is in use, so the time is right to about a minute.
 */
@Injectable()
export class LastUsed implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private noted = new Set<string>();
  private loop: Repeated | null = null;

  constructor(
    private readonly database: KeysDatabase,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    this.loop = repeat(
      this.clock,
      FLUSH_EVERY_MS,
      () => this.flush(),
      (failure) => this.logger.warn({ err: failure }, 'the last use of keys could not be noted'),
    );
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.loop?.stop();
  }

  note(keyId: string): void {
    if (this.noted.size < NOTED_MAX) this.noted.add(keyId);
  }

  async flush(): Promise<void> {
    if (this.noted.size === 0) return;
    const ids = [...this.noted];
    this.noted = new Set();
    const now = new Date(this.clock.now());
    const used = { where: { id: { in: ids } }, data: { last_used_at: now } };
    await this.database.prisma.apiKey.updateMany(used);
    if (ids.some((id) => id.startsWith('mak_'))) await this.database.prisma.adminKey.updateMany(used);
  }
}
