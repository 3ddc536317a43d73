import {
  ApiError,
  newAnswerId,
  UpstreamError,
  type Clock,
  type ObjectStore,
  type ProviderKeyGrant,
  type Random,
} from '@gateway/contracts';
import {
  ExchangeFailure,
  wholeAnswer,
  type Answer,
  type AnswerFacts,
  type AnswerFailure,
  type Exchange,
  type Piece,
  type UpstreamBody,
} from '@gateway/dialects';
import {
  TransportFailure,
  type FailureSignal,
  type ProviderAccess,
  type SendOptions,
  type UpstreamResponse,
  type UpstreamTransport,
} from '@gateway/providers';
import { usageBound } from '@gateway/money';
import { credentialOf, type PlannedRoute } from '@gateway/routing';
import type { EdgeConfig } from '../config/edge.config.js';
import type { Client } from '../request/client.js';
import { Meter } from '../units/meter.js';
import type { AttemptState, Unit } from '../units/unit.js';
import { AttemptCalls } from './attempt-calls.js';
import { givenResponse } from './given-response.js';
import type { OpenedKeys } from './opened-keys.js';
import { withOwnParam } from './own-param.js';
import type { ProviderAlarms } from './provider-alarms.js';

export interface AttemptDeps {
  clock: Clock;
  random: Random;
  transport: UpstreamTransport;
  /** Address and credential of the platform per provider slug. */
  access: ReadonlyMap<string, ProviderAccess>;
  /** Address per provider slug for customers' own keys. */
  addresses: ReadonlyMap<string, string>;
  openedKeys: OpenedKeys;
  config: EdgeConfig;
  alarms: ProviderAlarms;
  objects: ObjectStore;
}

export interface AttemptInput {
  unit: Unit;
  planned: PlannedRoute;
  n: number;
  /** Client; bytes after its disconnect are not delivered, and not billed as delivered. */
  client: Client;
  /** Rest of the caller's own total bound, in milliseconds. */
  remainingMs: number;
  /** Another route follows: openings wait for what follows them, because that one may still serve. */
  hasNext: boolean;
}

const ANSWER_BYTES_MAX = 67_108_864;
const ERROR_BYTES_MAX = 65_536;

/** Bytes of openings that wait for what follows them; beyond, they commit. */
const HELD_BYTES_MAX = 65_536;

/**
 * One try of one route, up to the first piece of its answer that commits. Throws UpstreamError, noted on the unit's
 * attempt.
 */
export async function tryRoute(input: AttemptInput, deps: AttemptDeps): Promise<Attempt> {
  const { client, planned, remainingMs, unit } = input;
  const { signal } = client.upstream;
  // Nothing is sent for a caller that has gone or whose time is over: such an attempt is none.
  if (signal.aborted) throw givenUp(planned, signal);
  if (remainingMs <= 0) throw new ApiError('gateway_timeout', { providerCode: 'provider_timeout' });
  const attempt = new Attempt(input, deps);
  unit.attempts.push(attempt.state);
  try {
    await attempt.run();
    return attempt;
  } catch (error) {
    attempt.state.endedMs = deps.clock.monotonic();
    if (error instanceof UpstreamError && !signal.aborted) {
      note(attempt.state, error);
      deps.alarms.see(planned, error, unit.call.requestId);
    } else if (error instanceof ApiError) attempt.state.errorCode = error.code;
    throw error;
  }
}

function givenUp(planned: PlannedRoute, { reason }: AbortSignal): UpstreamError {
  const failure = new TransportFailure('aborted', reason);
  return planned.provider.classify({ kind: 'transport', failure, byok: planned.terms.byok.served });
}

/** Writes what an attempt failed with onto its record. */
export function note(state: AttemptState, { options }: UpstreamError): void {
  state.errorCode = options.code;
  state.providerCode = options.providerCode ?? null;
  state.errorMessage = options.message;
  // Where the failure has none of its own, such as a stream that broke, the one that came stays.
  state.httpStatus = options.httpStatus ?? state.httpStatus;
  state.notBegun = options.notBegun ?? null;
  state.isFault = options.countsAsFault;
}

/** A try of a route, and the answer that it brings piece by piece. */
export class Attempt {
  readonly state: AttemptState;
  /** Pieces that committed, set by `run`, and the answer that they belong to. */
  first: Piece[] = [];
  answer!: Answer;
  private response: UpstreamResponse | null = null;
  private chunks: AsyncIterator<Uint8Array> | null = null;
  private isClosed = false;

  constructor(
    private readonly input: AttemptInput,
    private readonly deps: AttemptDeps,
  ) {
    const { planned, n, unit } = input;
    const { input: sent, recording } = unit.admitted.asked;
    this.state = {
      planned,
      n,
      startedAtMs: deps.clock.now(),
      startedMs: deps.clock.monotonic(),
      firstEventMs: null,
      endedMs: null,
      httpStatus: null,
      errorCode: null,
      providerCode: null,
      errorMessage: null,
      notBegun: null,
      isFault: false,
      meter: new Meter(sent, { ...usageBound(planned.route, sent.inputBytes), ...recording }),
    };
  }

  /** Sends the request and reads up to the first piece that commits. */
  async run(): Promise<void> {
    const { state } = this;
    const { translation } = state.planned;
    if (translation.exchange) return this.runExchange(translation.exchange);
    const response = await this.send(translation.request, this.bounds());
    state.httpStatus = response.status;
    if (!isGood(response)) throw await this.refused(response);
    this.response = response;
    state.meter.answeredAtMs = this.deps.clock.monotonic();
    const { status, headers } = response;
    const head = { status, contentType: headers['content-type'] ?? '', headers };
    this.answer = translation.begin(head, this.facts());
    const { failure, beganMs } = await this.opened();
    if (failure !== null) {
      response.cancel();
      if (this.isClosed && failure.kind === 'connection')
        throw this.classify({ kind: 'bad_response', message: 'the stream held no answer.' });
      throw this.failed(failure);
    }
    state.firstEventMs = beganMs;
    if (this.answer.isWhole) state.endedMs = state.firstEventMs;
  }

  /** Reads until the answer commits, or fails before. Openings are kept for the caller; those of a failure nobody sees. */
  private async opened(): Promise<{ failure: AnswerFailure | null; beganMs: number }> {
    const { hasNext } = this.input;
    let beganMs: number | null = null;
    let heldBytes = 0;
    for (;;) {
      const pieces = await this.next();
      const nowMs = this.deps.clock.monotonic();
      for (const piece of pieces) {
        if (piece.kind !== 'wait') beganMs ??= nowMs;
        if (piece.out.length > 0 || piece.kind !== 'wait') this.first.push(piece);
        heldBytes += piece.out.length;
      }
      const isFull = heldBytes > HELD_BYTES_MAX;
      const decisive = pieces.find(({ kind }) => kind !== 'wait' && (kind !== 'opening' || !hasNext));
      if (decisive?.kind === 'failure') return { failure: decisive.failure, beganMs: beganMs ?? nowMs };
      if (decisive !== undefined || isFull) return { failure: null, beganMs: beganMs ?? nowMs };
    }
  }

  /** The next pieces; after the first ones, a transport that breaks is thrown as it is. */
  async next(): Promise<Piece[]> {
    const { answer, response } = this;
    if (response === null) throw new TypeError('an attempt without an answer has no pieces');
    let pieces: Piece[];
    try {
      if (answer.isWhole) pieces = answer.push(await response.bytes());
      else {
        this.chunks ??= response.chunks()[Symbol.asyncIterator]();
        const chunk = await this.chunks.next();
        pieces = chunk.done === true ? answer.end() : answer.push(chunk.value);
        if (chunk.done === true && !pieces.some(({ kind }) => kind === 'end' || kind === 'failure'))
          throw new TypeError('an answer ended without end or failure');
        this.isClosed = chunk.done === true;
      }
    } catch (error) {
      throw this.transportFailed(error);
    }
    this.measure(pieces);
    return pieces;
  }

  /** Returns the answer's own error as the provider's failure. */
  failed(failure: AnswerFailure): UpstreamError {
    if (failure.kind === 'bad_response')
      return this.classify({ kind: 'bad_response', message: failure.message });
    return this.classify({ kind: 'stream', failure });
  }

  /** Closes what is left of the upstream's answer. */
  close(): void {
    void this.chunks?.return?.();
  }

  /** The one place where an attempt is metered. */
  private measure(pieces: readonly Piece[]): void {
    const { client, planned, unit } = this.input;
    const { meter } = this.state;
    const nowMs = this.deps.clock.monotonic();
    const wasDoubted = meter.isDoubted;
    for (const piece of pieces) meter.see(piece, nowMs, client.isGone);
    if (meter.isDoubted && !wasDoubted) this.deps.alarms.doubt(planned, unit.call.requestId);
  }

  /** Several calls, whose answer comes in one piece. */
  private async runExchange(exchange: Exchange): Promise<void> {
    const { state, deps } = this;
    const { client, planned, unit } = this.input;
    const { provider } = planned.route;
    const own = planned.providerKey === undefined ? deps.access.get(provider)?.baseUrl : undefined;
    let isTaken = false;
    let isBegun = false;
    const calls = new AttemptCalls({
      baseUrl: own ?? deps.addresses.get(provider) ?? planned.provider.defaultBaseUrl,
      hosts: planned.provider.hosts?.results ?? [],
      bounds: this.bounds(),
      signal: client.upstream.signal,
      clock: deps.clock,
      note: async (state) => {
        isTaken = true;
        const ignored = [...(unit.admitted.asked.unread ?? []), ...planned.translation.ignored];
        await unit.call.note?.({ credential: credentialOf(planned), state, ignored });
      },
      accountId: unit.admitted.principal.accountId,
      objects: deps.objects,
      send: async (request, bounds) => {
        // What is asked of it next is about work that it has begun.
        if (isBegun) isTaken = true;
        const response = await this.good(await this.send(request, bounds));
        isBegun = unit.call.endpoint.isCreate === true && request.method !== 'GET';
        return response;
      },
      fetch: async (request, bounds) => this.good(await deps.transport.send(request, bounds)),
    });
    try {
      const { headers, piece } = await exchange(calls, this.facts());
      this.first = [piece];
      this.answer = wholeAnswer(headers);
    } catch (error) {
      const isAnswered = error instanceof ExchangeFailure;
      const failure = isAnswered ? this.failed(error.failure) : this.transportFailed(error);
      // The provider works on, and is paid: another attempt would pay for a second result.
      const isFinal = isTaken && (!isAnswered || unit.call.endpoint.isCreate === true);
      throw isFinal && failure instanceof UpstreamError ? withoutRetry(failure) : failure;
    }
    this.measure(this.first);
    state.firstEventMs = deps.clock.monotonic();
    state.endedMs = state.firstEventMs;
  }

  private async good(response: UpstreamResponse): Promise<UpstreamResponse> {
    this.state.httpStatus = response.status;
    if (!isGood(response)) throw await this.refused(response);
    return response;
  }

  private async send(request: UpstreamBody, bounds: SendOptions): Promise<UpstreamResponse> {
    const { planned, unit } = this.input;
    this.state.httpStatus = null;
    const { given } = unit.call;
    if (given) return givenResponse(given);
    const { provider } = planned.route;
    const access =
      planned.providerKey === undefined
        ? this.deps.access.get(provider)
        : await this.ownAccess(planned.providerKey);
    if (!access) throw new ApiError('provider_not_available', { retryAfterSeconds: 5 });
    let isSent = false;
    try {
      const preparing = planned.provider.prepare(request, access);
      const prepared = preparing instanceof Promise ? await preparing : preparing;
      isSent = true;
      return await this.deps.transport.send(prepared, bounds);
    } catch (error) {
      const failure = this.transportFailed(error);
      throw isSent || !(failure instanceof UpstreamError)
        ? failure
        : new UpstreamError({ ...failure.options, notBegun: 'not_sent' });
    }
  }

  /** Returns access with the customer's own key, at the operator's address for its provider. */
  private async ownAccess(providerKey: ProviderKeyGrant): Promise<ProviderAccess | undefined> {
    const { unit } = this.input;
    const baseUrl = this.deps.addresses.get(providerKey.provider);
    if (baseUrl === undefined) return undefined;
    const { accountId } = unit.admitted.principal;
    return { baseUrl, credential: await this.deps.openedKeys.credentialOf(accountId, providerKey) };
  }

  private facts(): AnswerFacts {
    const { unit, planned } = this.input;
    const { call } = unit;
    const { clock, random } = this.deps;
    let answerId: string | null = null;
    return {
      requestId: call.requestId,
      model: planned.model.record.id,
      created: Math.floor(call.receivedAtMs / 1_000),
      now: () => Math.floor(clock.now() / 1_000),
      answerId: () => (answerId ??= newAnswerId(call.endpoint.idPrefix, clock, random)),
      tier: planned.terms.tier,
      byokUsed: planned.terms.byok.served,
      fallbackTriggered: unit.isFallback(planned),
      believed: (reported) => this.state.meter.believed(reported),
    };
  }

  private bounds(): SendOptions {
    const { config } = this.deps;
    const { client, remainingMs, unit } = this.input;
    const { asked, principal } = unit.admitted;
    const attemptMs = principal.routingPolicy?.attempt_timeout_ms ?? Infinity;
    const mostMs = Math.max(1, Math.min(remainingMs, attemptMs));
    const wholeMs = config.UPSTREAM_TOTAL_TIMEOUT_MS;
    const firstByteMs = asked.stream ? config.UPSTREAM_STREAM_FIRST_BYTE_TIMEOUT_MS : wholeMs;
    return {
      connectTimeoutMs: Math.min(config.UPSTREAM_CONNECT_TIMEOUT_MS, mostMs),
      firstByteTimeoutMs: Math.min(firstByteMs, mostMs),
      idleTimeoutMs: asked.stream ? config.UPSTREAM_STREAM_IDLE_TIMEOUT_MS : wholeMs,
      totalTimeoutMs: asked.stream
        ? Math.min(config.UPSTREAM_STREAM_TOTAL_TIMEOUT_MS, remainingMs)
        : Math.min(wholeMs, mostMs),
      maxBytes: ANSWER_BYTES_MAX,
      signal: client.upstream.signal,
    };
  }

  private async refused(response: UpstreamResponse): Promise<UpstreamError> {
    const chunks: Uint8Array[] = [];
    let size = 0;
    try {
      for await (const chunk of response.chunks()) {
        chunks.push(chunk);
        size += chunk.byteLength;
        if (size > ERROR_BYTES_MAX) break;
      }
    } catch (error) {
      // The status says enough; a body that breaks off must not turn a refusal into a connection error.
      if (!(error instanceof TransportFailure)) throw error;
      if (error.fault === 'aborted') throw this.transportFailed(error);
    }
    const { status, headers } = response;
    const nowMs = this.deps.clock.now();
    return this.classify({ kind: 'status', status, headers, body: Buffer.concat(chunks), nowMs });
  }

  private transportFailed(error: unknown): unknown {
    return error instanceof TransportFailure ? this.classify({ kind: 'transport', failure: error }) : error;
  }

  private classify(signal: WithoutByok<FailureSignal>): UpstreamError {
    const { planned, unit } = this.input;
    const { provider, terms, route } = planned;
    const error = provider.classify({ ...signal, byok: terms.byok.served });
    return withOwnParam(error, unit.call.bytes, unit.admitted.asked.dialect !== route.dialect);
  }
}

function withoutRetry({ options }: UpstreamError): UpstreamError {
  const { notBegun: _begun, ...told } = options;
  return new UpstreamError({ ...told, retryable: false, fallback: false });
}

function isGood({ status }: UpstreamResponse): boolean {
  return status >= 200 && status < 300;
}

type WithoutByok<T> = T extends unknown ? Omit<T, 'byok'> : never;
