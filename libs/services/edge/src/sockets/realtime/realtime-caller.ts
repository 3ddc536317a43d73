import type { IncomingMessage } from 'node:http';
import { ApiError, type Credential, type KeyPrincipal } from '@gateway/contracts';
import { credentialOf, credentialOfRequest, permit } from '@gateway/platform';
import type { ClientSecrets } from '../../inference/client-secrets.js';
import type { InferDeps } from '../../inference/infer-deps.js';
import { REALTIME } from './realtime-endpoint.js';

/** Browsers cannot set a header on a WebSocket: their key travels as a sub-protocol. */
const KEY_PROTOCOL = 'openai-insecure-api-key.';

/**
 * Returns the presented credential, with the session that a client secret was made for. Throws ApiError `unauthorized`.
 */
export function presentedBy(
  request: IncomingMessage,
  secrets: Pick<ClientSecrets, 'open'>,
): { credential: Credential; session: Record<string, unknown> | null } {
  const { authorization = '', 'sec-websocket-protocol': protocols = '' } = request.headers;
  const offered = protocols.split(',').map((name) => name.trim());
  const named = offered.find((name) => name.startsWith(KEY_PROTOCOL))?.slice(KEY_PROTOCOL.length);
  const granted = secrets.open(named ?? authorization.replace(/^bearer +/i, '').trim());
  if (granted !== null) return granted;
  return {
    credential: named === undefined ? credentialOfRequest(request) : credentialOf(named),
    session: null,
  };
}

/**
 * Returns the caller. Throws ApiError: whatever makes a key unusable is `invalid_api_key` here, but a missing scope.
 */
export async function realtimeCaller(
  credential: Credential,
  { principals, clock }: Pick<InferDeps, 'principals' | 'clock'>,
  isReload: boolean,
): Promise<KeyPrincipal> {
  const found = isReload ? await principals.reload(credential) : await principals.resolve(credential);
  if (found.kind !== 'key' || found.status === 'suspended') throw new ApiError('invalid_api_key');
  permit(found, { key: { permission: REALTIME.permission } }, clock);
  return found;
}
