import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, RANDOM } from '@gateway/platform';
import {
  ApiError,
  type BatchesQuery,
  type Clock,
  type NewAccountEvent,
  type Random,
  type UpstreamBatchState,
} from '@gateway/contracts';
import { writeJson } from '@gateway/json-body';
import type pg from 'pg';
import { holdCount } from '../postgres/hold-count.js';
import { insertAccountEvent } from '../postgres/insert-account-event.js';
import { WorkersDatabase } from '../postgres/workers-database.js';

type Json = Record<string, unknown>;
type Status =
  | 'validating'
  | 'in_progress'
  | 'finalizing'
  | 'cancelling'
  | 'completed'
  | 'failed'
  | 'expired'
  | 'cancelled';

/**
 * The state of a batch that a provider may run itself: `new` is not asked for yet, `at` is there or on its way, of
 * `ended` the answers are here. Null: its lines are run one by one.
 */
export type Upstream =
  | { kind: 'new' }
  | {
      kind: 'at';
      state: UpstreamBatchState;
      /** Instant at which its begin was requested, whatever followed; null before. */
      begunMs: number | null;
      looks: number;
      failures: number;
      isCancelled: boolean;
    }
  | { kind: 'ended'; credential: string; id: string | null };

/** A row of `batches`. */
export interface Batch {
  id: string;
  key_id: string;
  account_id: string;
  org_id: string | null;
  request_id: string;
  endpoint: string;
  model: string;
  provider: string;
  input_file_id: string;
  output_seconds: number | null;
  metadata: Json | null;
  /** Cost of all lines together at most, in integer nano-USD; null: not yet computed. */
  worth_nano: string | null;
  upstream: Upstream | null;
  status: Status;
  errors: Json | null;
  total: number;
  completed: number;
  failed: number;
  usage: Json | null;
  output_file_id: string | null;
  error_file_id: string | null;
  created_at: Date;
  expires_at: Date;
  in_progress_at: Date | null;
  finalizing_at: Date | null;
  completed_at: Date | null;
  failed_at: Date | null;
  expired_at: Date | null;
  cancelling_at: Date | null;
  cancelled_at: Date | null;
}

export interface LineResult {
  line: number;
  is_error: boolean;
  content: string;
}

/** Error of a worker that no longer has the lease. */
class LeaseLost extends Error {
  constructor() {
    super('Another worker has taken the work over.');
    this.name = 'LeaseLost';
  }
}

const OPEN = "('validating', 'in_progress', 'finalizing', 'cancelling')";
/** Select of a batch with its counts: of an open one from its lines; a finished one keeps its numbers. */
const COUNTED = `SELECT b.*, coalesce(r.completed, b.completed) AS completed, coalesce(r.failed, b.failed) AS failed
  FROM batches b LEFT JOIN LATERAL (
    SELECT count(*) FILTER (WHERE NOT is_error)::int AS completed, count(*) FILTER (WHERE is_error)::int AS failed
    FROM batch_results WHERE batch_id = b.id) r ON b.status IN ${OPEN}`;
const RESULTS_AT_ONCE = 200;
/** Longer than a batch may wait before it is begun: what is older was there before. */
const CLAIMED_MS = 3 * 86_400_000;
/** Number of open batches of one key. */
const OPEN_MAX = 100;
/** Longer than a worker that is free takes to look for work. */
const CLAIM_MS = 2_000;

/** Batches in PostgreSQL. Whoever works on one holds its lease; what it writes without it is refused. */
@Injectable()
export class BatchStore {
  constructor(
    private readonly database: WorkersDatabase,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {}

  /**
   * Adds the batch, with whatever `also` writes. Throws ApiError `conflict` where its key has as many open ones as it
   * may.
   */
  async add(
    batch: Batch,
    also: (client: pg.ClientBase) => Promise<void> = async () => undefined,
  ): Promise<void> {
    await this.database.transaction(async (client) => {
      await holdCount(client, 'batches', batch.key_id);
      const { rows } = await client.query<{ open: number }>(
        `SELECT count(*)::int AS open FROM batches WHERE key_id = $1 AND status IN ${OPEN}`,
        [batch.key_id],
      );
      if (rows[0].open >= OPEN_MAX)
        throw new ApiError('conflict', {
          message: `A key has at most ${OPEN_MAX} batches that have not ended.`,
        });
      await insert(client, batch);
      await also(client);
    });
  }

  async read(keyId: string, id: string): Promise<Batch | null> {
    const { rows } = await this.database.pool.query<Batch>(`${COUNTED} WHERE b.key_id = $1 AND b.id = $2`, [
      keyId,
      id,
    ]);
    return rows.at(0) ?? null;
  }

  /** One more than `limit`, where there are more. */
  async list(keyId: string, { limit, after }: BatchesQuery): Promise<Batch[]> {
    const { rows } = await this.database.pool.query<Batch>(
      `${COUNTED} WHERE b.key_id = $1 AND ($2::text IS NULL OR (b.created_at, b.id) <
         (SELECT created_at, id FROM batches WHERE key_id = $1 AND id = $2))
       ORDER BY b.created_at DESC, b.id DESC LIMIT $3`,
      [keyId, after ?? null, limit + 1],
    );
    return rows;
  }

  /** False where it has ended already. */
  async cancel(keyId: string, id: string): Promise<boolean> {
    const { rowCount } = await this.database.pool.query(
      `UPDATE batches SET status = 'cancelling', cancelling_at = coalesce(cancelling_at, $3),
         leased_until = CASE WHEN worker IS NULL THEN NULL ELSE leased_until END
       WHERE key_id = $1 AND id = $2 AND status IN ('validating', 'in_progress', 'cancelling')`,
      [keyId, id, this.now],
    );
    return rowCount === 1;
  }

  /**
   * One that nobody works on: of the account of which the fewest are worked on, what is new, else what has rested longest.
   * `isAtProvider`: of those that a provider runs, or of the others; of none of the accounts `served`.
   */
  async claim(
    worker: string,
    leaseMs: number,
    isAtProvider: boolean,
    served: readonly string[] = [],
  ): Promise<Batch | null> {
    const { rows } = await this.database.pool.query<Batch>(
      `WITH busy AS (
         SELECT account_id, count(*) AS n FROM batches
         WHERE status IN ${OPEN} AND worker IS NOT NULL AND leased_until >= $3 GROUP BY account_id
       )
       UPDATE batches SET worker = $1, leased_until = $2 WHERE id = (
         SELECT b.id FROM batches b LEFT JOIN busy USING (account_id)
         WHERE b.status IN ${OPEN} AND (b.leased_until IS NULL OR b.leased_until < $3)
           AND (coalesce(b.upstream ->> 'kind', '') = 'at') = $4 AND b.account_id <> ALL ($5)
         ORDER BY coalesce(busy.n, 0), b.leased_until NULLS FIRST, b.created_at
         LIMIT 1 FOR UPDATE OF b SKIP LOCKED) RETURNING *`,
      [worker, new Date(this.clock.now() + leaseMs), this.now, isAtProvider, served],
    );
    return rows.at(0) ?? null;
  }

  /** The status as it is now; null where another worker has it. */
  async renew(id: string, worker: string, leaseMs: number): Promise<Status | null> {
    const { rows } = await this.database.pool.query<{ status: Status }>(
      'UPDATE batches SET leased_until = $3 WHERE id = $1 AND worker = $2 RETURNING status',
      [id, worker, new Date(this.clock.now() + leaseMs)],
    );
    return rows.at(0)?.status ?? null;
  }

  /** It comes behind those that have rested longer. */
  async release(id: string, worker: string): Promise<void> {
    await this.database.pool.query(
      'UPDATE batches SET worker = NULL, leased_until = $3 WHERE id = $1 AND worker = $2',
      [id, worker, this.now],
    );
  }

  /** True if a batch has waited for a worker for its lines longer than a free worker takes to claim it. */
  async hasWaiting(): Promise<boolean> {
    const { rows } = await this.database.pool.query<{ waits: boolean }>(
      `SELECT EXISTS (SELECT FROM batches WHERE status IN ${OPEN} AND worker IS NULL
         AND coalesce(leased_until, created_at) < $1 AND coalesce(upstream ->> 'kind', '') <> 'at') AS waits`,
      [new Date(this.clock.now() - CLAIM_MS)],
    );
    return rows[0].waits;
  }

  /** False where the batch has another status by now. Throws LeaseLost. */
  async begin(
    { id }: Batch,
    worker: string,
    { total, worthNano, upstream }: { total: number; worthNano: bigint; upstream: Upstream | null },
  ): Promise<boolean> {
    return this.move(
      `UPDATE batches SET status = 'in_progress', in_progress_at = $3, total = $4, worth_nano = $5, upstream = $6
       WHERE id = $1 AND worker = $2 AND status = 'validating'`,
      [id, worker, this.now, total, worthNano, upstream === null ? null : JSON.stringify(upstream)],
    );
  }

  /** Throws LeaseLost. */
  async setUpstream(id: string, worker: string, upstream: Upstream | null): Promise<void> {
    const json = upstream === null ? null : JSON.stringify(upstream);
    const text = 'UPDATE batches SET upstream = $3 WHERE id = $1 AND worker = $2';
    if (!(await this.move(text, [id, worker, json]))) throw new LeaseLost();
  }

  /** The same, and nobody claims it for `waitMs`. Throws LeaseLost. */
  async park(id: string, worker: string, upstream: Upstream, waitMs: number): Promise<void> {
    const until = new Date(this.clock.now() + waitMs);
    const text = `UPDATE batches SET upstream = $3, worker = NULL, leased_until = $4
      WHERE id = $1 AND worker = $2`;
    if (!(await this.move(text, [id, worker, JSON.stringify(upstream), until]))) throw new LeaseLost();
  }

  /** Returns the provider's batches that no other batch of ours has. */
  async unclaimed(id: string, upstreamIds: readonly string[]): Promise<string[]> {
    const { rows } = await this.database.pool.query<{ id: string }>(
      `SELECT one.id FROM unnest($2::text[]) WITH ORDINALITY AS one (id, place) WHERE NOT EXISTS (
         SELECT FROM batches b WHERE b.id <> $1 AND b.created_at > $3 AND b.upstream IS NOT NULL
           AND coalesce(b.upstream #>> '{state,id}', b.upstream ->> 'id') = one.id)
       ORDER BY one.place`,
      [id, upstreamIds, new Date(this.clock.now() - CLAIMED_MS)],
    );
    return rows.map((row) => row.id);
  }

  async finalize(batch: Batch, worker: string): Promise<boolean> {
    return this.move(
      `UPDATE batches SET status = 'finalizing', finalizing_at = $3
       WHERE id = $1 AND worker = $2 AND status = 'in_progress'`,
      [batch.id, worker, this.now],
    );
  }

  private async move(text: string, values: unknown[]): Promise<boolean> {
    return (await this.database.pool.query(text, values)).rowCount === 1;
  }

  async linesDone(id: string): Promise<Set<number>> {
    const { rows } = await this.database.pool.query<{ line: number }>(
      'SELECT line FROM batch_results WHERE batch_id = $1',
      [id],
    );
    return new Set(rows.map(({ line }) => line));
  }

  /** A repeat changes nothing. */
  async keep(id: string, { line, is_error, content }: LineResult): Promise<void> {
    await this.database.pool.query({
      name: 'keep-batch-result',
      text: 'INSERT INTO batch_results VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING',
      values: [id, line, is_error, content],
    });
  }

  async *results(id: string): AsyncGenerator<LineResult> {
    for (let after = -1; ;) {
      const { rows } = await this.database.pool.query<LineResult>(
        `SELECT line, is_error, content FROM batch_results WHERE batch_id = $1 AND line > $2
         ORDER BY line LIMIT ${RESULTS_AT_ONCE}`,
        [id, after],
      );
      yield* rows;
      if (rows.length < RESULTS_AT_ONCE) return;
      after = rows[rows.length - 1].line;
    }
  }

  /**
   * The end, its event and whatever `also` writes, in one transaction; the lines are in files by now. Throws LeaseLost.
   */
  async end(
    { id }: Batch,
    worker: string,
    how: Partial<Batch> & { status: 'completed' | 'failed' | 'expired' | 'cancelled' },
    event: NewAccountEvent | null,
    also: (client: pg.ClientBase) => Promise<void> = async () => undefined,
  ): Promise<void> {
    await this.database.transaction(async (client) => {
      const { rowCount } = await client.query(
        `UPDATE batches SET status = $3, ${how.status}_at = $4, errors = $5, usage = $6, output_file_id = $7,
           error_file_id = $8, completed = $9, failed = $10, total = GREATEST(total, $9::int + $10::int),
           worker = NULL, leased_until = NULL
         WHERE id = $1 AND worker = $2 AND status IN ${OPEN}`,
        [
          id,
          worker,
          how.status,
          this.now,
          how.errors ? JSON.stringify(how.errors) : null,
          how.usage ? JSON.stringify(how.usage) : null,
          how.output_file_id ?? null,
          how.error_file_id ?? null,
          how.completed ?? 0,
          how.failed ?? 0,
        ],
      );
      if (rowCount !== 1) throw new LeaseLost();
      await also(client);
      await client.query('DELETE FROM batch_results WHERE batch_id = $1', [id]);
      await client.query('DELETE FROM batch_answers WHERE batch_id = $1', [id]);
      if (event !== null) await insertAccountEvent(client, event, { clock: this.clock, random: this.random });
    });
  }

  private get now(): Date {
    return new Date(this.clock.now());
  }
}

async function insert(client: pg.ClientBase, batch: Batch): Promise<void> {
  await client.query(
    `INSERT INTO batches (id, key_id, account_id, org_id, request_id, endpoint, model, provider, input_file_id,
       output_seconds, metadata, status, created_at, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
    [
      ...[batch.id, batch.key_id, batch.account_id, batch.org_id, batch.request_id, batch.endpoint],
      ...[batch.model, batch.provider, batch.input_file_id, batch.output_seconds],
      batch.metadata === null ? null : writeJson(batch.metadata),
      ...[batch.status, batch.created_at, batch.expires_at],
    ],
  );
}

const TIMES = [
  'created_at',
  'in_progress_at',
  'expires_at',
  'finalizing_at',
  'completed_at',
  'failed_at',
  'expired_at',
  'cancelling_at',
  'cancelled_at',
] as const;

export function batchView(batch: Batch): object {
  const times = TIMES.map((name) => {
    const at = batch[name];
    return [name, at === null ? null : Math.floor(at.getTime() / 1_000)];
  });
  const { id, endpoint, model, errors, input_file_id, status, output_file_id, error_file_id } = batch;
  const { total, completed, failed, usage, metadata } = batch;
  return {
    ...{ id, object: 'batch', endpoint, model, errors, input_file_id, completion_window: '24h', status },
    ...{ output_file_id, error_file_id },
    ...(Object.fromEntries(times) as Json),
    request_counts: { total, completed, failed },
    ...{ usage, metadata },
  };
}
