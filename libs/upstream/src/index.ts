export { proxiedAgent } from './egress-proxy.js';
export { CircuitBreakers } from './breakers.js';
export { DestinationRefused } from './guarded/destination.js';
export { GuardedHttp } from './guarded/guarded-http.js';
export type { GuardedResponse } from './guarded/guarded-http.js';
export { dnsResolver } from './guarded/resolver.js';
export {
  configFaultsOf,
  gatewayConfigFault,
  gatewayFile,
  keyedProviders,
  namesIn,
  withBilling,
  withFile,
  type KeyedProvider,
} from './keyed-providers.js';
export { upstreamParts, type UpstreamParts, type UpstreamTls } from './upstream-parts.js';
export { UndiciTransport } from './undici-transport.js';
