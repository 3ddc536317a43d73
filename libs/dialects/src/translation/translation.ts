import type { ApiError, PriceRecord, PriceTier, ReasoningStyle, UnitUsage } from '@gateway/contracts';
import type { ContextValue } from '@gateway/money';
import type { UpstreamBody } from './upstream-body.js';

/**
 * Differences of a provider from the dialect that it speaks. Everything is optional: absent = the dialect as published.
 * A family of dialects declares its own members in its folder (`declare module`, see text/text-quirks.ts).
 */
export interface Quirks {
  /** Top-level members of a request that the provider refuses: dropped and reported, or a misfit where they are no hints. */
  refuses?: readonly string[];
  /** Name under which the upstream is asked for the route's model; absent = the route's own. */
  upstreamName?: string;
  /** Forward unknown members. */
  passthroughParams?: boolean;
  /** True for the provider that makes the dialect: it is sent flags and members that are newer than this release. */
  takesNewer?: boolean;
}

/** The facts of the route that a translation needs. */
export interface RouteTarget {
  /** Name of the wire format that the upstream speaks: a folder of a family. */
  dialect: string;
  upstreamModel: string;
  maxOutputTokens: number | null;
  contextLength: number;
  reasoning: ReasoningStyle;
  fixesSampling: boolean;
  quirks: Quirks;
  /** Price, where the counts of an answer depend on what is billed. */
  price?: PriceRecord;
  /** The provider's own words as a caller may read them: by its name, without credentials. Absent: as they are. */
  said?: (words: string) => string;
}

/** This route cannot serve this request, and leaves the plan. */
export class Unsupported {
  /** `param` is the caller's parameter that says so; null where the endpoint has no way to the route's dialect at all. */
  constructor(
    readonly param: string | null,
    /** Value that the route lacks: the type of a tool. */
    readonly value?: string,
    /** Words for it, where neither says it: `texts of more than 2,000 characters`. */
    readonly what?: string,
  ) {}
}

/**
 * One request translated for one route: what is sent, and how its answer becomes the caller's. Immutable: each attempt
 * of the route begins an answer of its own.
 */
export interface Translation {
  /**
   * Request, made when it is first read; throws ApiError where a part of the request has no meaning in the route's
   * dialect.
   */
  readonly request: UpstreamBody;
  /** Makes the request now, and throws as `request` does. Absent where it was made with the translation. */
  prepare?(): void;
  /** Parameters of the caller that this route ignores. Known once `request` was read. */
  readonly ignored: readonly string[];
  /** The caller's parameter that this route is sent, and that names an object at its provider. Absent for none. */
  readonly atProvider?: string;
  /** Runs in place of `request` and `begin`, where one call is not enough. */
  readonly exchange?: Exchange;
  /** An answer with a status of 2xx has begun. */
  begin(head: AnswerHead, facts: AnswerFacts): Answer;
}

export interface AnswerHead {
  status: number;
  /** "" where the upstream named none. */
  contentType: string;
  /** All of them, in lower case, where the answer has any. */
  headers?: Readonly<Record<string, string>>;
}

/** Facts about the answer that the gateway, not the provider, knows. */
export interface AnswerFacts {
  requestId: string;
  /** Catalogue id that serves. */
  model: string;
  /** Unix seconds of the request, for answers whose provider gives no time. */
  created: number;
  /** Unix seconds now. */
  now: () => number;
  /**
   * Returns an id for answers whose provider gives none that fits the endpoint: the same each time, and made when it is
   * first asked for.
   */
  answerId: () => string;
  tier: PriceTier;
  byokUsed: boolean;
  fallbackTriggered: boolean;
  /**
   * Returns the plausible ones of the reported counts, as the caller is shown them. One that is missing is 0 there,
   * whatever is billed.
   */
  believed(reported: UnitUsage): UnitUsage;
}

/** One answer of an upstream, decoded exactly once, as bytes for the caller. */
export interface Answer {
  /** The upstream's body is read to its end and pushed once; `end` is not called. */
  readonly isWhole: boolean;
  /** Headers of the caller's answer: the content type, and what else belongs to its framing. */
  readonly headers: Readonly<Record<string, string>>;
  /** Part of a whole answer that an endpoint stores. */
  readonly stored?: Readonly<Record<string, unknown>> | null;
  /** Reads a chunk and never throws: a body that cannot be read is a `failure`. Nothing follows `end` or `failure`. */
  push(chunk: Uint8Array): Piece[];
  /** The upstream closed: the last pieces, `end` or `failure` last. */
  end(): Piece[];
  /** Returns the in-band frames for an answer that broke off; null where it can only be cut. */
  fail(error: ApiError): string | null;
}

/**
 * A step of an answer. The first `part` or `end` commits: from then on no other attempt is made. An `opening` begins the
 * answer and says nothing yet; it waits for what follows while another route is left, and commits where none is.
 */
export type Piece = PieceFacts &
  ({ kind: 'wait' | 'opening' | 'part' | 'end' } | { kind: 'failure'; failure: AnswerFailure });

interface PieceFacts {
  /** Bytes for the caller now, "" for none. */
  out: string | Uint8Array;
  /**
   * Totals so far; a later report replaces an earlier one. A side that is left out is estimated, so 0 is said as 0:
   * beside text it is estimated, too.
   */
  usage?: UnitUsage;
  /** UTF-8 bytes of text, tool arguments and reasoning up to here: what an estimate of the output counts. */
  deliveredBytes?: number;
  /** True for text answers, whose tokens are never 0. */
  isText?: boolean;
  /** The upstream said how the answer ends: its usage may still come. */
  finishSeen?: boolean;
  /** Finish reasons of the choices that ended here, of text answers. */
  finishReasons?: string[];
  /** Size, quality and so on of the result where the provider reports other than was asked for. */
  context?: ResultContext;
}

/** The facts that a price matrix reads: size, quality, resolution, duration and so on. */
export type ResultContext = Readonly<Record<string, ContextValue>>;

/** Raw material for a provider's classification: what the answer said when it failed. */
export interface AnswerFailure {
  kind: 'in_band' | 'bad_response' | 'connection';
  /** The provider's error object where there was one. */
  body: unknown;
  /** Status that the provider named in-band, where it did. */
  status: number | null;
  message: string;
}

/** An answer that takes several calls of its provider, or work beside them: tasks that are polled, results that are fetched. */
export type Exchange = (calls: UpstreamCalls, facts: AnswerFacts) => Promise<Exchanged>;

/** The caller's answer, whole. */
export interface Exchanged {
  readonly headers: Readonly<Record<string, string>>;
  readonly piece: Piece;
}

/** The calls that an exchange may make. All of it ends with the attempt's deadline and with the caller. */
export interface UpstreamCalls {
  /** The account of the request; the signal is aborted when the caller leaves. */
  readonly caller: { readonly accountId: string; readonly signal: AbortSignal };
  /** One call with the credential. A status beyond 2xx ends the attempt with what the provider said. */
  send(request: UpstreamBody): Promise<UpstreamReply>;
  /** A result at the address that the provider's answer named, without a credential: at its own hosts only. */
  download(url: string): Promise<UpstreamReply>;
  sleep(ms: number): Promise<void>;
  /** The provider has taken work over and calls it so: kept by whoever waits for it, where somebody does. */
  note(task: string): Promise<void>;
  /** Keeps a result for the caller, and answers the address that gives it for an hour. Throws ApiError service_unavailable. */
  keep(name: string, bytes: Uint8Array): Promise<string>;
}

export interface UpstreamReply {
  readonly status: number;
  /** "" where the upstream named none. */
  readonly contentType: string;
  readonly bytes: Uint8Array;
}
