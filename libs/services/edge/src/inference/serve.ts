import { ApiError, HEADER, newId, type Clock, type Random } from '@gateway/contracts';
import type { AnswerFacts } from '@gateway/dialects';
import { runAttempts, type PlannedRoute, type RetryBudget } from '@gateway/routing';
import { tryRoute, type AttemptDeps, type Committed } from '../upstream/attempt.js';
import type { Unit, UnitDeps } from '../units/unit.js';
import type { Client } from './client.js';
import { drained } from './drained.js';
import { KeepAlive, StreamAnswer, type StreamDeps } from './stream-answer.js';

export interface ServeDeps extends UnitDeps, AttemptDeps, StreamDeps {
  clock: Clock;
  random: Random;
  budget: RetryBudget;
}

/** Where an answer goes. The endpoint's side of Fastify's reply. */
export interface Responder {
  client: Client;
  /** Headers of whatever is answered from here on, a refusal or a failure too. */
  rate(headers: Record<string, string>): void;
  /** A whole answer. */
  json(body: Record<string, unknown>, headers: Record<string, string>): void;
  /** Sends 200 and the headers of a stream; a second call does nothing. */
  openStream(headers: Record<string, string>): void;
  readonly isStreamOpen: boolean;
}

type Plain = Extract<Committed, { kind: 'plain' }>;

/** From the first attempt to the last byte of a good answer. Throws what no attempt could mend. */
export async function serve(unit: Unit, responder: Responder, deps: ServeDeps): Promise<void> {
  const { client } = responder;
  if (!unit.admitted.prepared.request.stream) {
    const committed = await attempts(unit, client, deps);
    if (committed.kind !== 'plain') throw new TypeError('a stream came for a plain request');
    return answerPlain(unit, committed, responder);
  }
  const { front } = unit.call;
  const encoder = front.streamEncoder(firstFacts(unit, deps));
  const keepAlive = new KeepAlive(client, deps, () => {
    responder.openStream(answerHeaders(unit, []));
    return encoder.keepAlive();
  });
  try {
    const committed = await attempts(unit, client, deps);
    responder.openStream(answerHeaders(unit, committed.ignored));
    if (committed.kind === 'plain') return await answerUnstreamed(unit, committed, client);
    await new StreamAnswer(unit, committed, client, encoder, keepAlive, deps).run();
  } finally {
    keepAlive.stop();
  }
}

/**
 * The unit ends here whatever happened to it; a caller that has gone is billed by pricing 6, a failure is not. Answers
 * the error to show, which was told in-band already where the stream is open.
 */
export async function fail(
  unit: Unit,
  error: unknown,
  { client, isStreamOpen }: Responder,
  deps: ServeDeps,
): Promise<unknown> {
  if (client.isGone) {
    await unit.finish(
      { outcome: 'cancelled', httpStatus: isStreamOpen ? 200 : 499, errorCode: null },
      { finishSeen: false, usageAfterMs: null },
    );
    return error;
  }
  const shown = shownError(error, client, deps);
  await unit.finish({
    outcome: 'failed',
    httpStatus: isStreamOpen ? 200 : shown.status,
    errorCode: shown.code,
  });
  if (isStreamOpen) {
    await client.write(unit.call.front.streamEncoder(firstFacts(unit, deps)).error(shown));
    client.end();
  }
  return shown;
}

function shownError(error: unknown, { upstream }: Client, deps: ServeDeps): ApiError {
  if (deps.drainDeadline.aborted && upstream.signal.aborted) return drained();
  return error instanceof ApiError ? error : new ApiError('internal_error', { cause: error });
}

function attempts(unit: Unit, client: Client, deps: ServeDeps): Promise<Committed> {
  const { plan, principal } = unit.admitted.prepared;
  const policy = principal.routingPolicy ?? {};
  const startedMs = deps.clock.monotonic();
  const remaining = (): number =>
    (policy.total_timeout_ms ?? Number.MAX_SAFE_INTEGER) - (deps.clock.monotonic() - startedMs);
  const { signal } = client.upstream;
  const isGone = (): boolean => client.isGone;
  return runAttempts({
    plan,
    policy,
    clock: deps.clock,
    random: deps.random,
    budget: deps.budget,
    breakers: deps.breakers,
    signal,
    attempt: (planned, n) => {
      const facts = factsOf(unit, planned, deps);
      return tryRoute({ unit, planned, n, facts, signal, isGone, remainingMs: remaining() }, deps);
    },
  });
}

function firstFacts(unit: Unit, deps: ServeDeps): AnswerFacts {
  return factsOf(unit, unit.admitted.prepared.plan.routes[0], deps);
}

function factsOf(unit: Unit, planned: PlannedRoute, { clock, random }: ServeDeps): AnswerFacts {
  const { request, tier } = unit.admitted.prepared;
  return {
    requestId: unit.call.requestId,
    model: planned.model.record.id,
    created: Math.floor(unit.call.receivedAtMs / 1_000),
    answerId: newId(request.dialect === 'messages' ? 'msg' : 'chatcmpl', clock, random),
    tier,
    byokUsed: false,
    fallbackTriggered: unit.isFallback(planned),
    excludeReasoning: request.reasoning?.exclude ?? false,
    deprecatedCacheKey: planned.route.provider === 'amazon-bedrock',
    includeUsage: request.includeUsage,
    legacyFunctions: request.legacyFunctions,
  };
}

function answerHeaders(unit: Unit, ignored: string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  const [first] = unit.attempts;
  if (first) headers[HEADER.overhead] = (first.startedMs - unit.call.startedMs).toFixed(2);
  if (ignored.length > 0) headers[HEADER.ignoredParams] = [...new Set(ignored)].join(', ');
  return headers;
}

async function answerPlain(
  unit: Unit,
  { attempt, body, events, facts, ignored, isSameDialect }: Plain,
  responder: Responder,
): Promise<void> {
  const { front } = unit.call;
  const answer = isSameDialect
    ? front.editAnswer(body, attempt.meter.completed(), facts)
    : front.fold(events, facts);
  await unit.finish({ outcome: 'served', httpStatus: 200, errorCode: null });
  responder.json(answer, answerHeaders(unit, ignored));
}

/** The upstream answered whole though a stream was asked for: the same answer, told as a stream. */
async function answerUnstreamed(unit: Unit, { events, facts }: Plain, client: Client): Promise<void> {
  const encoder = unit.call.front.streamEncoder(facts);
  const frames = events.map((event) => encoder.write(event)).join('');
  await unit.finish({ outcome: 'served', httpStatus: 200, errorCode: null });
  await client.write(frames);
  client.end();
}
