import type { Clock } from '@gateway/contracts';
import { within } from '@gateway/event-log';
import type { ReadinessChecks } from '@gateway/platform';
import type { LiveKeys } from './redis/live-keys.js';
import type { HttpPrincipalReader } from './remote/http-principal-reader.js';

/** Longest time that readiness waits for keys: what was not read by then is looked up at its first use. */
const WARM_MS_MAX = 10_000;

interface Logger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

/** Fetches the keys of the last hour before the edge is ready. Whatever fails, the edge is ready after 10 s. */
export class PrincipalWarmer {
  private isWarm = false;

  constructor(
    private readonly live: Pick<LiveKeys, 'read'>,
    private readonly reader: Pick<HttpPrincipalReader, 'warm'>,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /** Keeps the edge from being ready until it has ended. */
  async warm(readiness: Pick<ReadinessChecks, 'add'>): Promise<void> {
    readiness.add('principals', () => this.isWarm || 'the keys of the last hour are being fetched');
    const { clock } = this;
    const startedAt = clock.monotonic();
    try {
      const count = await within(this.fetch(startedAt + WARM_MS_MAX), { clock, timeoutMs: WARM_MS_MAX });
      const duration_ms = Math.round(clock.monotonic() - startedAt);
      this.logger.info({ count, duration_ms }, 'keys of the last hour were fetched');
    } catch (failure) {
      this.logger.warn({ err: failure }, 'the keys of the last hour could not be fetched, each is looked up');
    } finally {
      this.isWarm = true;
    }
  }

  private async fetch(untilMs: number): Promise<number> {
    return this.reader.warm(await this.live.read(untilMs), untilMs);
  }
}
