import type { ApiError, DialectName, PriceTier, UnitUsage } from '@gateway/contracts';
import type { ReasoningStyle } from '@gateway/contracts';
import type { BodyFault, ParsedBody } from './body/parsed-body.js';
import type { ModelEvent } from './model-event.js';
import type { ModelRequest } from './model-request.js';

/** What an encoder of upstream requests needs to know of the route. */
export interface RouteTarget {
  upstreamModel: string;
  maxOutputTokens: number | null;
  contextLength: number;
  reasoning: ReasoningStyle;
  fixesSampling: boolean;
  /** The provider's habits over the dialect (wire-formats 5.12). */
  quirks: Quirks;
}

/** Differences of a provider from its dialect. Everything optional: absent = the dialect as published. */
export interface Quirks {
  /** Name of the output limit: OpenAI takes max_completion_tokens, many others only max_tokens. */
  maxTokensParam?: 'max_completion_tokens' | 'max_tokens';
  /** Top-level members of the dialect the provider refuses; dropped and reported where hints. */
  refuses?: readonly string[];
  /** Forward unknown members. */
  passthroughParams?: boolean;
  /** Send stream_options.include_usage on streams. Default true. */
  includeUsageOption?: boolean;
  /** Mistral: `any` for `required`. */
  requiredToolChoice?: 'required' | 'any';
  /** Mistral: random_seed. */
  seedParam?: string;
  /** How `reasoning` is asked for: default reasoning_effort; OpenRouter-like: a `reasoning` object. */
  reasoningParam?: 'reasoning_effort' | 'reasoning' | 'none';
  /** Reasoning tokens come on top of completion_tokens (xAI). */
  usageExcludesReasoning?: boolean;
  /** Tool call ids must match; others are replaced by a stable substitute. */
  toolCallIdPattern?: RegExp;
  /** Reasoning of earlier assistant turns is sent back as this member (DeepSeek: reasoning_content, with tools only). */
  returnsReasoning?: 'reasoning_content' | 'reasoning' | 'reasoning_details';
  systemRole?: 'system' | 'developer';
}

export interface EncodedRequest {
  /** Pieces to write in order: a large body is passed on with only the changed members spliced in. */
  body: readonly Uint8Array[];
  byteLength: number;
  /** Caller's parameters that this route ignored. */
  ignored: string[];
  /** Tool names the upstream knows in short, with the caller's own: the decoder of the answer takes it. */
  toolNames?: Readonly<Record<string, string>>;
}

/** Facts about the answer that the gateway, not the provider, knows. */
export interface AnswerFacts {
  requestId: string;
  /** Catalogue id that serves. */
  model: string;
  /** Unix seconds of the request, where the provider gives none. */
  created: number;
  /** Id for answers whose provider gives none that fits the front. */
  answerId: string;
  tier: PriceTier;
  byokUsed: boolean;
  fallbackTriggered: boolean;
  excludeReasoning: boolean;
  /** Top-level cache_creation_input_tokens of the one cloud provider's route (spec, usage rule 5). */
  deprecatedCacheKey: boolean;
  includeUsage: boolean;
  legacyFunctions: boolean;
  /**
   * Counts of an answer whose provider reported no whole usage: what it reported, completed by the estimate. Asked once,
   * when every event of the answer was seen.
   */
  estimatedUsage?: () => UnitUsage;
}

/** Reads upstream bytes of a stream. Never throws: failures are `error` events. */
export interface StreamDecoder {
  push(bytes: Uint8Array): ModelEvent[];
  /** The upstream closed: the last events, an `error` where the stream was cut. */
  end(): ModelEvent[];
}

/** Writes the caller's stream. Feeding it `end` closes a good stream; nothing follows `error`. */
export interface StreamEncoder {
  /** Frames for one event, "" for none. */
  write(event: ModelEvent): string;
  /** In-band error frame (wire-formats 1.4 S9, 2.4). */
  error(error: ApiError): string;
  keepAlive(): string;
}

/** Same dialect on both sides: decodes for the meter and passes edited frames on, unknown fields intact. */
export interface FrameEditor {
  push(bytes: Uint8Array): EditedFrame[];
  end(): EditedFrame[];
}

export interface EditedFrame {
  /** Bytes to send on as text; "" where the frame is held back or dropped. */
  frame: string;
  events: ModelEvent[];
}

/** What a caller's endpoint speaks. */
export interface Front {
  readonly dialect: DialectName;
  /** At the start of who serves it: makes what the first request would wait for. */
  load(): void;
  /** Checks and decodes a body. Throws ApiError validation_error (messages: invalid_request_error) with details. */
  readRequest(body: ParsedBody): ModelRequest;
  /** The error for a body that is no acceptable JSON object. */
  bodyError(fault: BodyFault): ApiError;
  /** The plain answer: the fold of the events up to `end`. */
  fold(events: Iterable<ModelEvent>, facts: AnswerFacts): Record<string, unknown>;
  streamEncoder(facts: AnswerFacts): StreamEncoder;
  errorBody(error: ApiError, requestId: string): unknown;
  /** Same-dialect plain answer: the parsed object edited in place. */
  editAnswer(answer: Record<string, unknown>, usage: UnitUsage, facts: AnswerFacts): Record<string, unknown>;
  /** `see` is told each event before the caller's frame is made of it. */
  frameEditor(decoder: StreamDecoder, facts: AnswerFacts, see?: (event: ModelEvent) => void): FrameEditor;
}

/** What an upstream speaks. */
export interface UpstreamDialect {
  readonly dialect: DialectName;
  /** From the middle form; from the caller's own bytes where the caller speaks the same dialect. */
  encodeRequest(request: ModelRequest, target: RouteTarget): EncodedRequest;
  /** Events of a plain answer, `end` or `error` last. Never throws. */
  decodeAnswer(body: unknown, target: RouteTarget, toolNames?: EncodedRequest['toolNames']): ModelEvent[];
  streamDecoder(target: RouteTarget, toolNames?: EncodedRequest['toolNames']): StreamDecoder;
}

/** One folder per dialect exports one of these. */
export interface Dialect {
  readonly name: DialectName;
  readonly front: Front;
  readonly upstream: UpstreamDialect;
}
