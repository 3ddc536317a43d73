import { Inject, Injectable, type BeforeApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { PlatformCredentials, type Clock } from '@gateway/contracts';
import { CLOCK, LOGGER, repeat, type Repeated } from '@gateway/platform';
import { checkCredential } from '@gateway/providers';
import { UndiciTransport } from '@gateway/upstream';
import type { Logger } from 'pino';
import { ProviderDirectory } from '../config/provider-directory.js';
import { CredentialReports } from './credential-reports.js';
import { Credentials } from './credentials.js';
import { PlatformPools, type PoolMember } from '../config/platform-pools.js';

const EVERY_MS = 1_000;
/** The credentials of the environment are reported again after so long. */
const ENVIRONMENT_EVERY_MS = 15_000;

/**
 * Learns the platform's credentials from the keys service every second, and tells it how they fare. While it is away the
 * last ones that are known serve.
 */
@Injectable()
export class PoolSync implements OnModuleInit, BeforeApplicationShutdown {
  private loop: Repeated | null = null;
  private reportedMs = -Infinity;
  private readonly ending = new AbortController();
  private readonly testing = new Set<string>();
  private isAway = false;

  constructor(
    private readonly store: PlatformCredentials,
    private readonly pools: PlatformPools,
    private readonly directory: ProviderDirectory,
    private readonly credentials: Credentials,
    private readonly reports: CredentialReports,
    private readonly transport: UndiciTransport,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  async onModuleInit(): Promise<void> {
    await this.sync().catch(this.onAway);
    this.loop = repeat(this.clock, EVERY_MS, () => this.sync(), this.onAway);
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.ending.abort();
    await this.loop?.stop();
    await this.sync().catch(this.onAway);
  }

  /** One exchange with the keys service. */
  async sync(): Promise<void> {
    const news = this.pools.takeNews();
    const nowMs = this.clock.monotonic();
    const isDue = nowMs - this.reportedMs >= ENVIRONMENT_EVERY_MS;
    try {
      const environment = isDue ? this.directory.environment : [];
      const hasChanged = this.pools.update(await this.store.sync({ ...news, environment }));
      this.isAway = false;
      if (isDue) this.reportedMs = nowMs;
      if (hasChanged) void this.reports.changed();
    } catch (failure) {
      this.pools.giveBack(news);
      throw failure;
    }
    for (const member of this.pools.dueForTest()) void this.test(member);
  }

  private async test(member: PoolMember): Promise<void> {
    if (this.testing.has(member.id)) return;
    this.testing.add(member.id);
    try {
      const provider = this.directory.providers.get(member.provider);
      const access = await this.credentials.pooledAccess(member);
      if (provider === undefined || access === undefined) return;
      const { status } = await checkCredential(provider, access, {
        transport: this.transport,
        nowMs: this.clock.now(),
        signal: this.ending.signal,
      });
      this.pools.tested(member, status);
    } catch (failure) {
      this.logger.warn(
        { err: failure, provider: member.provider },
        'a platform credential could not be tested',
      );
      this.pools.tested(member, 'unknown');
    } finally {
      this.testing.delete(member.id);
    }
  }

  /** Logs the first failure in a row: the next exchange is a second later. */
  private readonly onAway = (failure: unknown): void => {
    if (!this.isAway && !this.ending.signal.aborted)
      this.logger.warn({ err: failure }, 'platform credentials could not be exchanged with the keys service');
    this.isAway = true;
  };
}
