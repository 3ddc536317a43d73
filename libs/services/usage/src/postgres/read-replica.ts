import type { Clock } from '@gateway/contracts';
import { repeat, type Repeated } from '@gateway/platform';
import type { OnApplicationBootstrap, OnApplicationShutdown, OnModuleDestroy } from '@nestjs/common';
import type { Logger } from 'pino';
import type { AnsweredBy, ReplicaMetrics } from './replica-metrics.js';
import type { UsageDatabase } from './usage-database.js';

const BEAT_EVERY_MS = 2_000;
/** Lag beyond which reads go to the primary. */
const LAG_MAX_MS = 10_000;
/** Beats that are remembered: more than the greatest lag has. */
const BEATS_MAX = 16;

/**
 * A copy of the database, and how far it is behind. Each beat is a number that the primary counts up: the copy is as new as
 * the newest beat that it has. So no clocks are compared, and any kind of replication will do.
 */
export class ReadReplica implements OnApplicationBootstrap, OnModuleDestroy, OnApplicationShutdown {
  /** Beats of this process, the oldest first. */
  private readonly beats: { beat: bigint; atMs: number }[] = [];
  private asOfMs = -Infinity;
  private hasFailed = false;
  private running: Repeated | null = null;

  constructor(
    /** The copy. */
    readonly database: UsageDatabase,
    private readonly primary: UsageDatabase,
    private readonly metrics: ReplicaMetrics,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    this.running = repeat(
      this.clock,
      BEAT_EVERY_MS,
      () => this.beat(),
      (failure) => this.failed(failure),
    );
  }

  async onModuleDestroy(): Promise<void> {
    await this.running?.stop();
  }

  async onApplicationShutdown(): Promise<void> {
    await this.database.onApplicationShutdown();
  }

  /** True if what it answers is at most ten seconds behind, and it has answered since it last failed. */
  isUsable(): boolean {
    return !this.hasFailed && this.clock.monotonic() - this.asOfMs <= LAG_MAX_MS;
  }

  /** Sends reads to the primary until the next beat arrives. */
  failed(failure: unknown): void {
    if (!this.hasFailed) this.logger.warn({ err: failure }, 'the read replica failed: the primary answers');
    this.hasFailed = true;
  }

  answered(by: AnsweredBy): void {
    this.metrics.answered(by);
  }

  /** Counts the beat up on the primary, and looks which one the copy has. */
  async beat(): Promise<void> {
    const atMs = this.clock.monotonic();
    const sent = await this.primary.pool.query<{ beat: string }>(
      `INSERT INTO replica_beat (id, beat) VALUES (1, 1)
       ON CONFLICT (id) DO UPDATE SET beat = replica_beat.beat + 1 RETURNING beat::text`,
    );
    this.beats.push({ beat: BigInt(sent.rows[0].beat), atMs });
    if (this.beats.length > BEATS_MAX) this.beats.shift();
    const { rows } = await this.database.pool.query<{ beat: string }>('SELECT beat::text FROM replica_beat');
    const arrived = BigInt(rows.at(0)?.beat ?? 0);
    const newest = this.beats.findLast(({ beat }) => beat <= arrived);
    if (newest !== undefined) this.asOfMs = newest.atMs;
    this.hasFailed = false;
    this.metrics.behind(this.clock.monotonic() - this.asOfMs);
  }
}
