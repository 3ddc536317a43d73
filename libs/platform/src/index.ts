export { Access, ACCESS_METADATA } from './auth/access.js';
export type { AccessRule, OrgRule } from './auth/access.js';
export { requireOrgRole } from './auth/org-role.js';
export { visibleKey } from './auth/visible-key.js';
export { endUserHash } from './auth/end-user-hash.js';
export { FleetSecret } from './auth/fleet-secret.js';
export { permit, credentialOf, credentialOfRequest } from './auth/authenticator.js';
export { LoginAttempts } from './auth/login-attempts.js';
export { keyOf, principalId, principalOf, sessionOf } from './auth/principal-of.js';
export { isWellFormedSecret, maskedSecret, mintSecret, secretDigest } from './auth/secret.js';
export { bootstrap } from './boot/bootstrap.js';
export type { BootConfig, RunningApp } from './boot/bootstrap.js';
export { defaultPressureLimits, Pressure } from './pressure/pressure.js';
export type { PressureLimits, MemoryBudget } from './pressure/pressure.js';
export { closingOf, PageBudget, Stage, withMemory } from './pressure/memory-budget.js';
export type { Closing } from './pressure/memory-budget.js';
export { claimKey, idempotent, isRepeat, IDEMPOTENCY_KEPT_MS } from './http/idempotent.js';
export type { Created } from './http/idempotent.js';
export type { AdmittedRequest, Unanswered } from './request/gateway-request.js';
export { responseHeaders } from './request/response-headers.js';
export { runMain } from './boot/run-main.js';
export { FleetConfig, readConfigs, serviceEnvironment, fleetServices } from './config/fleet.config.js';
export { readTls } from './config/listener.config.js';
export type { Tls } from './config/listener.config.js';
export { ConfigError, loadConfig } from './config/load-config.js';
export { OrFile, valueOrFile } from './config/or-file.js';
export { ToBoolean, ToList, ToNumber } from './config/transforms.js';
export {
  HEADER_PAIRS,
  HOST_AND_PORT,
  IsAddress,
  IsCertificates,
  IsDnsServers,
  IsHost,
  IsReadableFile,
  IsWritableFolder,
  NotWith,
  OnlyWhere,
  PLACE_AND_PORT,
  PORT_NUMBER,
} from './config/validators.js';
export { isWritableFolder, requireMakeable } from './config/writable-folder.js';
export { IsTrustedProxies } from './config/trusted-proxies.js';
export type { TrustedProxies } from './config/trusted-proxies.js';
export { noEndpoint, toApiError } from './errors/to-api-error.js';
export { refuseFaults, sentFields } from './errors/body-faults.js';
export { isStorable } from './errors/validation-pipe.js';
export { serviceUnavailable } from './errors/service-unavailable.js';
export type { ServiceName } from './errors/service-unavailable.js';
export { unavailable } from './errors/unavailable.js';
export { Drain } from './health/drain.js';
export { ReadinessChecks } from './health/readiness-checks.js';
export { CONNECTION_AGE_MS, hasBegunNothing, InternalHttp } from './http/internal-http.js';
export type { InternalRequest, InternalResponse } from './http/internal-http.js';
export { pageOf } from './http/page.js';
export { createdWithin, expiryFaults, expiryOf, isTimeZone, timesOf } from './http/times.js';
export type { Times } from './http/times.js';
export type { EventStreamText, HtmlText, JsonText, SentCsv } from './http/answer-text.js';
export type { Page } from './http/page.js';
export { logDestination } from './logging/log-writer.js';
export { createLogger, LOG_LEVELS, LOGGER } from './logging/logger.js';
export type { LogLevel } from './logging/logger.js';
export { releaseOf } from './metrics/build-info.js';
export { Metrics } from './metrics/metrics.js';
export { activeTraceparent, TRACER } from './tracing/tracing.js';
export type { SeriesOf, Spread, Tally } from './metrics/series.js';
export { PlatformModule } from './platform.module.js';
export { textLines } from './text/text-lines.js';
export { Deadlines } from './time/deadlines.js';
export type { Deadline } from './time/deadlines.js';
export { Later } from './time/later.js';
export { repeat } from './time/repeat.js';
export type { Repeated } from './time/repeat.js';
export { SystemClock, SystemRandom } from './time/system.js';
export { CLOCK, RANDOM } from './time/tokens.js';
