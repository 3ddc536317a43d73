import {
  Inject,
  Injectable,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import type { Clock } from '@gateway/contracts';
import { CLOCK, LOGGER, Metrics, repeat, type Repeated } from '@gateway/platform';
import type { Logger } from 'pino';
import { WorkersDatabase } from '../postgres/workers-database.js';

const EVERY_MS = 15_000;
const STATES = {
  batch: ['validating', 'in_progress', 'finalizing', 'cancelling'],
  video: ['queued', 'in_progress'],
} as const;
const TABLES = { batch: 'batches', video: 'video_tasks' } as const;
const KINDS = ['batch', 'video'] as const;

type Kind = (typeof KINDS)[number];

interface Found {
  kind: Kind;
  state: string;
  count: number;
  oldest: Date;
}

/** Batches and videos that have not ended, of all workers together: each shows the same, so the largest counts. */
@Injectable()
export class OpenWork implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private found: Found[] = [];
  private loop: Repeated | null = null;

  constructor(
    private readonly database: WorkersDatabase,
    private readonly metrics: Metrics,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    const { metrics } = this;
    metrics.gauges(
      'gateway_long_work',
      'Batches and videos that have not ended, by state. Every worker shows all of them.',
      ['kind', 'state'],
      () => this.counts(),
    );
    metrics.gauges(
      'gateway_long_work_oldest_seconds',
      'Age of the oldest batch or video that has not ended; 0 where there is none.',
      ['kind'],
      () => KINDS.map((kind) => ({ labels: { kind }, value: this.ageOf(kind) })),
    );
    const onFailure = (failure: unknown): void =>
      this.logger.warn({ err: failure }, 'open batches and videos could not be counted');
    this.loop = repeat(this.clock, EVERY_MS, () => this.read(), onFailure);
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.loop?.stop();
  }

  /** Reads them now. */
  async read(): Promise<void> {
    const counted = KINDS.map(
      (kind) =>
        `SELECT '${kind}' AS kind, status AS state, count(*)::int AS count, min(created_at) AS oldest
         FROM ${TABLES[kind]} WHERE status IN (${STATES[kind].map((state) => `'${state}'`).join(', ')}) GROUP BY status`,
    );
    const { rows } = await this.database.pool.query<Found>(counted.join(' UNION ALL '));
    this.found = rows;
  }

  private counts(): { labels: { kind: string; state: string }; value: number }[] {
    return KINDS.flatMap((kind) =>
      STATES[kind].map((state) => ({
        labels: { kind, state },
        value: this.found.find((one) => one.kind === kind && one.state === state)?.count ?? 0,
      })),
    );
  }

  private ageOf(wanted: Kind): number {
    const times = this.found.flatMap(({ kind, oldest }) => (kind === wanted ? [oldest.getTime()] : []));
    return times.length === 0 ? 0 : Math.max(0, (this.clock.now() - Math.min(...times)) / 1_000);
  }
}
