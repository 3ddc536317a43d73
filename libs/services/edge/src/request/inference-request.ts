import type { IncomingHttpHeaders } from 'node:http';
import {
  ApiError,
  HEADER,
  type GivenAnswer,
  type KeyPrincipal,
  type RecalledItems,
  type ResponseLink,
  type ShadowOf,
  type StoredResponse,
} from '@gateway/contracts';
import type { Endpoint } from '@gateway/endpoints';

/** One turn's way to what was said before it on the same connection. */
export interface TurnMemory {
  recall(link: ResponseLink, look: () => Promise<RecalledItems | null>): Promise<RecalledItems | null>;
  store(response: StoredResponse): void;
}

/** One request for inference, authenticated, before its body is looked at. */
export interface InferenceRequest {
  readonly requestId: string;
  /** Number of the unit within the request: 0 but for requests of several units. */
  readonly unitIndex: number;
  readonly endpoint: Endpoint;
  /** The endpoint's path as records name it, for example /v1/chat/completions. */
  readonly path: string;
  readonly principal: KeyPrincipal;
  readonly apiVersion: string;
  /** Milliseconds since the epoch, and on the clock that only grows. */
  readonly receivedAtMs: number;
  readonly startedMs: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Uint8Array;
  readonly origin: Origin;
  /** Reads the principal again, past every cache; throws where the key may no longer call. */
  reload(): Promise<KeyPrincipal>;
}

/** Source of a request, with the members that only such requests have. */
export interface Origin {
  /**
   * `batch` and `background` are requests of other services, for a line of a batch and for any longer work. `given`: the
   * provider has answered it already, in a batch of its own. `shadow` repeats a caller's request for the platform.
   */
  readonly kind: 'http' | 'socket' | 'batch' | 'background' | 'given' | 'shadow';
  /** Present for `given`. */
  readonly answer?: GivenAnswer;
  /** Present for `shadow`. */
  readonly shadowOf?: ShadowOf;
  /** Memory of the earlier requests of a socket or a background run. */
  readonly memory?: TurnMemory;
  /** Receives the whole answer before the unit ends. Where it throws, the request has failed and costs nothing. */
  readonly store?: (out: string | Uint8Array) => Promise<void>;
  /** Receives the work that a provider has taken over, before it is waited for. */
  readonly note?: (task: TakenTask) => Promise<void>;
  /** Called once the request is a unit: whatever becomes of it has an event. */
  readonly opened?: () => void;
  /** True for a line of a batch: at the batch tier, of models that take batches. */
  readonly isBatch?: boolean;
}

interface TakenTask {
  credential: string;
  state: string;
  ignored: readonly string[];
}

/** The origin of a request that came by HTTP and needs nothing more. */
export const HTTP: Origin = { kind: 'http' };

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
