import type { IncomingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import { ApiError, type Credential } from '@gateway/contracts';
import { isWellFormedSecret, secretDigest } from './secret.js';

const JWT_PATTERN = /^[A-Za-z0-9_-]{2,}\.[A-Za-z0-9_-]{2,}\.[A-Za-z0-9_-]+$/;
/** A session token holds a handful of claims; a longer one is not ours and is not worth a lookup. */
const TOKEN_MAX_LENGTH = 4_096;

/**
 * Parses the presented credential: `Authorization: Bearer <…>` or, as the Anthropic SDKs send it, `x-api-key`. Form and
 * checksum are checked here. Throws ApiError `unauthorized` where it is missing or malformed.
 */
export function parseCredential(headers: IncomingHttpHeaders): Credential {
  return credentialOf(presented(headers));
}

/** The credential that a connection presented last. */
interface Presented {
  authorization: string | undefined;
  apiKey: string | string[] | undefined;
  credential: Credential;
}

/** One per connection, forgotten with it. */
const presentedLast = new WeakMap<Socket, Presented>();

/**
 * The same for a request. A kept connection that presents the same text again gets the same Credential object, without
 * checking and hashing it once more. Says nothing of the principal, which is looked up for every request.
 */
export function credentialOfRequest(request: { headers: IncomingHttpHeaders; socket: Socket }): Credential {
  const { headers, socket } = request;
  const { authorization, 'x-api-key': apiKey } = headers;
  const last = presentedLast.get(socket);
  if (last !== undefined && last.authorization === authorization && last.apiKey === apiKey)
    return last.credential;
  const credential = parseCredential(headers);
  presentedLast.set(socket, { authorization, apiKey, credential });
  return credential;
}

/** The same for text that came another way, for example a realtime subprotocol. */
export function credentialOf(text: string): Credential {
  if (text.startsWith('rsk_') || text.startsWith('mak_')) {
    if (!isWellFormedSecret(text)) throw new ApiError('unauthorized');
    const digest = secretDigest(text);
    return text.startsWith('rsk_') ? { kind: 'key', digest } : { kind: 'admin_key', digest };
  }
  if (text.length > TOKEN_MAX_LENGTH || !JWT_PATTERN.test(text)) throw new ApiError('unauthorized');
  return { kind: 'session', token: text };
}

function presented(headers: IncomingHttpHeaders): string {
  const { authorization } = headers;
  if (authorization !== undefined) {
    const match = /^bearer +(\S+) *$/i.exec(authorization);
    if (match === null) throw new ApiError('unauthorized');
    return match[1];
  }
  const apiKey = headers['x-api-key'];
  if (typeof apiKey !== 'string') throw new ApiError('unauthorized');
  return apiKey.trim();
}
