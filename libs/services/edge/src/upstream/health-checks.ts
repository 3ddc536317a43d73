import { Inject, Injectable, type BeforeApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import type { Clock, HealthState } from '@gateway/contracts';
import { CLOCK, LOGGER, repeat, type Repeated } from '@gateway/platform';
import { TransportFailure } from '@gateway/providers';
import { UndiciTransport } from '@gateway/upstream';
import type { Logger } from 'pino';
import { PlatformPools } from '../config/platform-pools.js';
import { ProviderDirectory } from '../config/provider-directory.js';

const EVERY_MS = 10_000;
/** Failures in a row that take a provider out. */
const FAILURES = 3;
const BOUNDS = {
  connectTimeoutMs: 2_000,
  firstByteTimeoutMs: 5_000,
  idleTimeoutMs: 5_000,
  totalTimeoutMs: 5_000,
  maxBytes: 65_536,
};

type Checked = ProviderDirectory['health'][number];

/**
 * Asks providers with a health path whether they are well. Three failures take a provider's routes out of plans, one good
 * answer brings them back. A status of 2xx or 3xx is good, and no body is read.
 */
@Injectable()
export class HealthChecks implements OnModuleInit, BeforeApplicationShutdown {
  /** The last judgement of each provider that has a health path; none before its first answer. */
  readonly states = new Map<string, HealthState>();
  private readonly loops: Repeated[] = [];
  private readonly ending = new AbortController();
  private readonly failures = new Map<string, number>();

  constructor(
    private readonly directory: ProviderDirectory,
    private readonly pools: PlatformPools,
    private readonly transport: UndiciTransport,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onModuleInit(): void {
    // One loop each: a provider that answers late delays no other.
    for (const checked of this.directory.health)
      this.loops.push(repeat(this.clock, EVERY_MS, () => this.check(checked), this.onFault));
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.ending.abort();
    await Promise.all(this.loops.map((loop) => loop.stop()));
  }

  /** Asks one provider once. */
  async check(checked: Checked): Promise<void> {
    const { provider } = checked;
    const isWell = await this.isWell(checked);
    if (this.ending.signal.aborted) return;
    const failures = isWell ? 0 : (this.failures.get(provider) ?? 0) + 1;
    this.failures.set(provider, failures);
    const wasIll = this.pools.isIll(provider);
    const isIll = failures >= FAILURES;
    if (isWell || isIll) this.states.set(provider, isWell ? 'ok' : 'failing');
    if (isIll) this.pools.setIll(provider, this.clock.now() + EVERY_MS);
    else if (isWell) this.pools.setIll(provider, null);
    if (isIll && !wasIll) this.logger.warn({ provider }, 'a provider is not well and leaves the plans');
    if (isWell && wasIll) this.logger.info({ provider }, 'a provider is well again');
  }

  private async isWell({ url, headers }: Checked): Promise<boolean> {
    const request = { method: 'GET' as const, url, headers, body: [], byteLength: 0 };
    try {
      const response = await this.transport.send(request, { ...BOUNDS, signal: this.ending.signal });
      response.cancel();
      return response.status >= 200 && response.status < 400;
    } catch (failure) {
      if (failure instanceof TransportFailure) return false;
      throw failure;
    }
  }

  private readonly onFault = (failure: unknown): void =>
    this.logger.warn({ err: failure }, 'the health of a provider could not be asked');
}
