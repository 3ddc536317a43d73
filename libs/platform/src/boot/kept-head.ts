import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { resolveVersion } from '@gateway/api-version';
import { HEADER, type Credential } from '@gateway/contracts';
import { parseCredential } from '../auth/authenticator.js';
import { framingFault } from './framing.js';

/** Facts that a head says of a request without a doubt, and of the connection's next one with the same head. */
export interface PlainHead {
  credential: Credential;
  /** The version that the header names; null without one. */
  version: string | null;
}

/** The last head of a connection. */
interface KeptHead {
  rawHeaders: readonly string[];
  /** Null where Fastify has to judge requests with it. */
  head: PlainHead | null;
}

/** One per connection, forgotten with it; at most as large as a head may be. */
const heads = new WeakMap<Socket, KeptHead>();

/** Headers that differ from request to request, whose value says nothing of what is kept. */
const FREE: ReadonlySet<string> = new Set([
  'content-length',
  'traceparent',
  'tracestate',
  'x-request-id',
  'x-stainless-retry-count',
  HEADER.idempotencyKey.toLowerCase(),
]);
/** Headers whose presence leaves the request to Fastify. */
const ODD = ['transfer-encoding', 'content-encoding', 'expect', 'upgrade', 'trailer'] as const;
const JSON_TYPE = /^application\/json(?:; ?charset=utf-8)?$/i;
const SERVICE_VERSION = HEADER.serviceVersion.toLowerCase();

/** Returns the facts of a request's head; null where it is not plain. Reads it anew only where it is another than the last. */
export function plainHead(request: IncomingMessage): PlainHead | null {
  const { rawHeaders, socket } = request;
  const last = heads.get(socket);
  if (last !== undefined && isSame(last.rawHeaders, rawHeaders)) return last.head;
  const head = readHead(request);
  heads.set(socket, { rawHeaders, head });
  return head;
}

function isSame(last: readonly string[], now: readonly string[]): boolean {
  if (last.length !== now.length) return false;
  for (let at = 0; at < now.length; at += 1) {
    if (last[at] === now[at]) continue;
    // Names stand at even places; behind an equal name the value of some may be another.
    if (at % 2 === 0 || !FREE.has(now[at - 1].toLowerCase())) return false;
  }
  return true;
}

function readHead(request: IncomingMessage): PlainHead | null {
  const { headers } = request;
  if (!JSON_TYPE.test(headers['content-type'] ?? '') || ODD.some((name) => headers[name] !== undefined))
    return null;
  if (framingFault(request) !== null) return null;
  const version = headers[SERVICE_VERSION];
  try {
    return {
      credential: parseCredential(headers),
      version: version === undefined ? null : resolveVersion(version, null),
    };
  } catch {
    return null;
  }
}
