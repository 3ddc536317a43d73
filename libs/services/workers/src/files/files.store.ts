import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, RANDOM } from '@gateway/platform';
import {
  callerFile,
  uuidv7,
  type Clock,
  type FilesQuery,
  type NamedFile,
  type ObjectKey,
  type Random,
} from '@gateway/contracts';
import type pg from 'pg';
import { holdCount } from '../postgres/hold-count.js';
import { WorkersDatabase } from '../postgres/workers-database.js';

/** A row of `files`. */
export interface FileRow {
  id: string;
  key_id: string;
  account_id: string;
  created_at: Date;
  expires_at: Date | null;
  bytes: string;
  filename: string;
  purpose: string;
}

type NewFile = Omit<FileRow, 'created_at' | 'bytes'> & { bytes: number };

/** Number of files of one key: they cost nothing to store, and most have no end. */
export const FILES_MAX = 10_000;
/** Longer than any upload takes. */
const UPLOAD_MS = 3_600_000;
const NO_KEY = '';
/** Files that are removed at once. */
const EXPIRED_AT_ONCE = 200;

/** Records of files; their content is in the object store. A key sees its own alone. */
@Injectable()
export class FileStore {
  constructor(
    private readonly database: WorkersDatabase,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {}

  newId(): string {
    return `file-${uuidv7(this.clock, this.random)}`;
  }

  /** A repeat changes nothing. */
  async add(file: NewFile, queries: Pick<pg.ClientBase, 'query'> = this.database.pool): Promise<FileRow> {
    const created_at = uploadedAt(file.id) ?? new Date(this.clock.now());
    const row: FileRow = { ...file, bytes: String(file.bytes), created_at };
    await queries.query(
      `INSERT INTO files (id, key_id, account_id, created_at, expires_at, bytes, filename, purpose)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING`,
      [
        row.id,
        row.key_id,
        row.account_id,
        row.created_at,
        row.expires_at,
        row.bytes,
        row.filename,
        row.purpose,
      ],
    );
    return row;
  }

  /**
   * Expects an upload whose bytes are on their way: no key has it. Its content is removed as that of a file past its
   * time, unless the file is added first.
   */
  async expect({ id, account_id }: Pick<NewFile, 'id' | 'account_id'>): Promise<void> {
    const expires_at = new Date(this.clock.now() + UPLOAD_MS);
    await this.add({ id, account_id, key_id: NO_KEY, expires_at, bytes: 0, filename: '', purpose: '' });
  }

  /** Nothing of it is there. */
  async expectNoMore(id: string): Promise<void> {
    await this.remove(NO_KEY, id);
  }

  /** Null where its key has as many files as it may: uploads of one key are counted one after the other. */
  async addUploaded(file: NewFile): Promise<FileRow | null> {
    return this.database.transaction(async (client) => {
      await holdCount(client, 'files', file.key_id);
      if (!(await this.hasRoom(file.key_id, client))) return null;
      await client.query('DELETE FROM files WHERE id = $1 AND key_id = $2', [file.id, NO_KEY]);
      return this.add(file, client);
    });
  }

  async read(keyId: string, id: string): Promise<FileRow | null> {
    const { rows } = await this.database.pool.query<FileRow>(
      'SELECT * FROM files WHERE key_id = $1 AND id = $2 AND (expires_at IS NULL OR expires_at > $3)',
      [keyId, id, new Date(this.clock.now())],
    );
    return rows.at(0) ?? null;
  }

  /** Returns the files that requests of a key name, by their ids; missing ones are left out. */
  static async named(
    { pool }: Pick<WorkersDatabase, 'pool'>,
    keyId: string,
    ids: readonly string[],
    now: Date,
  ): Promise<ReadonlyMap<string, NamedFile>> {
    const { rows } = await pool.query<FileRow>({
      name: 'named-files',
      text: `SELECT * FROM files WHERE key_id = $1 AND id = ANY ($2) AND (expires_at IS NULL OR expires_at > $3)`,
      values: [keyId, ids, now],
    });
    return new Map(
      rows.map(({ id, account_id, filename, bytes }) => [id, { account_id, filename, bytes: Number(bytes) }]),
    );
  }

  /**
   * One more than `limit`, where there are more. A page goes on after a file that was deleted meanwhile, too: the id of an
   * upload says where it stood.
   */
  async list(keyId: string, { purpose, limit, order, after }: FilesQuery): Promise<FileRow[]> {
    const [compare, direction] = order === 'asc' ? ['>', 'ASC'] : ['<', 'DESC'];
    const { rows } = await this.database.pool.query<FileRow>(
      `SELECT * FROM files WHERE key_id = $1 AND ($2::text IS NULL OR purpose = $2)
         AND (expires_at IS NULL OR expires_at > $5)
         AND ($3::text IS NULL OR (created_at, id) ${compare}
           (coalesce((SELECT created_at FROM files WHERE key_id = $1 AND id = $3), $6::timestamptz), $3))
       ORDER BY created_at ${direction}, id ${direction} LIMIT $4`,
      [keyId, purpose ?? null, after ?? null, limit + 1, new Date(this.clock.now()), uploadedAt(after ?? '')],
    );
    return rows;
  }

  async hasRoom(keyId: string, queries: Pick<pg.ClientBase, 'query'> = this.database.pool): Promise<boolean> {
    const { rows } = await queries.query<{ count: number }>(
      'SELECT count(*)::int AS count FROM files WHERE key_id = $1',
      [keyId],
    );
    return rows[0].count < FILES_MAX;
  }

  /** False where there was none. */
  async remove(keyId: string, id: string): Promise<boolean> {
    const { rowCount } = await this.database.pool.query('DELETE FROM files WHERE key_id = $1 AND id = $2', [
      keyId,
      id,
    ]);
    return rowCount === 1;
  }

  /** Some of those past their time. */
  async expired(): Promise<FileRow[]> {
    const { rows } = await this.database.pool.query<FileRow>(
      `SELECT * FROM files WHERE expires_at <= $1 ORDER BY expires_at LIMIT ${EXPIRED_AT_ONCE}`,
      [new Date(this.clock.now())],
    );
    return rows;
  }
}

/** Returns the time in the id of an upload, which is the file's time; null for ids that are made otherwise. */
export function uploadedAt(id: string): Date | null {
  const [, high, low] = /^file-([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-/.exec(id) ?? [];
  return high === undefined ? null : new Date(Number.parseInt(high + low, 16));
}

/** Returns the place of the content. */
export function contentOf({ account_id, id }: Pick<FileRow, 'account_id' | 'id'>): ObjectKey {
  return callerFile(account_id, id);
}

export function fileView({ id, bytes, created_at, expires_at, filename, purpose }: FileRow): object {
  return {
    id,
    object: 'file',
    bytes: Number(bytes),
    created_at: Math.floor(created_at.getTime() / 1_000),
    ...(expires_at === null ? {} : { expires_at: Math.floor(expires_at.getTime() / 1_000) }),
    filename,
    purpose,
    status: 'processed',
  };
}
