export { CircuitBreakers } from './breakers.js';
export { DestinationRefused } from './guarded/destination.js';
export { GuardedHttp } from './guarded/guarded-http.js';
export type { GuardedResponse } from './guarded/guarded-http.js';
export { dnsResolver } from './guarded/resolver.js';
export { gatewayConfig, gatewayConfigFault, providerAddresses, withFile } from './provider-addresses.js';
export { UndiciTransport } from './undici-transport.js';
