export { Access, ACCESS_METADATA } from './auth/access.js';
export type { AccessRule, OrgRule } from './auth/access.js';
export { permit } from './auth/authenticator.js';
export { credentialOf, parseCredential } from './auth/credential.js';
export { keyOf, principalOf, sessionOf } from './auth/principal-of.js';
export { maskedSecret, mintSecret, secretDigest } from './auth/secret.js';
export { bootstrap } from './boot/bootstrap.js';
export type { RunningApp } from './boot/bootstrap.js';
export { defaultPressureLimits } from './pressure/pressure.js';
export { responseHeaders } from './request/response-headers.js';
export { runMain } from './boot/run-main.js';
export {
  FleetConfig,
  readConfigs,
  readFleetConfig,
  serviceEnvironment,
  fleetServices,
} from './config/fleet.config.js';
export { ConfigError, loadConfig } from './config/load-config.js';
export { OrFile, valueOrFile } from './config/or-file.js';
export { ToBoolean, ToNumber } from './config/transforms.js';
export { IsTrustedProxies } from './config/trusted-proxies.js';
export type { TrustedProxies } from './config/trusted-proxies.js';
export { unavailable } from './errors/unavailable.js';
export { Drain } from './health/drain.js';
export { ReadinessChecks } from './health/readiness-checks.js';
export { InternalHttp } from './http/internal-http.js';
export type { InternalRequest, InternalResponse, ServiceName } from './http/internal-http.js';
export { pageOf } from './http/page.js';
export type { Page } from './http/page.js';
export { createLogger, LOG_LEVELS, logDestination, LOGGER } from './logging/logger.js';
export type { LogLevel } from './logging/logger.js';
export { Metrics } from './metrics/metrics.js';
export type { SeriesOf, Spread, Tally } from './metrics/series.js';
export { PlatformModule } from './platform.module.js';
export { Deadlines } from './time/deadlines.js';
export type { Deadline } from './time/deadlines.js';
export { Later } from './time/later.js';
export { repeat } from './time/repeat.js';
export type { Repeated } from './time/repeat.js';
export { SystemClock } from './time/system-clock.js';
export { SystemRandom } from './time/system-random.js';
export { CLOCK, RANDOM } from './time/tokens.js';
