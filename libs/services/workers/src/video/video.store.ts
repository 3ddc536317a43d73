import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, RANDOM } from '@gateway/platform';
import {
  ApiError,
  type Clock,
  type NewAccountEvent,
  type Random,
  type VideosQuery,
} from '@gateway/contracts';
import { writeJson } from '@gateway/json-body';
import type pg from 'pg';
import { holdCount } from '../postgres/hold-count.js';
import { insertAccountEvent } from '../postgres/insert-account-event.js';
import { WorkersDatabase } from '../postgres/workers-database.js';

type Json = Record<string, unknown>;

/** A row of `video_tasks`. */
export interface VideoTask {
  id: string;
  key_id: string;
  account_id: string;
  org_id: string | null;
  request_id: string;
  model: string;
  body: Json | null;
  metadata: Json | null;
  status: 'queued' | 'in_progress' | 'completed' | 'failed';
  credential: string | null;
  provider_task_id: string | null;
  unit: number;
  /** Its provider may have been asked to begin it: an answer has not said otherwise. */
  is_asked: boolean;
  object_key: string | null;
  seconds: number | null;
  error: { code: string; message: string; provider_code?: string } | null;
  created_at: Date;
  updated_at: Date;
  completed_at: Date | null;
  expires_at: Date;
}

const OPEN = "('queued', 'in_progress')";
/** Number of open tasks of one key. */
const OPEN_MAX = 100;

/** Video tasks in PostgreSQL. A key sees its own; whoever works on one holds its lease. */
@Injectable()
export class VideoStore {
  constructor(
    private readonly database: WorkersDatabase,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {}

  /**
   * Adds the task under the lease of the caller that begins it, with whatever `also` writes. Throws ApiError `conflict`
   * where its key has as many open ones as it may.
   */
  async add(
    task: VideoTask,
    { worker, leaseMs }: { worker: string; leaseMs: number },
    also: (client: pg.ClientBase) => Promise<void>,
  ): Promise<void> {
    await this.database.transaction(async (client) => {
      await holdCount(client, 'videos', task.key_id);
      const { rows } = await client.query<{ open: number }>(
        `SELECT count(*)::int AS open FROM video_tasks WHERE key_id = $1 AND status IN ${OPEN}`,
        [task.key_id],
      );
      if (rows[0].open >= OPEN_MAX)
        throw new ApiError('conflict', {
          message: `A key has at most ${OPEN_MAX} videos that have not ended.`,
        });
      await client.query(
        `INSERT INTO video_tasks (id, key_id, account_id, org_id, request_id, model, body, metadata, status, created_at,
           updated_at, expires_at, worker, leased_until, is_asked)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10, $11, $12, $13, $14)`,
        [
          ...[task.id, task.key_id, task.account_id, task.org_id, task.request_id, task.model],
          writeJson(task.body),
          task.metadata === null ? null : writeJson(task.metadata),
          ...[task.status, task.created_at, task.expires_at, worker, this.after(leaseMs)],
          task.is_asked,
        ],
      );
      await also(client);
    });
  }

  /** Removes a task that never began, with whatever `also` writes. */
  async remove(id: string, also: (client: pg.ClientBase) => Promise<void>): Promise<void> {
    await this.database.transaction(async (client) => {
      await client.query('DELETE FROM video_tasks WHERE id = $1', [id]);
      await also(client);
    });
  }

  /** Finds a task by its own id or the provider's; by its request's where that counts. */
  async read(keyId: string, id: string, isByRequest: boolean): Promise<VideoTask | null> {
    const { rows } = await this.database.pool.query<VideoTask>(
      `SELECT * FROM video_tasks WHERE key_id = $1
         AND (id = $2 OR provider_task_id = $2 OR ($3 AND request_id = $2)) ORDER BY created_at LIMIT 1`,
      [keyId, id, isByRequest],
    );
    return rows.at(0) ?? null;
  }

  /** One more than `limit`, where there are more. */
  async list(keyId: string, { status, limit, after }: VideosQuery): Promise<VideoTask[]> {
    const { rows } = await this.database.pool.query<VideoTask>(
      `SELECT * FROM video_tasks WHERE key_id = $1 AND ($2::text IS NULL OR status = $2)
         AND ($3::text IS NULL OR (created_at, id) <
           (SELECT created_at, id FROM video_tasks WHERE key_id = $1 AND id = $3))
       ORDER BY created_at DESC, id DESC LIMIT $4`,
      [keyId, status ?? null, after ?? null, limit + 1],
    );
    return rows;
  }

  /** The oldest that nobody works on, but of the accounts `served`. */
  async claim(worker: string, leaseMs: number, served: readonly string[]): Promise<VideoTask | null> {
    const { rows } = await this.database.pool.query<VideoTask>(
      `UPDATE video_tasks SET worker = $1, leased_until = $2 WHERE id = (
         SELECT id FROM video_tasks WHERE status IN ${OPEN} AND (leased_until IS NULL OR leased_until < $3)
           AND account_id <> ALL ($4)
         ORDER BY created_at LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING *`,
      [worker, this.after(leaseMs), this.now, served],
    );
    return rows.at(0) ?? null;
  }

  /** False where another worker has it by now. */
  async renew(id: string, worker: string, leaseMs: number): Promise<boolean> {
    const { rowCount } = await this.database.pool.query(
      'UPDATE video_tasks SET leased_until = $3 WHERE id = $1 AND worker = $2',
      [id, worker, this.after(leaseMs)],
    );
    return rowCount === 1;
  }

  async release(id: string, worker: string): Promise<void> {
    await this.database.pool.query(
      'UPDATE video_tasks SET worker = NULL, leased_until = NULL WHERE id = $1 AND worker = $2',
      [id, worker],
    );
  }

  /** Stores the new state: the provider has it, or another unit has to run it. */
  async note({ id, credential, provider_task_id, unit, is_asked }: VideoTask): Promise<void> {
    await this.database.pool.query(
      `UPDATE video_tasks SET credential = $2, provider_task_id = $3, unit = $4, updated_at = $5, is_asked = $6,
         status = CASE WHEN $3::text IS NULL THEN status ELSE 'in_progress' END
       WHERE id = $1 AND status IN ${OPEN}`,
      [id, credential, provider_task_id, unit, this.now, is_asked],
    );
  }

  /** The end and its event in one transaction; false where it has ended already. */
  async end(task: VideoTask, event: NewAccountEvent): Promise<boolean> {
    return this.database.transaction(async (client) => {
      const { rowCount } = await client.query(
        `UPDATE video_tasks SET status = $2, object_key = $3, seconds = $4, error = $5, completed_at = $6,
           updated_at = $6, body = NULL, worker = NULL, leased_until = NULL
         WHERE id = $1 AND status IN ${OPEN}`,
        [
          task.id,
          task.status,
          task.object_key,
          task.seconds,
          task.error === null ? null : JSON.stringify(task.error),
          this.now,
        ],
      );
      if (rowCount === 1) await insertAccountEvent(client, event, { clock: this.clock, random: this.random });
      return rowCount === 1;
    });
  }

  private get now(): Date {
    return new Date(this.clock.now());
  }

  private after(ms: number): Date {
    return new Date(this.clock.now() + ms);
  }
}
