import { join } from 'node:path';
import type { OnApplicationShutdown } from '@nestjs/common';
import { inTransaction, postgresPool, prismaAdapterOver, type PostgresOptions } from '@gateway/database';
import type pg from 'pg';
import { PrismaClient, type Prisma } from '../generated/prisma/client.js';

/** Folder with schema.prisma and migrations/. */
export const SCHEMA_DIR = join(import.meta.dirname, '../../prisma');
/** The service's PostgreSQL schema. */
export const SCHEMA = 'notifications';

/** A transaction, or the client outside of one. */
export type Tx = Prisma.TransactionClient;

const MAX_WAIT_MS = 5_000;
const TRANSACTION_MS = 10_000;

/** Single rows and pages through Prisma; batches, claims and outcomes as SQL on the same pool. */
export class NotificationsDatabase implements OnApplicationShutdown {
  readonly pool: pg.Pool;
  readonly prisma: PrismaClient;

  constructor(options: Omit<PostgresOptions, 'schema'>) {
    this.pool = postgresPool({ ...options, schema: SCHEMA });
    this.prisma = new PrismaClient({ adapter: prismaAdapterOver(this.pool, SCHEMA) });
  }

  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.prisma.$transaction(work, { maxWait: MAX_WAIT_MS, timeout: TRANSACTION_MS });
  }

  /** Statements on one connection between BEGIN and COMMIT; any failure rolls back and is thrown on. */
  batch<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    return inTransaction(this.pool, work);
  }

  /** Prisma connects lazily and may never have done so: then its adapter has not taken the pool over. */
  async onApplicationShutdown(): Promise<void> {
    await this.prisma.$disconnect();
    if (!this.pool.ended) await this.pool.end();
  }
}
