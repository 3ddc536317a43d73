import { ApiError, HEADER, newId, type Clock, type KeyPrincipal, type Random } from '@gateway/contracts';
import type { AnswerFacts, ModelRequest } from '@gateway/dialects';
import { LEASE_MS, rateHeaders } from '@gateway/limits';
import { unavailable, type Deadlines } from '@gateway/platform';
import { runAttempts, type PlannedRoute, type RetryBudget } from '@gateway/routing';
import { tryRoute, type AttemptDeps, type Committed } from '../upstream/attempt.js';
import { renewal, type InFlight } from '../units/in-flight.js';
import type { Rejections } from '../units/rejections.js';
import { Unit, type UnitDeps } from '../units/unit.js';
import { admit, Refused, type AdmissionDeps, type AdmittedUnit } from './admission.js';
import type { Call } from './call.js';
import type { Client } from './client.js';
import { prepare, readRequest, type PrepareDeps, type Prepared } from './prepare.js';
import { KeepAlive, StreamAnswer, type StreamDeps } from './stream-answer.js';

export interface InferenceDeps extends PrepareDeps, AdmissionDeps, UnitDeps, AttemptDeps, StreamDeps {
  clock: Clock;
  random: Random;
  deadlines: Deadlines;
  budget: RetryBudget;
  inFlight: InFlight;
  rejections: Rejections;
}

/** Where an answer goes. The endpoint's side of Fastify's reply. */
export interface Responder {
  client: Client;
  /** A whole answer. */
  json(body: Record<string, unknown>, headers: Record<string, string>): void;
  /** Sends 200 and the headers of a stream; a second call does nothing. */
  openStream(headers: Record<string, string>): void;
  readonly isStreamOpen: boolean;
}

/**
 * One inference request from its bytes to its last byte. Reads as the order of refusals: body, model and access,
 * capability, plan, limits; then attempts. Throws ApiError while nothing was sent; after that failures are in-band.
 */
export async function infer(call: Call, responder: Responder, deps: InferenceDeps): Promise<void> {
  const admitted = await admitCall(call, deps);
  const unit = openUnit(call, admitted, deps);
  try {
    await serve(unit, responder, deps);
  } catch (error) {
    await fail(unit, error, responder);
    throw error;
  } finally {
    deps.inFlight.remove(admitted.asked.unit);
  }
}

/** Everything before the first attempt. A refusal is recorded, and nothing of it is counted. */
async function admitCall(call: Call, deps: InferenceDeps): Promise<AdmittedUnit> {
  const model: { id: string | null; requested: string | null } = { id: null, requested: null };
  const refuse = (error: unknown, refusal: Refused['refusal'] | null): never => {
    if (error instanceof ApiError && error.status < 500) deps.rejections.add(call, model, error, refusal);
    throw error;
  };
  const prepareFor = (request: ModelRequest, principal: KeyPrincipal): Prepared => {
    const prepared = prepare(request, principal, deps);
    model.id = prepared.model.record.id;
    return prepared;
  };
  let outcome: AdmittedUnit | Refused;
  try {
    const request = readRequest(call);
    model.requested = request.model ?? call.principal.defaultModel;
    const first = prepareFor(request, call.principal);
    outcome = await admit(
      `${call.requestId}/0`,
      first,
      () => call.reload(),
      (principal) => prepareFor(request, principal),
      deps,
    );
  } catch (error) {
    return refuse(error, null);
  }
  return outcome instanceof Refused ? refuse(outcome.error, outcome.refusal) : outcome;
}

function openUnit(call: Call, admitted: AdmittedUnit, deps: InferenceDeps): Unit {
  const unit = Unit.open(call, admitted, deps);
  if (unit) {
    deps.inFlight.add(admitted);
    return unit;
  }
  deps.puts.add({ ...renewal(admitted), action: 'cancel', nano: 0n, leaseMs: LEASE_MS });
  throw unavailable(deps.random, new Error('the journal takes no new unit'));
}

async function serve(unit: Unit, responder: Responder, deps: InferenceDeps): Promise<void> {
  const { client } = responder;
  const { request, plan } = unit.admitted.prepared;
  if (!request.stream) {
    const committed = await attempts(unit, client, deps);
    return answerPlain(unit, committed, responder, deps);
  }
  const encoder = unit.call.front.streamEncoder(factsOf(unit, plan.routes[0], deps));
  const keepAlive = new KeepAlive(client, deps, () => {
    responder.openStream(streamHeaders(unit, []));
    return encoder.keepAlive();
  });
  try {
    const committed = await attempts(unit, client, deps);
    if (committed.kind === 'plain') return await answerUnstreamed(unit, committed, responder, deps);
    responder.openStream(streamHeaders(unit, committed.ignored));
    await new StreamAnswer(unit, committed, client, encoder, keepAlive, deps).run();
  } finally {
    keepAlive.stop();
  }
}

function attempts(unit: Unit, client: Client, deps: InferenceDeps): Promise<Committed> {
  const { plan, principal } = unit.admitted.prepared;
  const policy = principal.routingPolicy ?? {};
  const startedMs = deps.clock.monotonic();
  const remaining = (): number =>
    (policy.total_timeout_ms ?? Number.MAX_SAFE_INTEGER) - (deps.clock.monotonic() - startedMs);
  const { signal } = client.upstream;
  return runAttempts({
    plan,
    policy,
    clock: deps.clock,
    random: deps.random,
    budget: deps.budget,
    breakers: deps.breakers,
    signal,
    attempt: (planned, n) =>
      tryRoute(
        { unit, planned, n, facts: factsOf(unit, planned, deps), signal, remainingMs: remaining() },
        deps,
      ),
  });
}

function factsOf(unit: Unit, planned: PlannedRoute, { clock, random }: InferenceDeps): AnswerFacts {
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
  const { asked, admitted } = unit.admitted;
  const headers = rateHeaders(asked.scopes, admitted);
  const [first] = unit.attempts;
  if (first) headers[HEADER.overhead] = (first.startedMs - unit.call.startedMs).toFixed(2);
  if (ignored.length > 0) headers[HEADER.ignoredParams] = [...new Set(ignored)].join(', ');
  return headers;
}

function streamHeaders(unit: Unit, ignored: string[]): Record<string, string> {
  return answerHeaders(unit, ignored);
}

function plainBody(
  unit: Unit,
  committed: Extract<Committed, { kind: 'plain' }>,
  deps: InferenceDeps,
): Record<string, unknown> {
  const { front } = unit.call;
  const facts = factsOf(unit, committed.attempt.planned, deps);
  if (!committed.isSameDialect) return front.fold(committed.events, facts);
  return front.editAnswer(committed.body, committed.attempt.meter.usage ?? {}, facts);
}

async function answerPlain(
  unit: Unit,
  committed: Committed,
  responder: Responder,
  deps: InferenceDeps,
): Promise<void> {
  if (committed.kind !== 'plain') throw new TypeError('a stream came for a plain request');
  const body = plainBody(unit, committed, deps);
  await unit.finish({ outcome: 'served', httpStatus: 200, errorCode: null });
  responder.json(body, answerHeaders(unit, committed.ignored));
}

/** The upstream answered whole though a stream was asked for: the same answer, told as a stream. */
async function answerUnstreamed(
  unit: Unit,
  committed: Extract<Committed, { kind: 'plain' }>,
  responder: Responder,
  deps: InferenceDeps,
): Promise<void> {
  const { client } = responder;
  const encoder = unit.call.front.streamEncoder(factsOf(unit, committed.attempt.planned, deps));
  responder.openStream(streamHeaders(unit, committed.ignored));
  const frames = committed.events.map((event) => encoder.write(event)).join('');
  await unit.finish({ outcome: 'served', httpStatus: 200, errorCode: null });
  await client.write(frames);
  client.raw.end();
}

/** The unit ends here whatever happened to it; a caller that has gone is billed by pricing 6, a failure is not. */
async function fail(unit: Unit, error: unknown, { client, isStreamOpen }: Responder): Promise<void> {
  if (client.isGone) {
    await unit.finish(
      { outcome: 'cancelled', httpStatus: 499, errorCode: null },
      { finishSeen: false, usageAfterMs: null },
    );
    return;
  }
  const shown = error instanceof ApiError ? error : new ApiError('internal_error', { cause: error });
  await unit.finish({
    outcome: 'failed',
    httpStatus: isStreamOpen ? 200 : shown.status,
    errorCode: shown.code,
  });
  if (!isStreamOpen) return;
  const { front } = unit.call;
  await client.write(front.streamEncoder(emptyFacts(unit)).error(shown));
  client.raw.end();
}

function emptyFacts(unit: Unit): AnswerFacts {
  const { prepared } = unit.admitted;
  return {
    requestId: unit.call.requestId,
    model: prepared.model.record.id,
    created: Math.floor(unit.call.receivedAtMs / 1_000),
    answerId: unit.call.requestId,
    tier: prepared.tier,
    byokUsed: false,
    fallbackTriggered: false,
    excludeReasoning: false,
    deprecatedCacheKey: false,
    includeUsage: false,
    legacyFunctions: false,
  };
}
