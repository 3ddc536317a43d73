import {
  ApiError,
  type AdmitRequest,
  type Clock,
  type Funds,
  type KeyPrincipal,
  type LimitStore,
  type Random,
  type Refusal,
} from '@gateway/contracts';
import {
  admitRequest,
  LEASE_MS,
  refusalError,
  unitScopes,
  type Admitted,
  type PutQueue,
} from '@gateway/limits';
import { unavailable } from '@gateway/platform';
import type { StoreWatch } from '../units/store-watch.js';
import type { Prepared } from './prepare.js';

export interface AdmissionDeps {
  limits: Pick<LimitStore, 'admit' | 'stamp' | 'version'>;
  funds: Funds;
  puts: PutQueue;
  watch: Pick<StoreWatch, 'settled'>;
  clock: Clock;
  random: Random;
}

/** The admission refused: a rejection record needs to know which limit, and the caller gets the error. */
export class Refused {
  constructor(
    readonly error: ApiError,
    readonly refusal: Refusal,
  ) {}
}

export interface AdmittedUnit {
  prepared: Prepared;
  asked: AdmitRequest;
  admitted: Admitted;
}

/** More rounds than the protocol needs: stale once, missing once, and one of each again after a failover. */
const MOST_ROUNDS = 5;

/**
 * Admits the unit over every scope: one awaited trip on the warm path. A stale principal is reloaded and everything that
 * rested on it prepared again; posted totals that the store does not know are mirrored first. Answers Refused; throws
 * ApiError where the reloaded key may no longer call, and service_unavailable where it cannot be decided.
 */
export async function admit(
  unit: string,
  first: Prepared,
  reload: () => Promise<KeyPrincipal>,
  prepareFor: (principal: KeyPrincipal) => Prepared,
  deps: AdmissionDeps,
): Promise<AdmittedUnit | Refused> {
  const doubt: Doubt = { asked: null };
  try {
    const outcome = await decide({ unit, first, reload, prepareFor, doubt }, deps);
    if (outcome instanceof Refused) cancel(doubt, deps);
    return outcome;
  } catch (error) {
    cancel(doubt, deps);
    throw error;
  }
}

/** What the store may have counted though its answer did not come. */
interface Doubt {
  asked: AdmitRequest | null;
}

interface Decision {
  unit: string;
  first: Prepared;
  reload: () => Promise<KeyPrincipal>;
  prepareFor: (principal: KeyPrincipal) => Prepared;
  doubt: Doubt;
}

async function decide(
  { unit, first, reload, prepareFor, doubt }: Decision,
  { limits, funds, random, watch }: AdmissionDeps,
): Promise<AdmittedUnit | Refused> {
  let prepared = first;
  for (let round = 0; round < MOST_ROUNDS; round += 1) {
    const { record } = prepared.model;
    const asked = admitRequest(prepared.principal, { id: record.id, isFree: record.is_free }, unit, {
      nano: prepared.reservation.reserved_nano,
      tokens: prepared.tokenEstimate,
    });
    const result = await ask(asked, limits, doubt);
    switch (result.outcome) {
      case 'ok':
        return { prepared, asked, admitted: result };
      case 'refused':
        return new Refused(refusalError(result.refusal, random), result.refusal);
      case 'stale': {
        const principal = await reload();
        await limits.stamp(principal.accountId, principal.accountVersion, result.gen);
        prepared = prepareFor(principal);
        break;
      }
      case 'missing':
        // Posted totals alone would hide what this process has not shipped yet.
        await watch.settled();
        await funds.seedGate(asked.accountId, result.gen, unitScopes(asked));
        break;
      case 'gone':
        throw new ApiError('internal_error', {
          cause: new Error(`unit ${unit} was settled before it was admitted`),
        });
      case 'away':
        throw unavailable(random, new Error('the limit store is away and the local share cannot decide'));
    }
  }
  throw unavailable(random, new Error('admission did not settle'));
}

async function ask(
  asked: AdmitRequest,
  limits: AdmissionDeps['limits'],
  doubt: Doubt,
): ReturnType<LimitStore['admit']> {
  try {
    const result = await limits.admit(asked);
    if (result.away === 'unsure') doubt.asked = asked;
    return result;
  } catch (error) {
    doubt.asked = asked;
    throw error;
  }
}

/** Whether a late admit was counted is not known: the unit is cancelled, which is harmless where it was not. */
function cancel({ asked }: Doubt, { puts }: AdmissionDeps): void {
  if (asked === null) return;
  const { accountId, unit, tokenEstimate } = asked;
  puts.add({
    accountId,
    unit,
    action: 'cancel',
    nano: 0n,
    scopes: unitScopes(asked),
    tokens: 0,
    tokenEstimate,
    minute: 0,
    leaseMs: LEASE_MS,
  });
}
