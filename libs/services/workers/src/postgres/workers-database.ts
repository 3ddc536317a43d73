import { join } from 'node:path';
import type { OnApplicationShutdown } from '@nestjs/common';
import { inTransaction, postgresPool } from '@gateway/database';
import type pg from 'pg';

/** Folder with migrations/. */
export const SCHEMA_DIR = join(import.meta.dirname, '../../prisma');
export const SCHEMA = 'workers';

const STATEMENT_TIMEOUT_MS = 15_000;

/** The pool of the service. */
export class WorkersDatabase implements OnApplicationShutdown {
  readonly pool: pg.Pool;

  constructor(options: { url: string; maxConnections: number; onIdleError?: (error: Error) => void }) {
    this.pool = postgresPool({ ...options, schema: SCHEMA, statementTimeoutMs: STATEMENT_TIMEOUT_MS });
  }

  /** Runs a transaction of statements alone: they are run once more where they ran into others. */
  transaction<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    return inTransaction(this.pool, work, { mayRepeat: true });
  }

  async onApplicationShutdown(): Promise<void> {
    await this.pool.end();
  }
}
