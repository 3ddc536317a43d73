import { Inject, Injectable, type BeforeApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import {
  ProviderKeyVault,
  type Clock,
  type ProviderKeyFailure,
  type ProviderKeyUse,
} from '@gateway/contracts';
import { CLOCK, LOGGER, repeat, type Repeated } from '@gateway/platform';
import type { PlannedRoute } from '@gateway/routing';
import type { Logger } from 'pino';

const FLUSH_EVERY_MS = 1_000;
const BATCH_MAX = 500;
/** Number of noted uses; past it a use is not noted, the next one is. */
const NOTED_MAX = 5_000;
/** Codes with which a provider refuses a key. Throttling is no failure of the key: the same key works a moment later. */
const REFUSING_CODES: ReadonlySet<string> = new Set([
  'invalid_auth',
  'permission_denied',
  'insufficient_credits',
  'monthly_quota_exceeded',
]);

interface EndedAttempt {
  plannedRoute: Pick<PlannedRoute, 'model' | 'providerKey'>;
  errorCode: string | null;
  providerCode: string | null;
  errorMessage: string | null;
}

interface EndedUnit {
  accountId: string;
  requestId: string;
  attempts: readonly EndedAttempt[];
  /** The unit was served on the platform's own credentials. */
  servedOnPlatform: boolean;
}

/**
 * Results of customers' provider keys, for the keys service: the newest use of each, and each kind of failure. An
 * undelivered report is sent again. A killed process loses a second of it, and no request depends on it.
 */
@Injectable()
export class KeyUses implements OnModuleInit, BeforeApplicationShutdown {
  private noted = new Map<string, ProviderKeyUse>();
  private loop: Repeated | null = null;

  constructor(
    private readonly vault: ProviderKeyVault,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onModuleInit(): void {
    this.loop = repeat(this.clock, FLUSH_EVERY_MS, () => this.flush(), this.onFault);
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.loop?.stop();
    await this.flush().catch(this.onFault);
  }

  /** Notes units with an attempt on a provider key only. */
  note({ accountId, requestId, attempts, servedOnPlatform }: EndedUnit): void {
    for (const attempt of attempts) {
      const keyId = attempt.plannedRoute.providerKey?.id;
      if (keyId === undefined) continue;
      const failure = failureOf(attempt, requestId, servedOnPlatform);
      const name = failure === null ? keyId : `${keyId} ${failure.providerCode} ${servedOnPlatform}`;
      if (this.noted.size < NOTED_MAX || this.noted.has(name))
        this.noted.set(name, { accountId, keyId, atMs: this.clock.now(), failure });
    }
  }

  private readonly onFault = (failure: unknown): void =>
    this.logger.warn({ err: failure }, 'uses of provider keys will be reported later');

  private async flush(): Promise<void> {
    while (this.noted.size > 0) {
      const batch = [...this.noted].slice(0, BATCH_MAX);
      await this.vault.report(batch.map(([, use]) => use));
      // What was noted anew meanwhile stays for the next time.
      for (const [name, use] of batch) if (this.noted.get(name) === use) this.noted.delete(name);
    }
  }
}

function failureOf(
  { plannedRoute, errorCode, providerCode, errorMessage }: EndedAttempt,
  requestId: string,
  servedOnPlatform: boolean,
): ProviderKeyFailure | null {
  if (errorCode === null || providerCode === null || !REFUSING_CODES.has(providerCode)) return null;
  const model = plannedRoute.model.record.id;
  return { model, requestId, errorCode, providerCode, message: errorMessage ?? '', servedOnPlatform };
}
