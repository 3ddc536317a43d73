import type { IncomingHttpHeaders } from 'node:http';
import type {
  ApiError,
  HeldKind,
  ModelType,
  ResponseLink,
  RoutingPolicy,
  StoredResponse,
} from '@gateway/contracts';
import type { Unsupported, ResultContext, RouteTarget, Translation } from '@gateway/dialects';
import type { BillableUnits, SentInput, UsageBound } from '@gateway/money';
import type { FileContent } from './stored/file-parts.js';
import type { StoredContentNeeded } from './stored/stored-content-needed.js';

/**
 * One inference endpoint: everything of it that is not the same for all. Adding one is one folder with a
 * `<folder>.endpoint.ts` that exports `endpoint`; no shared source file is edited (README).
 */
export interface Endpoint<Request = unknown> {
  /** Paths below /v1 and /openai/v1, for example `/chat/completions`. */
  readonly paths: readonly string[];
  /** Callers reach it through the service that runs its work: the edge serves it to other services alone. */
  readonly isInternal?: true;
  /** Permission that a scoped key needs. */
  readonly permission: string;
  /** Prefix of ids for answers whose provider gives none: `chatcmpl` makes `chatcmpl_…`. */
  readonly idPrefix: string;
  /** A header under which SDKs of the endpoint's family read the request id, beside X-Request-Id. */
  readonly requestIdHeader?: string;
  readonly docs: EndpointDocs;
  /** An answer says all there is of its request and may be given again, where the key asks for it. */
  readonly isCacheable?: true;
  /** Absent where no answer of the endpoint is an event stream. */
  readonly events?: EventFrames;
  /** Loads, once before the first request, what that request would wait for. */
  load?(): void;
  /** A path that only counts the input of a request, by the gateway's own estimate; nothing is called or billed. */
  readonly counts?: EndpointCounts<Request>;
  /** A repeat under its Idempotency-Key gets the first answer: of endpoints whose answers are whole, and cost much. */
  readonly answersOnce?: true;
  /** A provider may charge for what it has begun, whether its answer arrives: no second attempt unless nothing was begun. */
  readonly isCreate?: true;
  /** Absent where every answer is waited for. */
  readonly background?: EndpointBackground<Request>;
  /** The request with the bytes of all files that it names, by their ids, in their places; absent where it can name none. */
  withFiles?(
    asked: Asked<Request>,
    files: ReadonlyMap<string, FileContent>,
    headers: IncomingHttpHeaders,
  ): Asked<Request>;
  /** Absent where nothing is kept between requests. */
  readonly state?: EndpointState<Request>;
  /** Checks and decodes the body once. Throws the endpoint's own 400 or 422. */
  read(body: CallerBody): Asked<Request> | StoredContentNeeded;
  /** Cheap for a route that serves: the body of the upstream is made when it is first read. */
  translate(asked: Asked<Request>, route: RouteTarget): Translation | Unsupported;
}

/** The description of an endpoint in docs/openapi.json. */
interface EndpointDocs {
  readonly summary: string;
  /** Name of the body's schema, for example `ChatRequest`. */
  readonly schemaName: string;
  readonly schema: Readonly<Record<string, unknown>>;
  /** Media type of the body; absent = JSON. */
  readonly body?: 'multipart/form-data';
  /** Schema of the form, where a body of JSON may be sent as one too. */
  readonly form?: Readonly<Record<string, unknown>>;
  /** Media types of a good answer. */
  readonly answers: readonly string[];
  readonly description: string;
}

export interface EndpointCounts<Request = unknown> {
  /** Path below /v1 and /openai/v1. */
  readonly path: string;
  readonly summary: string;
  read(body: CallerBody): Asked<Request> | StoredContentNeeded;
  answer(inputTokens: number): Readonly<Record<string, unknown>>;
}

/** Requests whose answers are made later, by the service that runs long work. */
export interface EndpointBackground<Request = unknown> {
  /** False where the body cannot be one: cheap, because every request is looked at. */
  mayBe(bytes: Uint8Array): boolean;
  /** Reads as `read` does; returns null for a request that waits for its answer. */
  read(body: CallerBody): Asked<Request> | StoredContentNeeded | null;
  /** The body as it is run later: that of a stream that keeps nothing by itself. */
  body(asked: Asked<Request>): Record<string, unknown>;
  /** Returns the immediate answer. */
  begun(asked: Asked<Request>, of: { id: string; createdAt: number; model: string }): Record<string, unknown>;
}

/** State of an endpoint between requests. The answer's part is its `stored`. */
export interface EndpointState<Request = unknown> {
  /** Returns the response that the request continues, and the parameter that names it; null for none. */
  link(asked: Asked<Request>): { link: ResponseLink; param: string } | null;
  /** Items that the request names instead of holding them, each with its place; empty for none. */
  references(asked: Asked<Request>): { id: string; param: string }[];
  /** The request with these items in their places. */
  resolved(asked: Asked<Request>, items: ReadonlyMap<string, Record<string, unknown>>): Asked<Request>;
  /** The request with what was said before it. `isOwn`: who said it can serve this request too. */
  recalled(asked: Asked<Request>, items: readonly Record<string, unknown>[], isOwn: boolean): Asked<Request>;
  /** The request's part of what is kept. */
  storedRequest(asked: Asked<Request>): StoredRequest;
}

export interface StoredRequest extends Pick<
  StoredResponse,
  'input' | 'previous_response_id' | 'conversation_id'
> {
  /** False where the caller wants nothing kept: then its connection alone may remember it. */
  isStored: boolean;
}

/** Frames of an event stream that the gateway opens or ends by itself. */
interface EventFrames {
  /** Says nothing: sent into a silence, before the first event too. */
  readonly keepAlive: string;
  /** The in-band failure of a stream that has no answer; nothing follows. */
  failure(error: ApiError, requestId: string): string;
}

/** A body as it came: bytes of any content type, within the gateway's size limit. */
export interface CallerBody {
  readonly bytes: Uint8Array;
  readonly headers: IncomingHttpHeaders;
}

/** One member of a request that leaves routes out. */
export interface RouteLimit {
  /** The member, for the rejection: `provider.only`. */
  readonly param: string;
  readonly policy: Pick<
    RoutingPolicy,
    'only_providers' | 'ignore_providers' | 'max_price' | 'require_zero_retention'
  >;
}

/** Members of a request that order and narrow the routes that its key allows; none allows a route. */
export interface RouteChoice {
  /** The member that names the first model: `model` or `models.0`. */
  readonly param: string;
  /** Models that follow the first, in order, each with its member; null = those of the key's policy. */
  readonly models: readonly { readonly name: string; readonly param: string }[] | null;
  /** False: one provider and one model. */
  readonly allowFallbacks: boolean;
  readonly order: Pick<RoutingPolicy, 'provider_order' | 'sort'>;
  /** Limits of its members. A rejection names the first that leaves no route. */
  readonly limits: readonly RouteLimit[];
  /** True: a route that would ignore a parameter leaves the plan. */
  readonly requiresHints: boolean;
}

/** The members of a request that choose its model and its routes. */
interface AskedRouting {
  /** Name as the caller wrote it; null = the key's default model. */
  readonly model: string | null;
  /** Absent where the request says nothing of its routes. */
  readonly choice?: RouteChoice;
  /** `batch` is set by the gateway for lines of a batch. */
  readonly tier: 'default' | 'flex' | 'batch';
  /**
   * Abilities that a model needs for this endpoint at all; a model without them gets the status: 422 is
   * validation_error, others model_capability_not_supported.
   */
  readonly serves: Need & {
    readonly status: 400 | 422 | 501;
    /** Status where the model could serve, and no provider of it has a call for the request. Absent: the same. */
    readonly routeStatus?: 501;
  };
  /** Code for a model outside an allow-list; absent = model_not_found, which hides what is there. */
  readonly outsideAllowList?: 'forbidden';
  /** A further model that the caller must be allowed to use, whatever serves: 403 otherwise. */
  readonly alsoUses?: string;
  /** Hard requirements: a route whose model lacks one leaves the plan. */
  readonly requires: readonly Requirement[];
  /** Dialect in which nothing is translated: among routes of one price it goes first. */
  readonly dialect: string;
  /**
   * `<provider>`, `<provider>@<platform credential>` or `<provider>#<provider key>`: where it can serve, no other does, because what it encrypted is of
   * use there alone.
   */
  readonly credential?: string | null;
  /** Model that answered the turn before: an alias stays with it while it is a target. */
  readonly lastModel?: string;
  /** Requests of one account with the same key share a provider's cache: one credential serves them. Absent: any may. */
  readonly cacheKey?: string;
  /** A parameter that names an object at a provider: the operator's credential reaches those of every tenant. */
  readonly atProvider?: string;
  /**
   * Feature that the provider bills apart and that has no price here: only callers who pay that bill themselves may ask
   * for it.
   */
  readonly unpriced?: { readonly param: string; readonly value: string };
}

/** The members of a request that limits count and money is reserved by. */
interface AskedLimits {
  /** Work of more than one answer: the balance shows what it holds apart. */
  readonly heldAs?: HeldKind;
  /** Input sent, as far as an estimate of its tokens needs it. */
  readonly input: SentInput;
  /** Bytes of text that upstreams of `dialect` add to it; absent for none. */
  readonly nativeBytes?: number;
  /** Units that are known before the answer: what is sent, and what is asked for. */
  readonly billableUnits: BillableUnits;
  /** Seconds that a provider may report; absent where no recording is sent. */
  readonly recording?: Pick<UsageBound, 'audioSeconds' | 'measuredSeconds'>;
  /** null leaves it to the model; 0 where the answer has no output tokens. */
  readonly maxOutputTokens: number | null;
  /** `n`. */
  readonly choices: number;
  readonly writesCache: boolean;
  /** Size, quality and so on as asked for: what a price matrix looks at. */
  readonly context: ResultContext;
}

/** The members of a request about what it says, and how its answer is sent. */
interface AskedContent<Request> {
  /** The answer is an event stream: it may be opened before the first event, and is kept alive. */
  readonly stream: boolean;
  readonly endUser: string | null;
  /** Files that the body names and does not hold. */
  readonly files?: readonly { readonly id: string; readonly param: string }[];
  /** True where the body asks for an answer that is stored, here or at its provider; absent where it does not. */
  readonly isStored?: true;
  /** Members of the body that the endpoint does not read, whatever route serves: named in X-Service-Ignored-Params. */
  readonly unread?: readonly string[];
  /** The endpoint's own middle form. Only the endpoint and its dialects look at it. */
  readonly request: Request;
}

/** The part of a request that the rest of the gateway knows. Immutable: every attempt starts from it. */
export interface Asked<Request = unknown> extends AskedRouting, AskedLimits, AskedContent<Request> {}

/** A property of a model's catalogue record. */
export type Need =
  | { readonly flag: `supports_${string}` }
  /** All of these. */
  | { readonly flags: readonly `supports_${string}`[] }
  | { readonly type: ModelType }
  /** One of these is among the model's input modalities. */
  | { readonly input: readonly string[] }
  /** It is among the model's output modalities. */
  | { readonly output: string };

/**
 * `param` is the member of the body that asks for it, as the caller wrote it: named in the rejection, beside `what` where the
 * member does not say what it is that the model does not support.
 */
export type Requirement = Need & { readonly param: string; readonly what?: string };
