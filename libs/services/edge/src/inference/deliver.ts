import { ApiError, HEADER, UpstreamError, type Clock, type Random } from '@gateway/contracts';
import type { Piece } from '@gateway/dialects';
import { EVENT_STREAM_HEADERS } from '@gateway/endpoints';
import type { Disconnect } from '@gateway/money';
import type { Deadlines } from '@gateway/platform';
import {
  attemptsFailed,
  credentialOf,
  runAttempts,
  type Breakers,
  type PlannedRoute,
  type RetryBudget,
} from '@gateway/routing';
import type { Call } from '../request/call.js';
import type { Client } from '../request/client.js';
import type { ResponseWriter } from '../state/response-writer.js';
import { endUserHash } from '../units/end-user-hash.js';
import type { Unit, UnitDeps } from '../units/unit.js';
import { note, tryRoute, type Attempt, type AttemptDeps } from '../upstream/attempt.js';
import { KeepAlive } from './keep-alive.js';
import { Recorder } from '../cache/recorder.js';
import type { CachedAnswer, ResponseCache } from '../cache/response-cache.js';

export interface DeliverDeps extends UnitDeps, AttemptDeps {
  clock: Clock;
  random: Random;
  budget: RetryBudget;
  breakers: Breakers;
  deadlines: Deadlines;
  keepAliveMs: number;
  responses: Pick<ResponseWriter, 'keep'>;
  cache: ResponseCache;
}

/** Time that an upstream may take to close a finished stream. */
const UPSTREAM_CLOSE_MS = 1_000;

/**
 * Delivers from the first attempt to the last byte, plain and streamed alike: pieces are written as they come, and the
 * unit ends, priced and journalled, before the last of them leaves. Throws what no attempt could mend.
 */
export async function deliver(unit: Unit, client: Client, deps: DeliverDeps): Promise<void> {
  const { events } = unit.call.endpoint;
  const { asked } = unit.admitted;
  const keepAlive =
    asked.stream && events
      ? new KeepAlive(client, deps, events.keepAlive, () =>
          client.open({ ...EVENT_STREAM_HEADERS, ...answerHeaders(unit, []) }),
        )
      : null;
  try {
    const attempt = await attempts(unit, client, deps);
    await new Delivery(unit, attempt, client, keepAlive, deps).run();
  } finally {
    keepAlive?.stop();
  }
}

/** An answer that was kept, for a unit that asks no provider: its OUTCOME is written before its bytes leave. */
export async function replay(unit: Unit, cached: CachedAnswer, client: Client): Promise<void> {
  await unit.finish({ outcome: 'cached', httpStatus: 200, errorCode: null });
  if (!unit.admitted.asked.stream) return client.answer(cached.out, cached.headers);
  client.open(cached.headers);
  await client.write(cached.out);
  client.end();
}

/**
 * The unit ends here whatever happened to it; a caller that has gone is billed by pricing 6, a failure is not. Answers
 * the error to show, which was sent in-band already where the answer is open.
 */
export async function fail(unit: Unit, error: unknown, client: Client): Promise<unknown> {
  const { isOpen } = client;
  if (client.isGone) {
    await unit.finish({ outcome: 'cancelled', httpStatus: isOpen ? 200 : 499, errorCode: null }, UNFINISHED);
    return error;
  }
  const cut = cutOff(client);
  const shown = cut?.error ?? asApiError(error);
  await unit.finish(
    { outcome: cut?.outcome ?? 'failed', httpStatus: isOpen ? 200 : shown.status, errorCode: shown.code },
    cut?.outcome === 'cancelled' ? UNFINISHED : null,
  );
  if (!isOpen) return shown;
  const { endpoint, requestId } = unit.call;
  if (!unit.admitted.asked.stream || !endpoint.events) client.cut();
  else {
    await client.write(endpoint.events.failure(shown, requestId));
    client.end();
  }
  return shown;
}

/** No usage is waited for. */
const UNFINISHED: Disconnect = { finishSeen: false, usageAfterMs: null };

function asApiError(error: unknown): ApiError {
  return error instanceof ApiError ? error : new ApiError('internal_error', { cause: error });
}

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

function attempts(unit: Unit, client: Client, deps: DeliverDeps): Promise<Attempt> {
  const { plan, principal } = unit.admitted;
  const { clock, random, budget, breakers } = deps;
  if (unit.call.given) return givenAttempt(unit, plan.routes[0], client, deps);
  const policy = principal.routingPolicy ?? {};
  const { total_timeout_ms: totalMs } = policy;
  const endsMs = totalMs === undefined ? null : clock.monotonic() + totalMs;
  return runAttempts({
    plan,
    policy,
    clock,
    random,
    budget,
    breakers,
    signal: client.upstream.signal,
    account: principal.accountId,
    isCreate: unit.call.endpoint.isCreate === true,
    attempt: (planned, n, hasNext) => {
      const remainingMs = endsMs === null ? Infinity : endsMs - clock.monotonic();
      return tryRoute({ unit, planned, n, client, remainingMs, hasNext }, deps);
    },
  });
}

/** Its provider has answered: a failure is final, and says nothing of how the route fares now. */
async function givenAttempt(
  unit: Unit,
  planned: PlannedRoute,
  client: Client,
  deps: DeliverDeps,
): Promise<Attempt> {
  try {
    const alone = { n: 1, remainingMs: Infinity, hasNext: false };
    return await tryRoute({ unit, planned, client, ...alone }, deps);
  } catch (failure) {
    throw failure instanceof UpstreamError ? attemptsFailed(failure, []) : failure;
  }
}

function answerHeaders(unit: Unit, ignored: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  const [first] = unit.attempts;
  if (first) headers[HEADER.overhead] = (first.startedMs - unit.call.startedMs).toFixed(2);
  if (ignored.length > 0) headers[HEADER.ignoredParams] = [...new Set(ignored)].join(', ');
  return headers;
}

/** Passes a committed answer on to the caller, to its end, failure or disconnect, and finishes the unit exactly once. */
class Delivery {
  private isWhole = false;
  private readonly recorder: Recorder | null;

  constructor(
    private readonly unit: Unit,
    private readonly attempt: Attempt,
    private readonly client: Client,
    private readonly keepAlive: KeepAlive | null,
    private readonly deps: DeliverDeps,
  ) {
    this.recorder = unit.admitted.cacheName == null ? null : new Recorder();
  }

  async run(): Promise<void> {
    const { attempt, client } = this;
    try {
      let isOver = await this.pass(attempt.first);
      while (!isOver) isOver = await this.pass(await attempt.next());
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
      if (this.isWhole && !attempt.answer.isWhole)
        this.deps.deadlines.set(UPSTREAM_CLOSE_MS, () => attempt.close());
      else attempt.close();
    }
    if (client.isOpen && !client.raw.writableEnded) client.end();
  }

  /** True once the answer is over. */
  private async pass(pieces: readonly Piece[]): Promise<boolean> {
    const { attempt, client } = this;
    // Set before anything is awaited: the caller may leave during the write.
    client.usageMayCome = this.usageMayCome;
    for (const piece of pieces) {
      switch (piece.kind) {
        case 'failure':
          await this.failed(attempt.failed(piece.failure));
          return true;
        case 'end':
          this.isWhole = true;
          await this.end(piece.out);
          return true;
        case 'wait':
        case 'opening':
        case 'part':
          this.open();
          this.recorder?.see(piece.out);
          if (piece.out.length > 0) this.keepAlive?.arm();
          await client.write(piece.out);
      }
    }
    return false;
  }

  private open(): void {
    if (!this.client.isOpen) this.client.open(this.headers());
  }

  private headers(): Record<string, string> {
    const { answer, state } = this.attempt;
    const { unread = [] } = this.unit.admitted.asked;
    const { ignored } = state.planned.translation;
    return Object.assign(answerHeaders(this.unit, [...unread, ...ignored]), answer.headers);
  }

  /** The answer is whole: its OUTCOME is written before its last bytes leave. */
  private async end(out: string | Uint8Array): Promise<void> {
    const { client, unit } = this;
    if (client.isGone) return this.cancelled();
    const hasLength = !client.isOpen && !unit.admitted.asked.stream;
    if (!hasLength) this.open();
    const kept = unit.call.record === null ? null : this.keep(unit.call.record);
    if (hasLength) await unit.call.keep?.(out);
    await this.finish({ outcome: 'served', httpStatus: 200, errorCode: null });
    this.compareCounts();
    if (kept !== null) await kept;
    if (this.recorder !== null) this.remember(this.recorder, out);
    if (hasLength) client.answer(out, this.headers());
    else await client.write(out);
  }

  /**
   * Stores the record before the last bytes leave: a reader of the answer can continue from it, or see how it failed.
   */
  private async keep({ isStored, ...record }: NonNullable<Call['record']>): Promise<void> {
    const { call, admitted } = this.unit;
    const { kept } = this.attempt.answer;
    if (kept == null || !(isStored || call.memory)) return;
    const { planned } = this.attempt.state;
    const { endUser } = admitted.asked;
    const response = {
      ...record,
      id: String(kept.id),
      key_id: call.principal.keyId,
      account_id: call.principal.accountId,
      end_user_hash: endUser === null ? null : endUserHash(call.principal, endUser),
      credential: planned.route.dialect === admitted.asked.dialect ? credentialOf(planned) : null,
      created_at: Math.floor(call.receivedAtMs / 1_000),
      response: { ...kept },
    };
    call.memory?.keep(response);
    if (isStored) await this.deps.responses.keep(response);
  }

  /** Tells the operator of a route whose counts cannot be of its texts. */
  private compareCounts(): void {
    const { planned, meter } = this.attempt.state;
    if (meter.isFarOff(planned.model.record.supports_thinking))
      this.deps.alarms.farOff(planned, this.unit.call.requestId);
  }

  /** The upstream said how it ends; or visible output began of a model that reasons, which must not be had for nothing. */
  private get usageMayCome(): boolean {
    const { meter, planned } = this.attempt.state;
    return meter.finishSeen || (planned.model.record.supports_thinking && meter.visibleAtMs !== null);
  }

  /** Caches the answer for later callers, where the key has a cache. */
  private remember(recorder: Recorder, out: string | Uint8Array): void {
    const { unit, attempt, deps } = this;
    const { cacheName, asked } = unit.admitted;
    if (cacheName == null) return;
    recorder.see(out);
    const { [HEADER.overhead]: _overhead, ...headers } = this.headers();
    const { usage } = attempt.state.meter;
    const nowMs = deps.clock.now();
    const answer = recorder.answer(usage ?? {}, {
      ...{ headers, isStream: asked.stream, nowMs },
      endUser: this.endUser(),
    });
    if (answer !== null) deps.cache.store(cacheName, answer);
  }

  private endUser(): CachedAnswer['endUser'] {
    const { call, admitted } = this.unit;
    const { endUser } = admitted.asked;
    const hash = endUser === null ? null : endUserHash(call.principal, endUser);
    if (hash === null) return null;
    return { accountId: call.principal.accountId, endUserHash: hash, askedAtMs: call.receivedAtMs };
  }

  private async cancelled(): Promise<void> {
    const { meter } = this.attempt.state;
    const goneAtMs = this.client.goneAtMs ?? 0;
    const usageAfterMs = meter.usageAtMs === null ? null : Math.max(0, meter.usageAtMs - goneAtMs);
    await this.finish(
      { outcome: 'cancelled', httpStatus: 200, errorCode: null },
      { finishSeen: this.usageMayCome, usageAfterMs },
    );
  }

  /** Reports a failure after the first piece, when nothing is retried: an error frame, and no fabricated end. */
  private async failed(error: UpstreamError): Promise<void> {
    const { state } = this.attempt;
    note(state, error);
    this.deps.alarms.see(state.planned, error, this.unit.call.requestId);
    const { route, providerKey } = state.planned;
    this.deps.breakers.report(route, error, providerKey?.id, this.unit.admitted.principal.accountId);
    await this.failedWith(attemptsFailed(error, []));
  }

  private async failedWith(error: ApiError, outcome: 'failed' | 'cancelled' = 'failed'): Promise<void> {
    const disconnect = outcome === 'cancelled' ? UNFINISHED : null;
    await this.finish({ outcome, httpStatus: 200, errorCode: error.code }, disconnect);
    const words = this.attempt.answer.fail(error);
    const { record } = this.unit.call;
    // A conversation goes on as it was before.
    if (record !== null) await this.keep({ ...record, conversation_id: null });
    if (words === null) this.client.cut();
    else await this.client.write(words);
  }

  private finish(...end: Parameters<Unit['finish']>): Promise<void> {
    this.keepAlive?.stop();
    this.attempt.state.endedMs ??= this.deps.clock.monotonic();
    return this.unit.finish(...end);
  }
}
