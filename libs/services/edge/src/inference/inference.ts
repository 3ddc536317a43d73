import { ApiError, type ErrorCode, type KeyPrincipal } from '@gateway/contracts';
import type { ModelRequest } from '@gateway/dialects';
import { LEASE_MS, rateHeaders } from '@gateway/limits';
import { unavailable } from '@gateway/platform';
import { renewal, type InFlight } from '../units/in-flight.js';
import type { Rejections } from '../units/rejections.js';
import { Unit } from '../units/unit.js';
import { admit, Refused, type AdmissionDeps, type AdmittedUnit } from './admission.js';
import { readHeaders, type Call } from './call.js';
import { forCurrentPrincipal } from './current-principal.js';
import { prepare, readRequest, type PrepareDeps, type Prepared } from './prepare.js';
import { refusedRateHeaders } from './refused-rate-headers.js';
import { fail, serve, type Responder, type ServeDeps } from './serve.js';

export interface InferenceDeps extends PrepareDeps, AdmissionDeps, ServeDeps {
  inFlight: InFlight;
  rejections: Rejections;
}

/** Failures of ours that say nothing about the request: they are metrics, not records of a caller. */
const NOT_RECORDED: readonly ErrorCode[] = ['internal_error', 'service_unavailable', 'service_draining'];

/**
 * One inference request from its bytes to its last byte. Reads as the order of refusals: body, model and access,
 * capability, plan, limits; then attempts. Throws ApiError while nothing was sent; after that failures are in-band.
 */
export async function infer(call: Call, responder: Responder, deps: InferenceDeps): Promise<void> {
  const admitted = await admitCall(call, responder, deps);
  responder.rate(rateHeaders(admitted.asked.scopes, admitted.admitted));
  const unit = openUnit(call, admitted, responder, deps);
  try {
    await serve(unit, responder, deps);
  } catch (error) {
    throw await fail(unit, error, responder, deps);
  } finally {
    deps.inFlight.remove(admitted.asked.unit);
  }
}

/** Everything before the first attempt. A refusal is recorded, and nothing of it is counted. */
async function admitCall(call: Call, responder: Responder, deps: InferenceDeps): Promise<AdmittedUnit> {
  const model: { id: string | null; requested: string | null } = { id: null, requested: null };
  const refuse = (error: unknown, refusal: Refused['refusal'] | null): never => {
    if (error instanceof ApiError && !NOT_RECORDED.includes(error.code))
      deps.rejections.add(call, model, error, refusal);
    throw error;
  };
  const prepareFor = (request: ModelRequest, principal: KeyPrincipal): Prepared => {
    const prepared = prepare(request, principal, deps);
    model.id = prepared.model.record.id;
    return prepared;
  };
  let outcome: AdmittedUnit | Refused;
  try {
    readHeaders(call);
    const request = readRequest(call);
    model.requested = request.model ?? call.principal.defaultModel;
    const first = await forCurrentPrincipal(call, deps.limits, (principal) => prepareFor(request, principal));
    if (!deps.journal.isAccepting) throw notAccepting(deps);
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
  if (!(outcome instanceof Refused)) return outcome;
  responder.rate(refusedRateHeaders(outcome.refusal));
  return refuse(outcome.error, outcome.refusal);
}

function openUnit(call: Call, admitted: AdmittedUnit, { client }: Responder, deps: InferenceDeps): Unit {
  const unit = Unit.open(call, admitted, deps);
  if (unit) {
    // Let in without the store: it learns of the unit when it is back.
    if (admitted.admitted.away !== undefined) deps.puts.add(renewal(admitted));
    deps.inFlight.add(admitted, () => client.upstream.abort());
    return unit;
  }
  deps.puts.add({ ...renewal(admitted), action: 'cancel', nano: 0n, leaseMs: LEASE_MS });
  throw notAccepting(deps);
}

function notAccepting({ random }: InferenceDeps): ApiError {
  return unavailable(random, new Error('the journal takes no new unit'));
}
