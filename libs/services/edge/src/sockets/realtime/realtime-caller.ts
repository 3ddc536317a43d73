import type { IncomingMessage } from 'node:http';
import { Inject, Injectable } from '@nestjs/common';
import {
  ApiError,
  PrincipalReader,
  type Clock,
  type Credential,
  type KeyPrincipal,
} from '@gateway/contracts';
import { CLOCK, credentialOf, credentialOfRequest, permit } from '@gateway/platform';
import { ClientSecrets } from '../../inference/client-secrets.js';
import { REALTIME } from './realtime-endpoint.js';

/** Browsers cannot set a header on a WebSocket: their key travels as a sub-protocol. */
const KEY_PROTOCOL = 'openai-insecure-api-key.';

/** Callers of realtime sessions, by key or by client secret. */
@Injectable()
export class RealtimeCallers {
  constructor(
    private readonly principals: PrincipalReader,
    private readonly secrets: ClientSecrets,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /**
   * Returns the presented credential, with the session that a client secret was made for. Throws ApiError `unauthorized`.
   */
  presentedBy(request: IncomingMessage): {
    credential: Credential;
    session: Record<string, unknown> | null;
  } {
    const { authorization = '', 'sec-websocket-protocol': protocols = '' } = request.headers;
    const offered = protocols.split(',').map((name) => name.trim());
    const named = offered.find((name) => name.startsWith(KEY_PROTOCOL))?.slice(KEY_PROTOCOL.length);
    const granted = this.secrets.open(named ?? authorization.replace(/^bearer +/i, '').trim());
    if (granted !== null) return granted;
    return {
      credential: named === undefined ? credentialOfRequest(request) : credentialOf(named),
      session: null,
    };
  }

  /**
   * Returns the caller. Throws ApiError: whatever makes a key unusable is `invalid_api_key` here, but a missing scope.
   */
  async of(credential: Credential, isReload: boolean): Promise<KeyPrincipal> {
    const { principals } = this;
    const found = isReload ? await principals.reload(credential) : await principals.resolve(credential);
    if (found.kind !== 'key' || found.status === 'suspended') throw new ApiError('invalid_api_key');
    permit(found, { key: { permission: REALTIME.permission } }, this.clock);
    return found;
  }
}
