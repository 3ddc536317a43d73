export { catalogueModel } from './builders/catalogue.js';
export { keyPrincipal, modelAccess, scopeLimits, sessionPrincipal } from './builders/principals.js';
export { attemptRecord, rejectionRecord, usageRecord } from './builders/usage-records.js';
export { CatalogueNamesDouble } from './doubles/catalogue-names-double.js';
export { CatalogueReaderDouble } from './doubles/catalogue-reader-double.js';
export { EventLogDouble } from './doubles/event-log-double.js';
export { BackgroundResponsesDouble } from './doubles/background-responses-double.js';
export { ResponseStoreDouble } from './doubles/response-store-double.js';
export { FundsDouble } from './doubles/funds-double.js';
export { MailerDouble } from './doubles/mailer-double.js';
export { LimitStoreDouble } from './doubles/limit-store-double.js';
export { PrefixedEventLog } from './doubles/prefixed-event-log.js';
export { ProviderKeyVaultDouble } from './doubles/provider-key-vault-double.js';
export { ErasedEndUsersDouble } from './doubles/erased-end-users-double.js';
export { RouteHealthDouble } from './doubles/route-health-double.js';
export { StoredContentDouble } from './doubles/stored-content-double.js';
export { PrincipalReaderDouble } from './doubles/principal-reader-double.js';
export { UpstreamCallsDouble } from './doubles/upstream-calls-double.js';
export { RequestContentsDouble } from './doubles/request-contents-double.js';
export { DirectoryDouble } from './doubles/directory-double.js';
export { anyJsonText, tokensOf } from './any-json-text.js';
export { startProgram, type Program } from './child-program.js';
export { eventually } from './eventually.js';
export { startFaultProxy, type FaultProxy, type Faults } from './fault-proxy/fault-proxy.js';
export { goldenAnswer, goldenAnswers, GOLDEN_VERSIONS } from './golden.js';
export { FastClock } from './fast-clock.js';
export { FixedClock, fixedClock } from './fixed-clock.js';
export { PatientClock } from './patient-clock.js';
export { HandClock } from './hand-clock.js';
export { HurriedClock } from './hurried-clock.js';
export { keepFiles } from './leftovers/keep.js';
export { entriesOf, rowsOf } from './leftovers/stored.js';
export { ownCertificate } from './own-certificate.js';
export { NO_PRESSURE } from './no-pressure.js';
export type { OwnServer } from './own-server.js';
export { clusterScripts, redisScripts, type ClusterScripts, type RedisScripts } from './redis-scripts.js';
export { securedKafka, securedRedis, type SecuredKafka, type SecuredRedis } from './secured-servers.js';
export { dyingRandom } from './dying-random.js';
export { seededRandom } from './seeded-random.js';
export { ownKafka, testKafka, type TestKafka } from './test-kafka.js';
export { ownPostgres, testDatabase, testPostgres, type TestDatabase } from './test-postgres.js';
export { ownRedis, testRedis, testRedisCluster, type TestRedis } from './test-redis.js';
export { endProgram, freePorts, startBuilt } from './fleet/built-program.js';
export { startFleet, type Fleet, type FleetOptions } from './fleet/fleet.js';
export { type FleetApp } from './fleet/fleet-environment.js';
export type { Proxied } from './fleet/fleet-servers.js';
export { startGuard, withGuard } from './fleet/guard-process.js';
export { repository } from './fleet/repository.js';
export type { Breakable, ServiceProcess } from './fleet/service-process.js';
export {
  startUpstreamDouble,
  type ScriptedAnswer,
  type SeenRequest,
  type UpstreamDouble,
} from './upstream-double.js';
export { testS3 } from './test-s3.js';
export type { TestS3 } from './test-s3.js';
export { IdempotencyStoreDouble } from './doubles/idempotency-store-double.js';
export { InferenceDouble, served } from './doubles/inference-double.js';
