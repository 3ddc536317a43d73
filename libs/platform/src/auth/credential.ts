import type { IncomingHttpHeaders } from 'node:http';
import { ApiError, type Credential } from '@gateway/contracts';
import { isWellFormedSecret, secretDigest } from './secret.js';

const JWT_PATTERN = /^[A-Za-z0-9_-]{2,}\.[A-Za-z0-9_-]{2,}\.[A-Za-z0-9_-]+$/;
/** A session token holds a handful of claims; a longer one is not ours and is not worth a lookup. */
const TOKEN_MAX_LENGTH = 4_096;

/**
 * What the caller presented: `Authorization: Bearer <…>` or, as the Anthropic SDKs send it, `x-api-key`.
 * Form and checksum are checked here. Throws ApiError `unauthorized` where it is missing or malformed.
 */
export function parseCredential(headers: IncomingHttpHeaders): Credential {
  return credentialOf(presented(headers));
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
