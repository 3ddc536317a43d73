export { PROVIDERS } from './registry.generated.js';
export { namedAddress } from './named-address.js';
export { providerBaseUrl } from './provider.js';
export type { EnvReader, Provider, ProviderAccess } from './provider.js';
export { TransportFailure, UpstreamTransport } from './transport.js';
export type { SendOptions, TransportFault, UpstreamRequest, UpstreamResponse } from './transport.js';
export type { FailureSignal } from './failure/failure-signal.js';
export { scrub } from './failure/scrub.js';
export { checkCredential } from './credentials/check-credential.js';
export { readCredentials } from './credentials/read-credentials.js';
export {
  GatewayConfigError,
  isBuiltIn,
  NO_GATEWAY_CONFIG,
  readGatewayConfig,
} from './operator/gateway-config.js';
export type { GatewayConfig, OwnModel, OwnRoute } from './operator/gateway-config.js';
export { ownProviders } from './operator/own-provider.js';
