import { PrismaPg } from '@prisma/adapter-pg';
import type pg from 'pg';
import { postgresPool, type PostgresOptions } from './postgres-pool.js';

/** What a generated Prisma client needs: `new PrismaClient({ adapter: prismaAdapter(options) })`. */
export function prismaAdapter(options: PostgresOptions): PrismaPg {
  return prismaAdapterOver(postgresPool(options), options.schema);
}

/** The same over a pool that batch statements and the outbox relay use too; `$disconnect` ends the pool. */
export function prismaAdapterOver(pool: pg.Pool, schema: string): PrismaPg {
  return new PrismaPg(pool, { schema, disposeExternalPool: true });
}
