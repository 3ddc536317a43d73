import type { IncomingHttpHeaders } from 'node:http';
import {
  ApiError,
  HEADER,
  type GivenAnswer,
  type KeyPrincipal,
  type RecalledItems,
  type ResponseLink,
  type StoredResponse,
} from '@gateway/contracts';
import type { Endpoint, EndpointState } from '@gateway/endpoints';

/** One turn's way to what was said before it on the same connection. */
export interface TurnMemory {
  recall(link: ResponseLink, look: () => Promise<RecalledItems | null>): Promise<RecalledItems | null>;
  keep(response: StoredResponse): void;
}

/** One request of a caller, authenticated, before its body is looked at. */
export interface Call {
  requestId: string;
  /** Number of the unit within the request: 0 but for requests of several units. */
  unit: number;
  endpoint: Endpoint;
  /** The endpoint's path as records name it, for example /v1/chat/completions. */
  path: string;
  principal: KeyPrincipal;
  apiVersion: string;
  /** Milliseconds since the epoch, and on the clock that only grows. */
  receivedAtMs: number;
  startedMs: number;
  headers: IncomingHttpHeaders;
  /** The key's own until the headers were read, then with the request's. */
  tags: Record<string, string>;
  bytes: Uint8Array;
  /** Record to store once the request is answered; null for none. */
  record: ReturnType<EndpointState['record']> | null;
  /** Memory of its connection's earlier requests; null for a connection without one. */
  memory: TurnMemory | null;
  /** Gets to know the work that a provider has taken over, before it is waited for. */
  note?: (task: { credential: string; state: string; ignored: readonly string[] }) => Promise<void>;
  /** Gets to know that it is a unit by now: whatever becomes of it has an event. */
  opened?: () => void;
  /** Gets a whole answer before the unit ends: where it throws, the request has failed and costs nothing. */
  keep?: (out: string | Uint8Array) => Promise<void>;
  /** A line of a batch: at its tier, of models that take batches. */
  isBatch?: true;
  /** Answer that its provider has already given, in a batch of its own. */
  given?: GivenAnswer;
  /** Reads the principal again, past every cache; throws where the key may no longer call. */
  reload(): Promise<KeyPrincipal>;
}

const REQUEST_TAGS = HEADER.requestTags.toLowerCase();
const TAGS_MAX = 16;
const TAG_LENGTH_MAX = 512;

/** `k=v,k2=v2`, at most 16, over the key's own tags. Throws validation_error. */
export function requestTags(headers: IncomingHttpHeaders, principal: KeyPrincipal): Record<string, string> {
  const header = headers[REQUEST_TAGS];
  if (typeof header !== 'string' || header.trim() === '') return principal.requestTags;
  const tags: Record<string, string> = { ...principal.requestTags };
  const pairs = header.split(',');
  const fault = (msg: string): ApiError =>
    new ApiError('validation_error', {
      message: msg,
      details: [{ type: 'tags_invalid', loc: ['header', HEADER.requestTags], msg }],
    });
  if (pairs.length > TAGS_MAX) throw fault(`at most ${TAGS_MAX} request tags`);
  for (const pair of pairs) {
    const at = pair.indexOf('=');
    const name = pair.slice(0, Math.max(0, at)).trim();
    const value = pair.slice(at + 1).trim();
    if (name === '' || name === '__proto__' || name.length > 64 || value.length > TAG_LENGTH_MAX)
      throw fault('request tags have the form name=value');
    tags[name] = value;
  }
  return tags;
}
