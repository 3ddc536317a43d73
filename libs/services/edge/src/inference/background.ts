import { writeJson } from '@gateway/json-body';
import { ApiError, newAnswerId, type IdempotencyClaim } from '@gateway/contracts';
import { JSON_HEADERS } from '@gateway/dialects';
import {
  EVENT_STREAM_HEADERS,
  followEvents,
  StoredContentNeeded,
  wholeBody,
  type Asked,
  type EndpointBackground,
} from '@gateway/endpoints';
import { rateHeaders } from '@gateway/limits';
import { PageBudget, Stage, type Closing } from '@gateway/platform';
import type { Plan } from '@gateway/routing';
import { Refused, type AdmittedUnit, type Planned } from '../admission/admission.js';
import type { Client } from '../request/client.js';
import type { InferenceRequest } from '../request/inference-request.js';
import { endUserHash } from '../units/end-user-hash.js';
import type { RefusedAs } from '../units/rejections.js';
import { claimed } from './infer-once.js';
import type { InferDeps } from './infer-deps.js';
import type { LaterRequest } from './planner.js';

/** A request of an endpoint whose answers may be made later: begun where it asks for that, waited for otherwise. */
export function inferOrBegin(
  background: EndpointBackground,
): (call: InferenceRequest, client: Client, deps: InferDeps) => Promise<void> {
  return async (call, client, deps) => {
    if (!background.mayBe(call.bytes)) return deps.inference.run(call, client);
    const asked = await askedLater(call, background, deps);
    return asked === null
      ? deps.inference.run(call, client)
      : begin({ call, asked, background }, client, deps);
  };
}

/** Null for a body that is waited for, and for one that is refused: that is said where all others are. */
async function askedLater(
  { bytes, headers, principal }: InferenceRequest,
  background: EndpointBackground,
  { storedBodies }: InferDeps,
): Promise<Asked | null> {
  const read = readable(() => background.read({ bytes, headers }));
  if (!(read instanceof StoredContentNeeded)) return read;
  const composed = await storedBodies.bodyOf(read, principal).catch(() => null);
  return composed === null ? null : readable(() => wholeBody(background.read({ bytes: composed, headers })));
}

function readable<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}

interface Begin {
  call: InferenceRequest;
  asked: Asked;
  background: EndpointBackground;
  claim?: IdempotencyClaim;
}

type BegunResponse = Record<string, unknown> & { id: string };

async function begin(begun: Begin, client: Client, deps: InferDeps): Promise<void> {
  // What was recalled for the checks is over with them: who follows the events may be there for hours.
  const checks = new Stage();
  const response = await beginOnce(begun, { client, checks }, deps).finally(() => checks.close());
  if (!begun.asked.stream) return client.answer(writeJson(response), JSON_HEADERS);
  client.open(EVENT_STREAM_HEADERS);
  const { call } = begun;
  const room = new PageBudget(deps.pressure.ofAccount(call.principal.accountId));
  const events = followEvents({
    read: (after) =>
      room.read((reserveMemory) =>
        deps.background.events(call.principal.keyId, response.id, after, reserveMemory),
      ),
    after: -1,
    clock: deps.clock,
    isGone: () => client.isGone,
  });
  try {
    for await (const frames of events) await client.write(frames);
    client.end();
  } catch {
    // It goes on, and its stream can be resumed.
    client.cut();
  } finally {
    room.close();
  }
}

/** A repeat under an Idempotency-Key follows the response that the first one began. */
async function beginOnce(
  begun: Begin,
  caller: { client: Client; checks: Closing },
  deps: InferDeps,
): Promise<BegunResponse> {
  const held = await claimed(begun.call, deps);
  if (held === null) return beginNow(begun, caller, deps);
  const { claim, answer } = held;
  if (answer !== null) return answer.body as BegunResponse;
  try {
    return await beginNow({ ...begun, claim }, caller, deps);
  } catch (failure) {
    // Where it has begun all the same, it is answered by now.
    await deps.idempotency.release(claim).catch(() => undefined);
    throw failure;
  }
}

/** Refuses what would be refused now, counting nothing; what is run is admitted when it is. */
async function beginNow(
  begun: Begin,
  { client, checks }: { client: Client; checks: Closing },
  deps: InferDeps,
): Promise<BegunResponse> {
  const { call, background, claim } = begun;
  const { endpoint, principal } = call;
  const { plan, asked } = await checked(call, begun.asked, { client, checks }, deps);
  const id = newAnswerId(endpoint.idPrefix, deps.clock, deps.random);
  const createdAt = Math.floor(call.receivedAtMs / 1_000);
  const response = { ...background.begun(asked, { id, createdAt, model: plan.model.record.id }), id };
  const { isStored: _always, ...record } = endpoint.state?.record(asked) ?? NO_RECORD;
  const hash = asked.endUser === null ? null : endUserHash(principal, asked.endUser);
  const made = {
    ...record,
    ...{ id, key_id: principal.keyId, account_id: principal.accountId, request_id: call.requestId },
    ...{ end_user_hash: hash, created_at: createdAt, response },
    body: { ...background.body(asked), model: asked.model ?? principal.defaultModel },
  };
  await deps.background.begin(made, claim);
  return response;
}

const NO_RECORD = { isStored: true, input: [], previous_response_id: null, conversation_id: null };

/** The plan of a request that would be let in now, with the items that it names. Throws ApiError; the refusal is recorded. */
async function checked(
  call: InferenceRequest,
  given: Asked,
  { client, checks }: { client: Client; checks: Closing },
  { planner, admission, rejections }: InferDeps,
): Promise<{ plan: Plan; asked: Asked }> {
  let later: LaterRequest | null = null;
  let planned: Planned | null = null;
  let outcome: AdmittedUnit | Refused;
  const refusedAs = (id: string | null): RefusedAs => ({
    id,
    requested: given.model,
    tags: later?.read.facts.tags,
  });
  try {
    later = await planner.readLater(call, given, checks);
    planned = await admission.plan(call.principal, later.read);
    outcome = await admission.tryOut({ unit: `${call.requestId}/0`, planned, again: later.read });
  } catch (failure) {
    const error = flagged(failure);
    rejections.addFailure(call, refusedAs(planned?.plan.model.record.id ?? null), error);
    throw error;
  }
  if (!(outcome instanceof Refused)) {
    client.rateHeaders = rateHeaders(outcome.request.scopes, outcome.admitted);
    return { plan: outcome.plan, asked: later.own };
  }
  const { error, refusal, model } = outcome;
  client.rateHeaders = outcome.rateHeaders;
  rejections.add(call, refusedAs(model), error, refusal);
  throw error;
}

/** A model that cannot is one that lacks the capability, whatever else a plan may lack. */
function flagged(failure: unknown): unknown {
  if (!(failure instanceof ApiError) || failure.options.param !== 'background') return failure;
  return new ApiError('model_capability_not_supported', {
    status: 400,
    message: 'The model does not support background responses.',
    param: 'background',
  });
}
