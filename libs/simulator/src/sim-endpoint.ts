import type { NativeError } from './error-table.js';
import type { JsonObject } from './json.js';
import type { Script } from './script.js';

/** One request of an endpoint that answers whole: images, speech, embeddings and the like. */
export interface SimRequest {
  /** Undefined where the body is no JSON object, as of a multipart form. */
  readonly json: JsonObject | undefined;
  readonly body: Buffer;
  readonly contentType: string;
  /** Path with its query. */
  readonly path: string;
  /** Origin at which the endpoint is called. */
  readonly origin: string;
  readonly script: Script;
  /** Twelve characters that make every id of this answer unique. */
  readonly id: string;
  /** Seconds since the epoch that its answer names as its birth. */
  readonly createdAt: number;
}

export interface SimAnswer {
  readonly contentType: string;
  readonly body: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * An endpoint beside the text dialects, in OpenAI's manners: credential, errors and scripts are those of chat. A folder
 * with a `<folder>.sim.ts` that exports `simulated`, one or a list; the registry is generated.
 */
export interface SimEndpoint {
  /** Ends of its paths, for example `/embeddings`; what matches them where they end with a name. */
  readonly path: string | RegExp | readonly string[];
  /** POST where it is absent. */
  readonly method?: 'GET' | 'PUT';
  /** True for an address without a credential, as a signed address. */
  readonly isOpen?: boolean;
  /** The answer is a function of the request and its script only; batches alone remember what was sent before. */
  answer(request: SimRequest): SimAnswer | NativeError;
}

export function isNativeError(answer: SimAnswer | NativeError): answer is NativeError {
  return 'status' in answer;
}
