export { startFleetApp } from './fleet-app.js';
export type { EdgeLimits } from './fleet-app.js';
export { readFleetSettings } from './fleet-settings.js';
export type { FleetSettings } from './fleet-settings.js';
export { livePrincipals } from './live-principals.module.js';
export { redisAddress, RedisConfig } from './redis/redis.config.js';
export { ConnectedLimitStore, connectRedis } from './redis/connect-redis.js';
export type { RedisAddress } from './redis/connect-redis.js';
export { HttpFunds } from './remote/http-funds.js';
export {
  billingAgreement,
  RemoteCatalogueModule,
  RemoteContentsModule,
  RemoteCatalogueNamesModule,
  RemoteFundsModule,
  RemoteDirectoryModule,
  RemotePrincipalsModule,
  RemoteProviderKeysModule,
  RemoteInferenceModule,
  RemoteResponsesModule,
  RemoteRouteHealthModule,
  RemoteStoredContentModule,
} from './remote/remote.modules.js';
export { HttpSnapshots } from './remote/http-snapshots.js';
export { HttpIdempotencyStore } from './remote/http-idempotency-store.js';
