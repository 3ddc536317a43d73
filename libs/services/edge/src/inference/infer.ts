import {
  ApiError,
  HEADER,
  type BackgroundResponses,
  type ErrorCode,
  type GivenAnswer,
  type IdempotencyStore,
  type KeyPrincipal,
  type LimitStore,
} from '@gateway/contracts';
import { StoredContentNeeded, type Asked, type Requirement } from '@gateway/endpoints';
import { LEASE_MS, rateHeaders } from '@gateway/limits';
import { unavailable, type Pressure } from '@gateway/platform';
import type { Provider } from '@gateway/providers';
import { credentialOf, planRoutes, type Plan, type CatalogueIndex, type PlanOptions } from '@gateway/routing';
import {
  admit,
  planForCurrent,
  Refused,
  type AdmissionDeps,
  type AdmittedUnit,
  type Again,
} from '../admission/admit.js';
import type { BatchPace } from '../admission/batch-pace.js';
import { letIn } from '../admission/let-in.js';
import { withNamedFiles, type NamedFilesDeps } from '../state/named-files.js';
import { recall, resolve, type RecallDeps } from '../state/recall.js';
import { cacheName } from '../cache/cache-name.js';
import type { ContentLog } from '../contents/content-log.js';
import { requestTags, type Call } from '../request/call.js';
import type { Client } from '../request/client.js';
import { renewal, type InFlight } from '../units/in-flight.js';
import type { ClientSecrets } from './client-secrets.js';
import type { Rejections } from '../units/rejections.js';
import type { Revocations } from '../units/revocations.js';
import { Unit } from '../units/unit.js';
import type { StoredBodies } from './stored-bodies.js';
import { deliver, fail, replay, type DeliverDeps } from './deliver.js';

export interface InferDeps extends AdmissionDeps, DeliverDeps, RecallDeps, NamedFilesDeps {
  store: RecallDeps['store'];
  objects: DeliverDeps['objects'];
  metrics: AdmissionDeps['metrics'] & DeliverDeps['metrics'];
  settling: AdmissionDeps['settling'] & DeliverDeps['settling'];
  index: () => CatalogueIndex;
  /** Providers with a credential, by slug. */
  providers: ReadonlyMap<string, Provider>;
  byok: PlanOptions['byok'];
  storedBodies: Pick<StoredBodies, 'bodyOf'>;
  inFlight: InFlight;
  revocations: Revocations;
  /** Aborted when a drain's grace is over. */
  drainDeadline: AbortSignal;
  rejections: Rejections;
  clientSecrets: ClientSecrets;
  background: BackgroundResponses;
  idempotency: IdempotencyStore;
  pressure: Pick<Pressure, 'ofAccount' | 'held' | 'released'>;
  limits: Pick<LimitStore, 'admit' | 'stamp' | 'version' | 'trial' | 'put'>;
  contents: Pick<ContentLog, 'begin'>;
  pace: BatchPace;
}

/** Failures of ours that say nothing about the request: they are metrics, not records of a caller. */
export const NOT_RECORDED: readonly ErrorCode[] = [
  'internal_error',
  'service_unavailable',
  'service_draining',
];

/**
 * One inference request from its bytes to its last byte. Reads as the order of refusals: body, model and access,
 * capability, plan, limits; then attempts. Throws ApiError while nothing was sent; after that failures are in-band.
 */
export async function infer(call: Call, client: Client, deps: InferDeps): Promise<void> {
  const admitted = await planAndAdmit(call, client, deps);
  client.rateHeaders = rateHeaders(admitted.request.scopes, admitted.admitted);
  if (admitted.principal.responseCache && call.endpoint.isCacheable)
    client.rateHeaders = { ...client.rateHeaders, [HEADER.cache]: admitted.cached ? 'HIT' : 'MISS' };
  const unit = openUnit(call, admitted, client, deps);
  watchKey(unit, client, deps);
  const content = admitted.principal.requestLogging ? deps.contents.begin(call, admitted, client) : null;
  try {
    if (admitted.cached) await replay(unit, admitted.cached, client);
    else await deliver(unit, client, deps);
  } catch (error) {
    throw await fail(unit, error, client);
  } finally {
    deps.inFlight.remove(admitted.request.unit);
    deps.revocations.remove(admitted.request.unit);
    content?.end();
  }
}

/**
 * Ends the request once its key is suspended or deleted. What a provider makes as a job and is paid for in any case goes
 * on, and so does what a provider has answered already.
 */
function watchKey({ call, admitted }: Unit, client: Client, { revocations }: InferDeps): void {
  if (call.endpoint.isCreate || call.given) return;
  const { accountId, accountVersion: version } = admitted.principal;
  const end = (refusal: ApiError): void => client.upstream.abort(refusal);
  revocations.add(admitted.request.unit, { accountId, version, reload: () => call.reload(), end });
}

/** Everything before the first attempt. A refusal is recorded, and nothing of it is counted. */
async function planAndAdmit(call: Call, client: Client, deps: InferDeps): Promise<AdmittedUnit> {
  const { endpoint } = call;
  const model: { id: string | null; requested: string | null } = { id: null, requested: null };
  let outcome: AdmittedUnit | Refused;
  try {
    call.tags = requestTags(call.headers, call.principal);
    const composed = async (named: StoredContentNeeded, principal: KeyPrincipal): Promise<Asked> =>
      endpoint.read({ bytes: await deps.storedBodies.bodyOf(named, principal), headers: call.headers });
    const read = readBody(call);
    const named = read instanceof StoredContentNeeded ? read : null;
    let asked = read instanceof StoredContentNeeded ? await composed(read, call.principal) : read;
    if (endpoint.state) {
      asked = await resolve(asked, call, client, deps);
      call.record = endpoint.state.record(asked);
    }
    if (endpoint.state || asked.files) asked = await continued(asked, call, client, deps);
    model.requested = asked.model ?? call.principal.defaultModel;
    const again: Again = {
      reload: async () => {
        const principal = await call.reload();
        if (named === null) return principal;
        asked = await composed(named, principal);
        const current = { ...call, principal };
        asked = await continued(await resolve(asked, current, client, deps), current, client, deps);
        return principal;
      },
      planFor: (principal) => {
        const { providers, byok, stats } = deps;
        const { given } = call;
        if (call.isBatch) asked = atBatchTier(asked);
        if (given) asked = { ...asked, credential: given.credential };
        const breakers = given ? NEVER_OPEN : deps.breakers;
        const planned = planRoutes({
          asked,
          endpoint,
          principal,
          index: deps.index(),
          providers,
          byok,
          breakers,
          stats,
          nowMs: call.receivedAtMs,
        });
        const plan = given ? answeredBy(given, planned) : planned;
        // What cannot be said in the first route's dialect is refused before anything is counted.
        const [{ translation }] = plan.routes;
        if (!translation.exchange) void translation.request;
        model.id = plan.model.record.id;
        // What a template or a stored response adds may be another one the next time.
        const isOwn = named === null && !given && !call.record?.isStored && call.memory === null;
        const hasMemory = named !== null && named.memory !== null;
        const ttlMs = isOwn ? principal.responseCache?.ttlMs : undefined;
        const kept = ttlMs === undefined ? null : cachedFor(call, plan, principal, ttlMs, deps);
        return { principal, asked, plan, hasMemory, ...kept };
      },
    };
    const planned = await planForCurrent(call.principal, again, deps);
    if (!deps.journal.isAccepting) throw notAccepting(deps);
    const unit = `${call.requestId}/${call.unit}`;
    if (call.given) return letIn(unit, planned, deps);
    outcome = await admit(unit, planned, again, deps);
    if (!(outcome instanceof Refused)) return outcome;
  } catch (error) {
    if (error instanceof ApiError && !NOT_RECORDED.includes(error.code))
      deps.rejections.add(call, model, error, null);
    throw error;
  }
  const { error, refusal } = outcome;
  client.rateHeaders = outcome.rateHeaders;
  if (!NOT_RECORDED.includes(error.code)) deps.rejections.add(call, model, error, refusal);
  throw error;
}

/** Returns the request with the conversation before it, and the bytes of the files that either names. */
async function continued(asked: Asked, call: Call, client: Client, deps: InferDeps): Promise<Asked> {
  return withNamedFiles(await recall(asked, call, client, deps), call, client, deps);
}

const NEVER_OPEN: PlanOptions['breakers'] = { isOpen: () => false };

/** The route that has answered. Throws ApiError where it is in the plan no more. */
function answeredBy({ credential }: GivenAnswer, plan: Plan): Plan {
  const route = plan.routes.find((one) => credentialOf(one) === credential);
  if (route === undefined) throw new ApiError('provider_not_available', { retryAfterSeconds: 5 });
  return { ...plan, routes: [route] };
}

const BATCHES: Requirement = { flag: 'supports_batching', param: 'model', what: 'batches' };

/** Returns the request at the batch tier, whatever its body says of a tier. */
export function atBatchTier(asked: Asked): Asked {
  if (asked.tier === 'batch') return asked;
  return { ...asked, tier: 'batch', requires: [...asked.requires, BATCHES] };
}

/** Reads the request, or returns what has to be fetched first. */
function readBody(call: Call): Asked | StoredContentNeeded {
  try {
    return call.endpoint.read(call);
  } catch (failure) {
    if (failure instanceof StoredContentNeeded) return failure;
    throw failure;
  }
}

/** Returns the cached answer of a key with a response cache. */
function cachedFor(
  call: Call,
  { model, requestedModel }: Plan,
  principal: KeyPrincipal,
  ttlMs: number,
  { cache }: InferDeps,
): Pick<AdmittedUnit, 'cacheName' | 'cached'> {
  const name = cacheName(call, principal, requestedModel === 'auto' ? requestedModel : model.record.id);
  if (name === null) return {};
  return { cacheName: name, cached: cache.find(name, ttlMs, call.receivedAtMs) };
}

/** Its INTENT is written and its lease is renewed from here on. Throws ApiError where the journal takes none. */
export function openUnit(
  call: Call,
  admitted: AdmittedUnit,
  client: { readonly upstream: Pick<AbortController, 'abort'> },
  deps: InferDeps,
): Unit {
  const unit = Unit.open(call, admitted, deps);
  if (unit) {
    call.opened?.();
    // Let in without the store: it learns of the unit when it is back.
    if (admitted.admitted.away !== undefined) deps.puts.add(renewal(admitted));
    deps.inFlight.add(
      admitted,
      (why) => client.upstream.abort(why),
      () => unit.isOver,
    );
    return unit;
  }
  deps.puts.add({ ...renewal(admitted), action: 'cancel', nano: 0n, leaseMs: LEASE_MS });
  throw notAccepting(deps);
}

export function notAccepting({ random }: InferDeps): ApiError {
  return unavailable(random, new Error('the journal takes no new unit'));
}
