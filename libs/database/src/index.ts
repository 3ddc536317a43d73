export { auditRow } from './audit.js';
export type { AuditedWrite, AuditRow } from './audit.js';
export { IdempotencyTable } from './idempotency-table.js';
export { idempotent, IDEMPOTENCY_KEPT_MS } from './idempotent.js';
export type {
  CreateAnswer,
  Created,
  IdempotencyClaim,
  IdempotencyRecord,
  IdempotencyStore,
} from './idempotent.js';
export { applyMigrations } from './postgres/apply-migrations.js';
export { assertSchemaKnown } from './postgres/assert-schema-known.js';
export { EmbeddedPostgres } from './postgres/embedded-postgres.js';
export { inTransaction } from './postgres/in-transaction.js';
export { postgresPool } from './postgres/postgres-pool.js';
export type { PostgresOptions } from './postgres/postgres-pool.js';
export { prismaAdapterOver } from './postgres/prisma-adapter.js';
