import type { IncomingMessage } from 'node:http';
import { ApiError, type Credential, type KeyPrincipal } from '@gateway/contracts';
import { credentialOf, credentialOfRequest, permit } from '@gateway/platform';
import type { EndpointDeps } from '../../inference/endpoint.js';
import { REALTIME } from './realtime-endpoint.js';

/** Browsers cannot set a header on a WebSocket: their key travels as a sub-protocol. */
const KEY_PROTOCOL = 'openai-insecure-api-key.';

/** What the caller presented. Throws ApiError `unauthorized`. */
export function presentedBy(request: IncomingMessage): Credential {
  const offered = (request.headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
  const key = offered.find((name) => name.startsWith(KEY_PROTOCOL));
  return key === undefined ? credentialOfRequest(request) : credentialOf(key.slice(KEY_PROTOCOL.length));
}

/** Who calls. Throws ApiError: whatever makes a key unusable is `invalid_api_key` here, but a missing scope. */
export async function realtimeCaller(
  credential: Credential,
  { principals, clock }: Pick<EndpointDeps, 'principals' | 'clock'>,
  isReload: boolean,
): Promise<KeyPrincipal> {
  const found = isReload ? await principals.reload(credential) : await principals.resolve(credential);
  if (found.kind !== 'key' || found.status === 'suspended') throw new ApiError('invalid_api_key');
  permit(found, { key: { permission: REALTIME.permission } }, clock);
  return found;
}
