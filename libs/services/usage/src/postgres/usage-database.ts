import { join } from 'node:path';
import type { OnApplicationShutdown } from '@nestjs/common';
import { inTransaction, type Repeating, postgresPool, prismaAdapterOver } from '@gateway/database';
import type pg from 'pg';
import { PrismaClient } from '../generated/prisma/client.js';

/** Folder with schema.prisma and migrations/. */
export const SCHEMA_DIR = join(import.meta.dirname, '../../prisma');
export const SCHEMA = 'usage';

const STATEMENT_TIMEOUT_MS = 15_000;

export interface UsageDatabaseOptions {
  url: string;
  maxConnections: number;
  onIdleError?: (error: Error) => void;
  /** Default 15 s. */
  statementTimeoutMs?: number;
  /** True if PostgreSQL may use several processes for one statement. Default: it may. */
  isParallel?: boolean;
}

/** One pool: batches, postings and what Prisma has no words for go to it as SQL, all other reads and writes through Prisma. */
export class UsageDatabase implements OnApplicationShutdown {
  readonly pool: pg.Pool;
  readonly prisma: PrismaClient;

  constructor({
    url,
    maxConnections,
    onIdleError,
    statementTimeoutMs,
    isParallel = true,
  }: UsageDatabaseOptions) {
    this.pool = postgresPool({
      url,
      schema: SCHEMA,
      maxConnections,
      statementTimeoutMs: statementTimeoutMs ?? STATEMENT_TIMEOUT_MS,
      settings: isParallel ? {} : { max_parallel_workers_per_gather: '0' },
      onIdleError,
    });
    this.prisma = new PrismaClient({ adapter: prismaAdapterOver(this.pool, SCHEMA) });
  }

  /** Runs statements on one connection between BEGIN and COMMIT; any failure rolls back and is thrown on. */
  transaction<T>(
    work: (client: pg.PoolClient) => Promise<T>,
    { mayRepeat = true }: Repeating = {},
  ): Promise<T> {
    return inTransaction(this.pool, work, { mayRepeat });
  }

  /** Prisma connects lazily and may never have done so: then its adapter has not taken the pool over. */
  async onApplicationShutdown(): Promise<void> {
    await this.prisma.$disconnect();
    if (!this.pool.ended) await this.pool.end();
  }
}
