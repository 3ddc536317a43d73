import { join } from 'node:path';
import type { OnApplicationShutdown } from '@nestjs/common';
import { postgresPool, prismaAdapterOver, type PostgresOptions } from '@gateway/database';
import type pg from 'pg';
import { PrismaClient, type Prisma } from '../generated/prisma/client.js';

/** Folder with schema.prisma and migrations/. */
export const SCHEMA_DIR = join(import.meta.dirname, '../../prisma');
export const SCHEMA = 'catalogue';

/** A transaction, or the client outside of one. */
export type Tx = Prisma.TransactionClient;

const MAX_WAIT_MS = 5_000;
const TRANSACTION_MS = 60_000;

/** The service's one Prisma client and the pool under it. */
export class CatalogueDatabase implements OnApplicationShutdown {
  readonly pool: pg.Pool;
  readonly prisma: PrismaClient;

  constructor(options: Omit<PostgresOptions, 'schema'>) {
    this.pool = postgresPool({ ...options, schema: SCHEMA });
    this.prisma = new PrismaClient({ adapter: prismaAdapterOver(this.pool, SCHEMA) });
  }

  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.prisma.$transaction(work, { maxWait: MAX_WAIT_MS, timeout: TRANSACTION_MS });
  }

  async onApplicationShutdown(): Promise<void> {
    await this.prisma.$disconnect();
  }
}
