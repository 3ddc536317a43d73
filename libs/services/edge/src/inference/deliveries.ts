import { Inject, Injectable } from '@nestjs/common';
import { ApiError, HEADER, ignoredNames, UpstreamError, type Clock } from '@gateway/contracts';
import { EVENT_STREAM_HEADERS, type StoredRequest } from '@gateway/endpoints';
import { CLOCK, Deadlines, type Deadline } from '@gateway/platform';
import type { Disconnect } from '@gateway/money';
import { attemptsFailed, credentialOf } from '@gateway/routing';
import { Recorder } from '../cache/recorder.js';
import { ResponseCache, type CachedAnswer } from '../cache/response-cache.js';
import { EdgeConfig } from '../config/edge.config.js';
import { asApiError } from '../request/as-api-error.js';
import type { Client } from '../request/client.js';
import { ResponseWriter } from '../state/response-writer.js';
import type { AttemptState } from '../units/meter.js';
import type { Unit } from '../units/unit.js';
import type { RouteAnswer } from '../upstream/attempt.js';
import { Attempts } from '../upstream/attempts.js';

/** Time that an upstream may take to close a finished stream. */
const UPSTREAM_CLOSE_MS = 1_000;

/** Delivery of answers, from the first attempt to the last byte. */
@Injectable()
export class Deliveries {
  constructor(
    readonly attempts: Attempts,
    readonly responses: ResponseWriter,
    readonly cache: ResponseCache,
    readonly deadlines: Deadlines,
    private readonly config: EdgeConfig,
    @Inject(CLOCK) readonly clock: Clock,
  ) {}

  /**
   * Delivers plain and streamed answers alike: pieces are written as they come, and the unit ends, priced and journalled,
   * before the last of them leaves. Throws what no attempt could mend.
   */
  async run(unit: Unit, client: Client): Promise<void> {
    const { events } = unit.request.endpoint;
    const keepAlive =
      unit.admitted.asked.stream && events
        ? new KeepAlive(client, events.keepAlive, this, this.config.STREAM_KEEP_ALIVE_MS, () =>
            client.open({ ...EVENT_STREAM_HEADERS, ...answerHeaders(unit, []) }),
          )
        : null;
    try {
      const answer = await this.attempts.run(unit, client);
      await new Delivery(unit, answer, client, keepAlive, this).run();
    } finally {
      keepAlive?.stop();
    }
  }

  /** Sends a cached answer, for a unit that asks no provider: its OUTCOME is written before its bytes leave. */
  async replay(unit: Unit, cached: CachedAnswer, client: Client): Promise<void> {
    await unit.finish({ outcome: 'cached', httpStatus: 200, errorCode: null });
    if (!unit.admitted.asked.stream) return client.answer(cached.out, cached.headers);
    client.open(cached.headers);
    await client.write(cached.out);
    client.end();
  }

  /**
   * Ends the unit whatever happened to it. A caller that has gone pays for what its provider has made until then; a
   * failure is not billed. Returns the error to show, which was sent in-band already where the answer is open.
   */
  async fail(unit: Unit, error: unknown, client: Client): Promise<unknown> {
    const { isOpen } = client;
    if (client.isGone) {
      await unit.finish(
        { outcome: 'cancelled', httpStatus: isOpen ? 200 : 499, errorCode: null },
        UNFINISHED,
      );
      return error;
    }
    const cut = cutOff(client);
    const shown = cut?.error ?? asApiError(error);
    await unit.finish(
      { outcome: cut?.outcome ?? 'failed', httpStatus: isOpen ? 200 : shown.status, errorCode: shown.code },
      cut?.outcome === 'cancelled' ? UNFINISHED : null,
    );
    if (!isOpen) return shown;
    const { endpoint, requestId } = unit.request;
    if (!unit.admitted.asked.stream || !endpoint.events) client.cut();
    else {
      await client.write(endpoint.events.failure(shown, requestId));
      client.end();
    }
    return shown;
  }
}

/** No usage is waited for. */
const UNFINISHED: Disconnect = { finishSeen: false, usageAfterMs: null };

/** The end that we set to a request ourselves, and how its unit ends. */
interface CutOff {
  error: ApiError;
  outcome: 'failed' | 'cancelled';
}

/**
 * Returns why we have ended the request; null where we have not. A drain is ours to pay. A key that was suspended or deleted
 * pays what it was sent, as a caller that leaves does.
 */
function cutOff({ upstream, isOpen }: Client): CutOff | null {
  const why: unknown = upstream.signal.reason;
  if (!(why instanceof ApiError)) return null;
  if (why.code === 'service_draining') return { error: why, outcome: 'failed' };
  return { error: isOpen ? new ApiError('invalid_api_key', REVOKED) : why, outcome: 'cancelled' };
}

const REVOKED = { message: 'The API key was suspended or deleted while this answer was being sent.' };

function answerHeaders(unit: Unit, ignored: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  const [first] = unit.attempts;
  if (first) headers[HEADER.overhead] = (first.startedMs - unit.request.startedMs).toFixed(2);
  if (ignored.length > 0) headers[HEADER.ignoredParams] = ignoredNames(ignored);
  return headers;
}

/** Passes a committed answer on to the caller, to its end, failure or disconnect, and finishes the unit exactly once. */
class Delivery {
  private isWhole = false;
  private readonly state: AttemptState;
  private readonly recorder: Recorder | null;

  constructor(
    private readonly unit: Unit,
    private readonly received: RouteAnswer,
    private readonly client: Client,
    private readonly keepAlive: KeepAlive | null,
    private readonly deliveries: Deliveries,
  ) {
    this.state = received.attempt.state;
    this.recorder = unit.admitted.cacheName === null ? null : new Recorder();
  }

  async run(): Promise<void> {
    const { received, client } = this;
    try {
      await this.deliver();
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error;
      if (client.isGone) await this.cancelled();
      else {
        const cut = cutOff(client);
        await (cut === null ? this.failed(error) : this.failedWith(cut.error, cut.outcome));
      }
    } finally {
      this.keepAlive?.stop();
      // An upstream that has said its last word may close its answer itself: its connection can then be used again.
      if (this.isWhole && !received.answer.isWhole)
        this.deliveries.deadlines.set(UPSTREAM_CLOSE_MS, () => received.close());
      else received.close();
    }
    if (client.isOpen && !client.raw.writableEnded) client.end();
  }

  /** Passes on what arrives until the answer is over. */
  private async deliver(): Promise<void> {
    const { received, client } = this;
    for (let pieces = received.first; ; pieces = await received.next()) {
      // Set before anything is awaited: the caller may leave during the write.
      client.usageMayCome = this.usageMayCome;
      for (const piece of pieces) {
        if (piece.kind === 'failure') return this.failed(received.attempt.failed(piece.failure));
        if (piece.kind === 'end') {
          this.isWhole = true;
          return this.end(piece.out);
        }
        this.open();
        this.recorder?.see(piece.out);
        if (piece.out.length > 0) this.keepAlive?.heard();
        const slow = client.write(piece.out);
        if (slow !== undefined) await slow;
      }
    }
  }

  private open(): void {
    if (!this.client.isOpen) this.client.open(this.headers());
  }

  private headers(): Record<string, string> {
    const { answer, attempt } = this.received;
    const { unread = [] } = this.unit.admitted.asked;
    const { ignored } = attempt.state.plannedRoute.translation;
    return Object.assign(answerHeaders(this.unit, [...unread, ...ignored]), answer.headers);
  }

  /** The answer is whole: its OUTCOME is written before its last bytes leave. */
  private async end(out: string | Uint8Array): Promise<void> {
    const { client, unit, state } = this;
    if (client.isGone) return this.cancelled();
    const hasLength = !client.isOpen && !unit.admitted.asked.stream;
    if (!hasLength) this.open();
    const { storedRequest } = unit.admitted;
    const storing = storedRequest === null ? null : this.storeResponse(storedRequest);
    if (hasLength) await unit.request.origin.store?.(out);
    await this.finish({ outcome: 'served', httpStatus: 200, errorCode: null });
    // Counts that cannot be of its texts are the operator's to see.
    if (state.meter.isFarOff(state.plannedRoute.model.record.supports_thinking))
      this.deliveries.attempts.farOff(unit, state);
    if (storing !== null) await storing;
    if (this.recorder !== null) this.remember(this.recorder, out);
    if (hasLength) client.answer(out, this.headers());
    else await client.write(out);
  }

  /**
   * Stores the response before the last bytes leave: a reader of the answer can continue from it, or see how it failed.
   */
  private async storeResponse({ isStored, ...sent }: StoredRequest): Promise<void> {
    const { request, admitted, facts } = this.unit;
    const { stored } = this.received.answer;
    const { memory } = request.origin;
    if (stored == null || !(isStored || memory)) return;
    const { plannedRoute } = this.state;
    const response = {
      ...sent,
      id: String(stored.id),
      key_id: request.principal.keyId,
      account_id: request.principal.accountId,
      end_user_hash: facts.end_user_hash,
      credential: plannedRoute.route.dialect === admitted.asked.dialect ? credentialOf(plannedRoute) : null,
      created_at: Math.floor(request.receivedAtMs / 1_000),
      response: { ...stored },
    };
    memory?.store(response);
    if (isStored) await this.deliveries.responses.store(response);
  }

  /** The upstream said how it ends; or visible output began of a model that reasons, which must not be had for nothing. */
  private get usageMayCome(): boolean {
    const { meter, plannedRoute } = this.state;
    return meter.finishSeen || (plannedRoute.model.record.supports_thinking && meter.visibleAtMs !== null);
  }

  /** Caches the answer for later callers, where the key has a cache. */
  private remember(recorder: Recorder, out: string | Uint8Array): void {
    const { unit, deliveries } = this;
    const { cacheName, asked } = unit.admitted;
    if (cacheName === null) return;
    recorder.see(out);
    const { [HEADER.overhead]: _overhead, ...headers } = this.headers();
    const { usage } = this.state.meter;
    const nowMs = deliveries.clock.now();
    const answer = recorder.answer(usage ?? {}, {
      ...{ headers, isStream: asked.stream, nowMs },
      endUser: this.endUser(),
    });
    if (answer !== null) deliveries.cache.store(cacheName, answer);
  }

  private endUser(): CachedAnswer['endUser'] {
    const { request, facts } = this.unit;
    if (facts.end_user_hash === null) return null;
    return {
      accountId: facts.account_id,
      endUserHash: facts.end_user_hash,
      requestedAtMs: request.receivedAtMs,
    };
  }

  private async cancelled(): Promise<void> {
    const { meter } = this.state;
    const goneAtMs = this.client.goneAtMs ?? 0;
    const usageAfterMs = meter.usageAtMs === null ? null : Math.max(0, meter.usageAtMs - goneAtMs);
    await this.finish(
      { outcome: 'cancelled', httpStatus: 200, errorCode: null },
      { finishSeen: this.usageMayCome, usageAfterMs },
    );
  }

  /** Reports a failure after the first piece, when nothing is retried: an error frame, and no fabricated end. */
  private async failed(error: UpstreamError): Promise<void> {
    this.deliveries.attempts.failed(this.unit, this.state, error);
    await this.failedWith(attemptsFailed(error, []));
  }

  private async failedWith(error: ApiError, outcome: 'failed' | 'cancelled' = 'failed'): Promise<void> {
    const disconnect = outcome === 'cancelled' ? UNFINISHED : null;
    await this.finish({ outcome, httpStatus: 200, errorCode: error.code }, disconnect);
    const words = this.received.answer.fail(error);
    const { storedRequest } = this.unit.admitted;
    // A conversation goes on as it was before.
    if (storedRequest !== null) await this.storeResponse({ ...storedRequest, conversation_id: null });
    if (words === null) this.client.cut();
    else await this.client.write(words);
  }

  private finish(...end: Parameters<Unit['finish']>): Promise<void> {
    this.keepAlive?.stop();
    this.state.endedMs ??= this.deliveries.clock.monotonic();
    return this.unit.finish(...end);
  }
}

/** Sends a frame that says nothing into a silence. One per stream, before its first event and after. */
class KeepAlive {
  private deadline: Deadline;
  private silentSinceMs: number;

  /** `open` sends the head where nothing has been sent yet. */
  constructor(
    private readonly client: Client,
    private readonly frame: string,
    private readonly deliveries: Pick<Deliveries, 'clock' | 'deadlines'>,
    private readonly silenceMs: number,
    private readonly open: () => void,
  ) {
    this.silentSinceMs = deliveries.clock.monotonic();
    this.deadline = this.checkIn(silenceMs);
  }

  /** Bytes went out: the silence starts anew. The deadline stays, and finds that out when it is over. */
  heard(): void {
    this.silentSinceMs = this.deliveries.clock.monotonic();
  }

  stop(): void {
    this.deadline.cancel();
  }

  private checkIn(delayMs: number): Deadline {
    return this.deliveries.deadlines.set(delayMs, () => this.check());
  }

  private check(): void {
    const leftMs = this.silentSinceMs + this.silenceMs - this.deliveries.clock.monotonic();
    this.deadline = this.checkIn(leftMs > 0 ? leftMs : this.silenceMs);
    if (leftMs > 0) return;
    this.heard();
    if (this.client.isGone || this.client.raw.writableNeedDrain) return;
    this.open();
    this.client.raw.write(this.frame);
  }
}
