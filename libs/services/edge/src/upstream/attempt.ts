import { ApiError, newAnswerId, UpstreamError, type GivenAnswer } from '@gateway/contracts';
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
import { usageBound } from '@gateway/money';
import {
  isRenewed,
  TransportFailure,
  type FailureSignal,
  type Provider,
  type SendOptions,
  type UpstreamResponse,
} from '@gateway/providers';
import { credentialOf, type PlannedRoute } from '@gateway/routing';
import type { EdgeConfig } from '../config/edge.config.js';
import type { Client } from '../request/client.js';
import { begunAttempt, Meter, type AttemptState } from '../units/meter.js';
import type { Unit } from '../units/unit.js';
import { AttemptCalls } from './attempt-calls.js';
import { withOwnParam } from './own-param.js';
import type { Upstream } from './upstream.js';

export interface AttemptInput {
  unit: Unit;
  plannedRoute: PlannedRoute;
  n: number;
  /** Client; bytes after its disconnect are not delivered, and not billed as delivered. */
  client: Client;
  /** Rest of the caller's own total bound, in milliseconds. */
  remainingMs: number;
  /** Another route follows: openings wait for what follows them, because that one may still serve. */
  hasNext: boolean;
}

const ANSWER_BYTES_MAX = 67_108_864;
/** Bytes of openings that wait for what follows them; beyond, they commit. */
const OPENING_BYTES_MAX = 65_536;
const ERROR_BYTES_MAX = 65_536;

/**
 * One try of one route. It sends what the route takes, and its answer is a RouteAnswer of its own. What a failure of it
 * says is noted on its state.
 */
export class Attempt {
  readonly state: AttemptState;

  constructor(
    readonly input: AttemptInput,
    readonly upstream: Upstream,
  ) {
    const { plannedRoute, n, unit } = input;
    const { input: sent, recording } = unit.admitted.asked;
    const bound = { ...usageBound(plannedRoute.route, sent.inputBytes), ...recording };
    this.state = begunAttempt(plannedRoute, n, new Meter(sent, bound), upstream.clock);
  }

  /** Sends the request and reads up to the first piece that commits. Throws UpstreamError. */
  async run(): Promise<RouteAnswer> {
    const { state } = this;
    const { translation } = state.plannedRoute;
    if (translation.exchange) return this.runExchange(translation.exchange);
    const response = await this.send(translation.request, this.bounds());
    state.httpStatus = response.status;
    if (!isGood(response)) throw await this.refused(response);
    state.meter.answeredAtMs = this.upstream.clock.monotonic();
    const { status, headers } = response;
    const head = { status, contentType: headers['content-type'] ?? '', headers };
    const answer = new RouteAnswer(this, translation.begin(head, this.facts()), response);
    const failure = await answer.open();
    if (failure === null) return answer;
    response.cancel();
    if (answer.isClosed && failure.kind === 'connection')
      throw this.classify({ kind: 'bad_response', message: 'the stream held no answer.' });
    throw this.failed(failure);
  }

  /** Returns the answer's own error as the provider's failure. */
  failed(failure: AnswerFailure): UpstreamError {
    if (failure.kind === 'bad_response')
      return this.classify({ kind: 'bad_response', message: failure.message });
    return this.classify({ kind: 'stream', failure });
  }

  /** The one place where an attempt is metered. */
  measure(pieces: readonly Piece[]): void {
    const { client, plannedRoute, unit } = this.input;
    const { meter } = this.state;
    const nowMs = this.upstream.clock.monotonic();
    const wasDoubted = meter.isDoubted;
    for (const piece of pieces) meter.see(piece, nowMs, client.isGone);
    if (meter.isDoubted && !wasDoubted) this.upstream.alarms.doubt(plannedRoute, unit.request.requestId);
  }

  /** Several calls, whose answer comes in one piece. */
  private async runExchange(exchange: Exchange): Promise<RouteAnswer> {
    const { upstream } = this;
    const { client, plannedRoute, unit } = this.input;
    let isTaken = false;
    let isBegun = false;
    const calls = new AttemptCalls({
      baseUrl: upstream.credentials.addressOf(plannedRoute),
      hosts: plannedRoute.provider.hosts?.results ?? [],
      bounds: this.bounds(),
      signal: client.upstream.signal,
      clock: upstream.clock,
      note: async (state) => {
        isTaken = true;
        const ignored = [...(unit.admitted.asked.unread ?? []), ...plannedRoute.translation.ignored];
        await unit.request.origin.note?.({ credential: credentialOf(plannedRoute), state, ignored });
      },
      accountId: unit.admitted.principal.accountId,
      objects: upstream.objects,
      send: async (request, bounds) => {
        // What is asked of it next is about work that it has begun.
        if (isBegun) isTaken = true;
        const response = await this.good(await this.send(request, bounds));
        isBegun = unit.request.endpoint.isCreate === true && request.method !== 'GET';
        return response;
      },
      fetch: async (request, bounds) => this.good(await upstream.transport.send(request, bounds)),
    });
    try {
      const { headers, piece } = await exchange(calls, this.facts());
      return this.exchanged(headers, piece);
    } catch (error) {
      const isAnswered = error instanceof ExchangeFailure;
      const failure = isAnswered ? this.failed(error.failure) : this.transportFailed(leftOr(error, calls));
      // The provider works on, and is paid: another attempt would pay for a second result.
      const isFinal = isTaken && (!isAnswered || unit.request.endpoint.isCreate === true);
      throw isFinal && failure instanceof UpstreamError ? withoutRetry(failure) : failure;
    }
  }

  private exchanged(headers: Readonly<Record<string, string>>, piece: Piece): RouteAnswer {
    const { state } = this;
    const answer = new RouteAnswer(this, wholeAnswer(headers), null, [piece]);
    this.measure(answer.first);
    state.firstEventMs = this.upstream.clock.monotonic();
    state.endedMs = state.firstEventMs;
    return answer;
  }

  private async good(response: UpstreamResponse): Promise<UpstreamResponse> {
    this.state.httpStatus = response.status;
    if (!isGood(response)) throw await this.refused(response);
    return response;
  }

  private async send(request: UpstreamBody, bounds: SendOptions): Promise<UpstreamResponse> {
    const { plannedRoute, unit } = this.input;
    this.state.httpStatus = null;
    const { answer } = unit.request.origin;
    if (answer) return givenResponse(answer);
    const found = this.upstream.credentials.of(plannedRoute, unit.admitted.principal.accountId);
    const access = found instanceof Promise ? await found : found;
    if (!access) throw new ApiError('provider_not_available', { retryAfterSeconds: 5 });
    const { provider } = plannedRoute;
    for (let tries = 1; ; tries += 1) {
      let isSent = false;
      try {
        const preparing = provider.prepare(request, access);
        const prepared = preparing instanceof Promise ? await preparing : preparing;
        isSent = true;
        const response = await this.upstream.transport.send(prepared, bounds);
        const isLast = isGood(response) || tries === 2;
        if (isLast || !(await isRenewed(provider, access, prepared, response))) return response;
        response.cancel();
      } catch (error) {
        throw this.unsent(error, isSent);
      }
    }
  }

  /** Returns the failure with the proof that nothing was sent where the request could not be prepared. */
  private unsent(error: unknown, isSent: boolean): unknown {
    const failure = this.transportFailed(error);
    if (isSent || !(failure instanceof UpstreamError)) return failure;
    return new UpstreamError({ ...failure.options, notBegun: 'not_sent' });
  }

  private facts(): AnswerFacts {
    const { unit, plannedRoute } = this.input;
    const { request } = unit;
    const { clock, random } = this.upstream;
    let answerId: string | null = null;
    return {
      requestId: request.requestId,
      model: plannedRoute.model.record.id,
      created: Math.floor(request.receivedAtMs / 1_000),
      now: () => Math.floor(clock.now() / 1_000),
      answerId: () => (answerId ??= newAnswerId(request.endpoint.idPrefix, clock, random)),
      tier: plannedRoute.terms.tier,
      byokUsed: plannedRoute.terms.byok.served,
      fallbackTriggered: unit.isFallback(plannedRoute),
      believed: (reported) => this.state.meter.believed(reported),
    };
  }

  private bounds(): SendOptions {
    const { client, plannedRoute, remainingMs, unit } = this.input;
    const { asked, principal } = unit.admitted;
    const times = attemptTimes(this.upstream.config, plannedRoute.provider.timeouts, {
      isStream: asked.stream,
      remainingMs,
      attemptMs: principal.routingPolicy?.attempt_timeout_ms ?? Infinity,
    });
    return { ...times, maxBytes: ANSWER_BYTES_MAX, signal: client.upstream.signal };
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
      // The status says enough; a body that breaks off must not turn an error answer into a connection error.
      if (!(error instanceof TransportFailure)) throw error;
      if (error.fault === 'aborted') throw this.transportFailed(error);
    }
    const { status, headers } = response;
    const nowMs = this.upstream.clock.now();
    return this.classify({ kind: 'status', status, headers, body: Buffer.concat(chunks), nowMs });
  }

  /** Returns a broken transport as the provider's failure, and any other error as it is. */
  transportFailed(error: unknown): unknown {
    return error instanceof TransportFailure ? this.classify({ kind: 'transport', failure: error }) : error;
  }

  private classify(signal: WithoutByok<FailureSignal>): UpstreamError {
    const { plannedRoute, unit } = this.input;
    const { provider, terms, route } = plannedRoute;
    const error = provider.classify({ ...signal, byok: terms.byok.served });
    return withOwnParam(error, unit.request.bytes, unit.admitted.asked.dialect !== route.dialect);
  }
}

/** The reason of a caller's signal is what work that waited rejects with: the same as a call that was aborted. */
function leftOr(error: unknown, { caller: { signal } }: AttemptCalls): unknown {
  return signal.aborted && error === signal.reason ? new TransportFailure('aborted', error) : error;
}

/** The answer that an attempt brings, piece by piece. */
export class RouteAnswer {
  private chunks: AsyncIterator<Uint8Array> | null = null;
  /** The upstream has closed its answer. */
  isClosed = false;

  /** `first`: pieces that committed. `response`: null where they are the whole answer. */
  constructor(
    readonly attempt: Attempt,
    readonly answer: Answer,
    private readonly response: UpstreamResponse | null,
    readonly first: Piece[] = [],
  ) {}

  /** Reads until the answer commits, or fails before. Openings are kept for the caller; those of a failure nobody sees. */
  async open(): Promise<AnswerFailure | null> {
    const { state, input, upstream } = this.attempt;
    const { hasNext } = input;
    let beganMs: number | null = null;
    let openingBytes = 0;
    for (;;) {
      const pieces = await this.next();
      const nowMs = upstream.clock.monotonic();
      for (const piece of pieces) {
        if (piece.kind !== 'wait') beganMs ??= nowMs;
        if (piece.out.length > 0 || piece.kind !== 'wait') this.first.push(piece);
        openingBytes += piece.out.length;
      }
      const isFull = openingBytes > OPENING_BYTES_MAX;
      const decisive = pieces.find(({ kind }) => kind !== 'wait' && (kind !== 'opening' || !hasNext));
      if (decisive?.kind === 'failure') return decisive.failure;
      if (decisive === undefined && !isFull) continue;
      state.firstEventMs = beganMs ?? nowMs;
      if (this.answer.isWhole) state.endedMs = state.firstEventMs;
      return null;
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
      throw this.attempt.transportFailed(error);
    }
    this.attempt.measure(pieces);
    return pieces;
  }

  /** Closes what is left of the upstream's answer. */
  close(): void {
    void this.chunks?.return?.();
  }
}

/** Returns an earlier answer of a provider as if it came now. */
function givenResponse({ status, body }: GivenAnswer): UpstreamResponse {
  const bytes = Buffer.from(body);
  return {
    status,
    headers: { 'content-type': 'application/json' },
    bytes: () => Promise.resolve(bytes),
    async *chunks() {
      yield bytes;
    },
    cancel: () => undefined,
  };
}

function withoutRetry({ options }: UpstreamError): UpstreamError {
  const { notBegun: _begun, ...told } = options;
  return new UpstreamError({ ...told, retryable: false, fallback: false });
}

function isGood({ status }: UpstreamResponse): boolean {
  return status >= 200 && status < 300;
}

type WithoutByok<T> = T extends unknown ? Omit<T, 'byok'> : never;

type Times = Pick<
  SendOptions,
  'connectTimeoutMs' | 'firstByteTimeoutMs' | 'idleTimeoutMs' | 'totalTimeoutMs'
>;
type Settings = Pick<
  EdgeConfig,
  | 'UPSTREAM_CONNECT_TIMEOUT_MS'
  | 'UPSTREAM_TOTAL_TIMEOUT_MS'
  | 'UPSTREAM_STREAM_FIRST_BYTE_TIMEOUT_MS'
  | 'UPSTREAM_STREAM_IDLE_TIMEOUT_MS'
  | 'UPSTREAM_STREAM_TOTAL_TIMEOUT_MS'
>;

/**
 * Returns the times of one attempt: the provider's own in place of the settings, within what is left of the request and
 * its policy. Only to connect is never given more time than the settings give it.
 */
export function attemptTimes(
  settings: Settings,
  { connectMs = Infinity, firstByteMs, idleMs, totalMs }: NonNullable<Provider['timeouts']> = {},
  { isStream, remainingMs, attemptMs }: { isStream: boolean; remainingMs: number; attemptMs: number },
): Times {
  const mostMs = Math.max(1, Math.min(remainingMs, attemptMs));
  const wholeMs = totalMs ?? settings.UPSTREAM_TOTAL_TIMEOUT_MS;
  const usual = isStream
    ? {
        firstByteMs: settings.UPSTREAM_STREAM_FIRST_BYTE_TIMEOUT_MS,
        idleMs: settings.UPSTREAM_STREAM_IDLE_TIMEOUT_MS,
      }
    : { firstByteMs: wholeMs, idleMs: wholeMs };
  return {
    connectTimeoutMs: Math.min(connectMs, settings.UPSTREAM_CONNECT_TIMEOUT_MS, mostMs),
    firstByteTimeoutMs: Math.min(firstByteMs ?? usual.firstByteMs, mostMs),
    idleTimeoutMs: idleMs ?? usual.idleMs,
    totalTimeoutMs: isStream
      ? Math.min(totalMs ?? settings.UPSTREAM_STREAM_TOTAL_TIMEOUT_MS, remainingMs)
      : Math.min(wholeMs, mostMs),
  };
}
