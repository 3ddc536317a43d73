import type { ApiError } from '@gateway/contracts';
import type { BodyFault, ParsedBody } from '@gateway/json-body';
import type { SseEvent } from '../sse/sse-parser.js';
import type { AnswerFacts, RouteTarget } from '../translation/translation.js';
import type { UpstreamBody } from '../translation/upstream-body.js';
import type { ModelEvent } from './model-event.js';
import type { ModelRequest } from './model-request.js';

/** One folder of text/ exports one of these. A format that no endpoint of ours speaks has no caller's side. */
export interface TextDialect {
  /** Name that the catalogue's routes use for it. */
  readonly name: string;
  readonly upstream: TextUpstream;
  readonly caller?: TextCaller;
}

/** The format of an upstream. */
export interface TextUpstream {
  /** Content type of its streams; absent = text/event-stream. */
  readonly streamType?: string;
  /** The first requirement that this format, or the provider in it, cannot carry, as the caller named it; null for none. */
  unsupported(request: ModelRequest, target: RouteTarget): string | null;
  /** The most stop sequences of another format that it takes; absent = as many as come. */
  stopMax?(target: RouteTarget): number;
  /**
   * Encodes from the middle form; from the caller's own bytes where the caller speaks the same dialect. Throws ApiError
   * where a part of the request has no meaning here.
   */
  encode(request: ModelRequest, target: RouteTarget): EncodedRequest;
  decoder(target: RouteTarget, toolNames?: EncodedRequest['toolNames']): AnswerDecoder;
}

export interface EncodedRequest {
  request: UpstreamBody;
  /** Caller's parameters that this route ignores. */
  ignored: string[];
  /** Tool names that the upstream knows in short, with the caller's own: the decoder of the answer takes it. */
  toolNames?: Readonly<Record<string, string>>;
}

/** One upstream frame, or a whole answer, parsed once. */
export interface Decoded {
  events: ModelEvent[];
  /** The parsed object, for a caller of the same dialect: members that nobody knows survive. Null where there is none. */
  raw: Record<string, unknown> | null;
  /** The frame of a stream as it came. */
  source: SseEvent | null;
  /** The text of a whole answer, where it may be written again as it stands there. */
  text?: string;
}

/** Reads an answer. Never throws: failures are `error` events. Used either for a whole answer or for a stream. */
export interface AnswerDecoder {
  /** Events of a plain answer, `end` or `error` last. `text` is what `body` was parsed of. */
  whole(body: Record<string, unknown>, text?: string): Decoded;
  push(bytes: Uint8Array): Decoded[];
  /** The upstream closed: the last events, an `error` where the stream was cut. */
  end(): Decoded[];
}

/** The format of a caller's endpoint. */
export interface TextCaller {
  /** JSON Schema of a request. */
  readonly schema: Record<string, unknown>;
  /** Loads, before the first request, what that request would wait for. */
  load(): void;
  /** Checks and decodes a body. Throws ApiError validation_error (messages: invalid_request_error) with details. */
  read(body: ParsedBody): ModelRequest;
  /** The error for a body that is no acceptable JSON object. */
  bodyError(fault: BodyFault): ApiError;
  /** `isNative`: the upstream speaks this dialect, so frames are edited and members that nobody knows are kept. */
  encoder(facts: TextFacts, isNative: boolean, request: ModelRequest): AnswerEncoder;
  /** A frame that says nothing, for a silence. */
  readonly keepAlive: string;
  /** Returns the in-band error frame; nothing follows. */
  errorFrame(error: ApiError, requestId: string): string;
}

/** Writes the caller's answer. All events of a frame have been counted before it is written. */
export interface AnswerEncoder {
  /** The plain answer. */
  whole(answer: Decoded): Record<string, unknown>;
  /** False where JSON.stringify writes the plain answer without loss; absent where that is not known. */
  readonly isSpelled?: boolean;
  /** Frames of the caller's stream, "" for none. Nothing follows a frame whose events end in `end` or `error`. */
  write(frame: Decoded): string;
  /** The whole answer as it is kept, once it was written. */
  readonly stored?: Record<string, unknown> | null;
  /** Returns in-band error frames of a stream that continue what was written; absent where `errorFrame` suffices. */
  fail?(error: ApiError, requestId: string): string;
}

/** The facts that an encoder needs beside the events. */
export interface TextFacts extends AnswerFacts {
  excludeReasoning: boolean;
  deprecatedCacheKey: boolean;
  includeUsage: boolean;
  legacyFunctions: boolean;
  /** Stop sequences of the caller; absent where they are not known. */
  stop?: readonly string[];
}
