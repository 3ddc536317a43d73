import { join } from 'node:path';
import type { OnApplicationShutdown } from '@nestjs/common';
import { openSchema, postgresPool, prismaAdapterOver } from '@gateway/database';
import type pg from 'pg';
import type { Logger } from 'pino';
import type { CatalogueConfig } from '../catalogue.config.js';
import { PrismaClient, type Prisma } from '../generated/prisma/client.js';

/** Folder with schema.prisma and migrations/. */
export const SCHEMA_DIR = join(import.meta.dirname, '../../prisma');
export const SCHEMA = 'catalogue';

/** A transaction, or the client outside of one. */
export type Tx = Prisma.TransactionClient;

const STATEMENT_TIMEOUT_MS = 20_000;
const MAX_WAIT_MS = 5_000;
const TRANSACTION_MS = 60_000;

/** The service's one Prisma client and the pool under it. */
export class CatalogueDatabase implements OnApplicationShutdown {
  readonly prisma: PrismaClient;

  constructor(readonly pool: pg.Pool) {
    this.prisma = new PrismaClient({ adapter: prismaAdapterOver(pool, SCHEMA) });
  }

  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.prisma.$transaction(work, { maxWait: MAX_WAIT_MS, timeout: TRANSACTION_MS });
  }

  async onApplicationShutdown(): Promise<void> {
    await this.prisma.$disconnect();
  }
}

/** Migrates, or refuses a schema that this release does not know, then connects. */
export async function openDatabase(config: CatalogueConfig, logger: Logger): Promise<CatalogueDatabase> {
  const url = config.CATALOGUE_DATABASE_URL;
  await openSchema({
    url,
    schemaDir: SCHEMA_DIR,
    schema: SCHEMA,
    migrates: config.CATALOGUE_MIGRATE_AT_START,
    report: (line) => logger.info(line),
  });
  return new CatalogueDatabase(
    postgresPool({
      url,
      schema: SCHEMA,
      maxConnections: config.CATALOGUE_DATABASE_CONNECTIONS,
      statementTimeoutMs: STATEMENT_TIMEOUT_MS,
      onIdleError: (error) => logger.warn({ err: error }, 'an idle database connection was lost'),
    }),
  );
}
