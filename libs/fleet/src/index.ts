export { startFleetApp } from './fleet-app.js';
export type { EdgeLimits } from './fleet-app.js';
export { ConnectedLimitStore, connectRedis } from './redis/connect-redis.js';
export type { RedisAddress, RedisConnection, RedisOptions } from './redis/connect-redis.js';
export { HttpCatalogueReader } from './remote/http-catalogue-reader.js';
export { HttpFunds } from './remote/http-funds.js';
export { HttpPrincipalReader } from './remote/http-principal-reader.js';
export { RemoteCatalogueModule, RemoteFundsModule, RemotePrincipalsModule } from './remote/remote.modules.js';
