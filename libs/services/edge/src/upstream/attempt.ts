import { ApiError, UpstreamError, type Clock } from '@gateway/contracts';
import {
  parseUpstreamJson,
  type AnswerFacts,
  type EncodedRequest,
  type EditedFrame,
  type FrameEditor,
  type ModelEvent,
} from '@gateway/dialects';
import {
  TransportFailure,
  type FailureSignal,
  type ProviderAccess,
  type SendOptions,
  type UpstreamResponse,
  type UpstreamTransport,
} from '@gateway/providers';
import type { PlannedRoute } from '@gateway/routing';
import type { EdgeConfig } from '../edge.config.js';
import { Meter } from '../inference/meter.js';
import { sentInput } from '../inference/prepare.js';
import type { AttemptState, Unit } from '../units/unit.js';
import { frameSource } from './answer-source.js';
import { encode, targetOf, upstreamDialect } from './encode.js';
import type { ProviderAlarms } from './provider-alarms.js';

export interface AttemptDeps {
  clock: Clock;
  transport: UpstreamTransport;
  /** Address and credential per provider slug. */
  access: ReadonlyMap<string, ProviderAccess>;
  config: EdgeConfig;
  alarms: ProviderAlarms;
}

export interface AttemptInput {
  unit: Unit;
  planned: PlannedRoute;
  n: number;
  facts: AnswerFacts;
  signal: AbortSignal;
  /** True once the caller has gone: what comes then is not delivered, and not billed as delivered. */
  isGone: () => boolean;
  /** What is left of the caller's own total bound, in milliseconds. */
  remainingMs: number;
}

/** An attempt that committed: its first event was decoded. */
export type Committed =
  | {
      kind: 'plain';
      attempt: AttemptState;
      facts: AnswerFacts;
      ignored: string[];
      events: ModelEvent[];
      body: Record<string, unknown>;
      isSameDialect: boolean;
    }
  | {
      kind: 'stream';
      attempt: AttemptState;
      ignored: string[];
      first: EditedFrame[];
      source: FrameEditor;
      rest: AsyncIterator<Uint8Array>;
    };

const LARGEST_ANSWER_BYTES = 67_108_864;
const LARGEST_ERROR_BYTES = 65_536;

/** One try of one route, up to the first decoded event. Throws UpstreamError, noted on the unit's attempt. */
export async function tryRoute(input: AttemptInput, deps: AttemptDeps): Promise<Committed> {
  const { signal, planned, remainingMs } = input;
  // Nothing is sent for a caller that has gone or whose time is over: such an attempt is none.
  if (signal.aborted) throw givenUp(planned, signal);
  if (remainingMs <= 0) throw new ApiError('gateway_timeout', { providerCode: 'provider_timeout' });
  const attempt = begin(input, deps);
  input.unit.attempts.push(attempt);
  try {
    return await new Attempt(input, deps, attempt).run();
  } catch (error) {
    attempt.endedMs = deps.clock.monotonic();
    if (error instanceof UpstreamError && !signal.aborted) {
      note(attempt, error);
      deps.alarms.see(planned, error, input.unit.call.requestId);
    } else if (error instanceof ApiError) attempt.errorCode = error.code;
    throw error;
  }
}

function givenUp(planned: PlannedRoute, { reason }: AbortSignal): UpstreamError {
  const failure = new TransportFailure('aborted', reason);
  return planned.provider.classify({ kind: 'transport', failure, byok: false });
}

/** Writes what an attempt failed with onto its record. */
export function note(attempt: AttemptState, { options }: UpstreamError): void {
  attempt.errorCode = options.code;
  attempt.providerCode = options.providerCode ?? null;
  attempt.errorMessage = options.message;
  attempt.httpStatus = options.httpStatus;
}

function begin({ planned, n, unit }: AttemptInput, { clock }: AttemptDeps): AttemptState {
  return {
    planned,
    n,
    startedAtMs: clock.now(),
    startedMs: clock.monotonic(),
    firstEventMs: null,
    endedMs: null,
    httpStatus: null,
    errorCode: null,
    providerCode: null,
    errorMessage: null,
    meter: new Meter(sentInput(unit.admitted.prepared.request)),
  };
}

class Attempt {
  private readonly facts: AnswerFacts;

  constructor(
    private readonly input: AttemptInput,
    private readonly deps: AttemptDeps,
    private readonly attempt: AttemptState,
  ) {
    this.facts = { ...input.facts, estimatedUsage: () => attempt.meter.completed() };
  }

  async run(): Promise<Committed> {
    const { unit, planned } = this.input;
    const { prepared } = unit.admitted;
    const encoded =
      planned === prepared.plan.routes[0] ? prepared.firstBody : encode(prepared.request, planned);
    const response = await this.send(encoded);
    this.attempt.httpStatus = response.status;
    if (response.status < 200 || response.status >= 300) throw await this.refused(response);
    const isStream = response.headers['content-type']?.includes('text/event-stream') ?? false;
    if (!prepared.request.stream || !isStream) return this.plain(response, encoded);
    return this.stream(response, encoded);
  }

  private get isSameDialect(): boolean {
    return this.input.planned.route.dialect === this.input.unit.admitted.prepared.request.dialect;
  }

  private async send(encoded: EncodedRequest): Promise<UpstreamResponse> {
    const { planned, unit } = this.input;
    const access = this.deps.access.get(planned.route.provider);
    if (!access) throw new ApiError('provider_not_available', { retryAfterSeconds: 5 });
    const { url, headers } = planned.provider.endpoint(planned.route, access, unit.call.callerHeaders);
    try {
      return await this.deps.transport.send(
        { method: 'POST', url, headers, body: encoded.body, byteLength: encoded.byteLength },
        this.bounds(),
      );
    } catch (error) {
      throw this.failed(error);
    }
  }

  private bounds(): SendOptions {
    const { config } = this.deps;
    const { signal, remainingMs, unit } = this.input;
    const policy = unit.admitted.prepared.principal.routingPolicy ?? {};
    const shortened = (ms: number): number =>
      Math.max(1, Math.min(ms, remainingMs, policy.attempt_timeout_ms ?? ms));
    const isStream = unit.admitted.prepared.request.stream;
    return {
      connectTimeoutMs: shortened(config.UPSTREAM_CONNECT_TIMEOUT_MS),
      firstByteTimeoutMs: shortened(
        isStream ? config.UPSTREAM_STREAM_FIRST_BYTE_TIMEOUT_MS : config.UPSTREAM_TOTAL_TIMEOUT_MS,
      ),
      idleTimeoutMs: isStream ? config.UPSTREAM_STREAM_IDLE_TIMEOUT_MS : config.UPSTREAM_TOTAL_TIMEOUT_MS,
      totalTimeoutMs: isStream
        ? Math.min(config.UPSTREAM_STREAM_TOTAL_TIMEOUT_MS, remainingMs)
        : shortened(config.UPSTREAM_TOTAL_TIMEOUT_MS),
      maxBytes: LARGEST_ANSWER_BYTES,
      signal,
    };
  }

  private async refused(response: UpstreamResponse): Promise<UpstreamError> {
    const chunks: Uint8Array[] = [];
    let size = 0;
    try {
      for await (const chunk of response.chunks()) {
        chunks.push(chunk);
        size += chunk.byteLength;
        if (size > LARGEST_ERROR_BYTES) break;
      }
    } catch (error) {
      // The status says enough; a body that breaks off must not turn a refusal into a connection error.
      if (!(error instanceof TransportFailure)) throw error;
      if (error.fault === 'aborted') return this.failed(error);
    }
    const { status, headers } = response;
    return this.classify({
      kind: 'status',
      status,
      headers,
      body: Buffer.concat(chunks),
      byok: false,
      nowMs: this.deps.clock.now(),
    });
  }

  private async plain(
    response: UpstreamResponse,
    { ignored, toolNames }: EncodedRequest,
  ): Promise<Committed> {
    const { planned } = this.input;
    let bytes: Uint8Array;
    try {
      bytes = await response.bytes();
    } catch (error) {
      throw this.failed(error);
    }
    const body = parseObject(bytes);
    if (body === null)
      throw this.classify({ kind: 'bad_response', message: 'the answer is not a JSON object.', byok: false });
    const events = upstreamDialect(planned).decodeAnswer(body, targetOf(planned), toolNames);
    const failure = events.find((event) => event.type === 'error');
    if (failure) throw this.classify({ kind: 'stream', failure: failure.failure, byok: false });
    for (const event of events) this.see(event);
    const { attempt, facts, isSameDialect } = this;
    attempt.firstEventMs = this.deps.clock.monotonic();
    attempt.endedMs = attempt.firstEventMs;
    return { kind: 'plain', attempt, facts, ignored, events, body, isSameDialect };
  }

  private async stream(
    response: UpstreamResponse,
    { ignored, toolNames }: EncodedRequest,
  ): Promise<Committed> {
    const { planned, unit } = this.input;
    const decoder = upstreamDialect(planned).streamDecoder(targetOf(planned), toolNames);
    const source = frameSource(unit.call.front, decoder, this.facts, this.isSameDialect, (event) =>
      this.see(event),
    );
    const rest = response.chunks()[Symbol.asyncIterator]();
    for (;;) {
      const { frames: first, isClosed } = await this.nextFrames(source, rest);
      const decisive = first.flatMap(({ events }) => events).find((event) => event.type !== 'ping');
      if (decisive === undefined) continue;
      if (decisive.type === 'error') {
        response.cancel();
        if (isClosed && decisive.failure.kind === 'connection')
          throw this.classify({ kind: 'bad_response', message: 'the stream held no answer.', byok: false });
        throw this.classify({ kind: 'stream', failure: decisive.failure, byok: false });
      }
      this.attempt.firstEventMs = this.deps.clock.monotonic();
      return { kind: 'stream', attempt: this.attempt, ignored, first, source, rest };
    }
  }

  /** The one place where an attempt is metered. */
  private see(event: ModelEvent): void {
    // What a caller that has gone was never sent is not billed to it, but its usage still counts.
    if (this.input.isGone() && event.type !== 'usage' && event.type !== 'finish') return;
    this.attempt.meter.see(event, this.deps.clock.monotonic());
  }

  private async nextFrames(
    source: FrameEditor,
    rest: AsyncIterator<Uint8Array>,
  ): Promise<{ frames: EditedFrame[]; isClosed: boolean }> {
    try {
      const chunk = await rest.next();
      const isClosed = chunk.done === true;
      return { frames: isClosed ? source.end() : source.push(chunk.value), isClosed };
    } catch (error) {
      throw this.failed(error);
    }
  }

  private failed(error: unknown): UpstreamError {
    if (!(error instanceof TransportFailure)) throw error;
    return this.classify({ kind: 'transport', failure: error, byok: false });
  }

  private classify(signal: FailureSignal): UpstreamError {
    return this.input.planned.provider.classify(signal);
  }
}

function parseObject(bytes: Uint8Array): Record<string, unknown> | null {
  try {
    const value: unknown = parseUpstreamJson(
      Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'),
    );
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
