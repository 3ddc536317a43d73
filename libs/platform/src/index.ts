export { Access, ACCESS_METADATA } from './auth/access.js';
export type { AccessRule } from './auth/access.js';
export { Authenticator, permit } from './auth/authenticator.js';
export { credentialOf, parseCredential } from './auth/credential.js';
export { listRoutes } from './auth/list-routes.js';
export type { ListedRoute } from './auth/list-routes.js';
export { PrincipalGuard } from './auth/principal-guard.js';
export { keyOf, principalOf, sessionOf } from './auth/principal-of.js';
export { isWellFormedSecret, maskedSecret, mintSecret, SECRET_PATTERN, secretDigest } from './auth/secret.js';
export type { SecretPrefix } from './auth/secret.js';
export { bootstrap } from './boot/bootstrap.js';
export type { BootConfig, BootOptions, RunningApp } from './boot/bootstrap.js';
export { defaultPressureLimits, Pressure } from './boot/pressure.js';
export type { PressureLimits } from './boot/pressure.js';
export { responseHeaders } from './boot/response-headers.js';
export { runMain } from './boot/run-main.js';
export { startFleetApp } from './boot/fleet-app.js';
export { isWorker, startWorkers } from './boot/workers/start-workers.js';
export { FleetConfig, readConfigs, readFleetConfig, serviceEnvironment } from './config/fleet.config.js';
export { ConfigError, loadConfig } from './config/load-config.js';
export { ToBoolean, ToList, ToNumber } from './config/transforms.js';
export { sendApiError } from './errors/error-filter.js';
export { toApiError } from './errors/to-api-error.js';
export { validationFailure, validationPipe } from './errors/validation-pipe.js';
export { unavailable } from './errors/unavailable.js';
export { Drain } from './health/drain.js';
export { ReadinessChecks } from './health/readiness-checks.js';
export type { ReadinessCheck } from './health/readiness-checks.js';
export { InternalHttp } from './http/internal-http.js';
export type {
  InternalHttpOptions,
  InternalRequest,
  InternalResponse,
  ServiceName,
} from './http/internal-http.js';
export { Consumption, eventOf } from './log/consumption.js';
export { connectEventLog, EventLogTransport } from './log/event-log-transport.js';
export { InProcessEventLog } from './log/in-process-event-log.js';
export type { InProcessEventLogOptions } from './log/in-process-event-log.js';
export type { KafkaOptions } from './log/kafka-client.js';
export { startInProcessShipper } from './log/in-process-shipper.js';
export { WorkerShipper } from './log/worker-shipper.js';
export type { WorkerShipperOptions } from './log/worker-shipper.js';
export { KafkaEventLog } from './log/kafka-event-log.js';
export type { KafkaEventLogOptions } from './log/kafka-event-log.js';
export { createLogger, LOG_LEVELS, logDestination, LOGGER } from './logging/logger.js';
export type { LogLevel } from './logging/logger.js';
export { Metrics } from './metrics/metrics.js';
export type { SeriesOf, Spread, Tally } from './metrics/series.js';
export { auditRow, principalId } from './management/audit.js';
export type { AuditedWrite, AuditRow } from './management/audit.js';
export { idempotent, IDEMPOTENCY_KEPT_MS } from './management/idempotent.js';
export type {
  Created,
  IdempotencyClaim,
  IdempotencyRecord,
  IdempotencyStore,
} from './management/idempotent.js';
export { PAGE_LIMIT_DEFAULT, PAGE_LIMIT_MAX, pageOf, PageQuery } from './management/page.js';
export type { Page } from './management/page.js';
export { outboxBacklog } from './outbox/outbox-backlog.js';
export { OutboxRelay } from './outbox/outbox-relay.js';
export type { OutboxRelayOptions } from './outbox/outbox-relay.js';
export { outboxRow } from './outbox/outbox-row.js';
export type { OutboxEvent, OutboxRow } from './outbox/outbox-row.js';
export { PlatformModule } from './platform.module.js';
export type { DriverParts, EmbeddedOptions, PlatformOptions } from './platform.module.js';
export { ConnectedLimitStore, connectRedis } from './redis/connect-redis.js';
export { withLocalShare } from './redis/local-share.js';
export type { EdgeLimits } from './redis/local-share.js';
export type {
  LimitStoreFactory,
  RedisAddress,
  RedisConnection,
  RedisOptions,
} from './redis/connect-redis.js';
export { applyMigrations } from './postgres/apply-migrations.js';
export type { MigrateOptions } from './postgres/apply-migrations.js';
export { assertSchemaKnown } from './postgres/assert-schema-known.js';
export { EmbeddedPostgres } from './postgres/embedded-postgres.js';
export type { EmbeddedPostgresOptions } from './postgres/embedded-postgres.js';
export { HttpCatalogueReader } from './remote/http-catalogue-reader.js';
export { HttpFunds } from './remote/http-funds.js';
export { HttpPrincipalReader } from './remote/http-principal-reader.js';
export { RemoteCatalogueModule, RemoteFundsModule, RemotePrincipalsModule } from './remote/remote.modules.js';
export { databaseDiff, MIGRATED_SCHEMA, migrationDiff } from './postgres/migration-diff.js';
export { postgresPool } from './postgres/postgres-pool.js';
export type { PostgresOptions } from './postgres/postgres-pool.js';
export { prismaAdapter, prismaAdapterOver } from './postgres/prisma-adapter.js';
export { Deadlines } from './time/deadlines.js';
export type { Deadline } from './time/deadlines.js';
export { CircuitBreakers } from './http/breakers.js';
export { UndiciTransport } from './http/undici-transport.js';
export { repeat } from './time/repeat.js';
export type { Repeated } from './time/repeat.js';
export { SystemClock } from './time/system-clock.js';
export { SystemRandom } from './time/system-random.js';
export { TRACER } from './tracing/tracing.js';
export { CLOCK, RANDOM } from './time/tokens.js';
