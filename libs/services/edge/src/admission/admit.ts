import {
  ApiError,
  type AdmitRequest,
  type AdmitResult,
  type Clock,
  type Funds,
  type KeyPrincipal,
  type LimitStore,
  type Random,
  type Refusal,
} from '@gateway/contracts';
import type { Asked } from '@gateway/endpoints';
import {
  admitRequest,
  LEASE_MS,
  refusalError,
  rateHeaders,
  unitScopes,
  type Admitted,
  type PutQueue,
  type RefusedAdmission,
} from '@gateway/limits';
import { reservation } from '@gateway/money';
import { unavailable } from '@gateway/platform';
import type { Plan } from '@gateway/routing';
import type { CachedAnswer } from '../cache/response-cache.js';
import { expectedInput } from './expected-input.js';
import { fittingRefusal, fittingRequest } from './fit-money.js';
import type { OutputSizes } from './output-sizes.js';
import type { Settling } from './settling.js';

export interface AdmissionDeps {
  limits: Pick<LimitStore, 'admit' | 'stamp' | 'version'>;
  /** Counts every trip to the store and its milliseconds; null where it failed. */
  metrics: { admitted(result: AdmitResult | null, ms: number): void };
  funds: Funds;
  puts: PutQueue;
  /** Waits until what this process has not shipped yet is known to the store. */
  watch: { settled(): Promise<void> };
  /** Costs that have ended in this process and that the store does not know yet. */
  settling: Pick<Settling, 'spent' | 'has' | 'reported'>;
  outputs: OutputSizes;
  clock: Clock;
  random: Random;
}

const HOUR_MS = 3_600_000;
/** Time after its admission in which an attempt of a request may begin. */
const REQUEST_LASTS_MS = HOUR_MS / 2;
/** The same of longer work, by what its money is held as. */
const LASTS_MS: Readonly<Record<string, number>> = { batch: 24 * HOUR_MS, video: 2 * HOUR_MS };

/** A request whose routes are known: ready to be admitted. */
export interface Planned {
  principal: KeyPrincipal;
  asked: Asked;
  plan: Plan;
  /** Name under which the answer is cached; null or absent: it is not. */
  cacheName?: string | null;
  /** The answer is there already: the unit counts as a request, and asks for no money. */
  cached?: CachedAnswer | null;
  /** Memory was attached: what the request may cost has to fit the money that is left. */
  hasMemory?: boolean;
}

/** The admission refused: a rejection record needs to know which limit, and the caller gets the error. */
export class Refused {
  constructor(
    readonly error: ApiError,
    readonly refusal: Refusal,
    /** Rate headers of the key, which is not always what refused. */
    readonly rateHeaders: Readonly<Record<string, string>>,
  ) {}
}

export interface AdmittedUnit extends Planned {
  request: AdmitRequest;
  admitted: Admitted;
}

/**
 * More rounds than the protocol needs: stale once, missing once, one of each again after a failover, and one after each
 * of what may be asked again.
 */
const ROUNDS_MAX = 8;

/** A store that was slow for a moment is asked again after its next probe: most are back by then. */
const AWAY_WAITS_MAX = 10;
const AWAY_WAIT_MS = 100;

/** Output assumed without a limit, a history or a model's bound. */
const LIKELY_OUTPUT_TOKENS = 1_024;

/** Retry of an admission whose principal was old. */
export interface Again {
  /** Reads it past every cache; throws where the key may no longer call. */
  reload(): Promise<KeyPrincipal>;
  planFor(principal: KeyPrincipal): Planned;
}

/** Count that the store may have made though its answer did not come. */
interface Doubt {
  request: AdmitRequest | null;
}

/**
 * Admits the unit over every scope: one awaited trip on the warm path. A stale principal is reloaded and everything that
 * rested on it planned again; posted totals that the store does not know are mirrored first. Where the answer rests on what
 * has ended here and is not settled yet, that is settled and the store asked once more. Answers Refused; throws
 * ApiError where the reloaded key may no longer call, and service_unavailable where it cannot be decided.
 */
export async function admit(
  unit: string,
  first: Planned,
  again: Again,
  deps: AdmissionDeps,
): Promise<AdmittedUnit | Refused> {
  const doubt: Doubt = { request: null };
  let outcome: AdmittedUnit | Refused | null = null;
  try {
    outcome = await decide({ unit, first, again, doubt }, deps);
    return outcome;
  } finally {
    if (doubt.request !== null && (outcome === null || outcome instanceof Refused))
      cancel(doubt.request, deps);
  }
}

async function decide(
  { unit, first, again, doubt }: { unit: string; first: Planned; again: Again; doubt: Doubt },
  deps: AdmissionDeps,
): Promise<AdmittedUnit | Refused> {
  const { limits, funds, random, watch, clock, settling } = deps;
  let planned = first;
  let isAsked = false;
  let isSettled = false;
  let waits = 0;
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const request = requestFor(unit, planned, deps);
    const result = await ask(planned.hasMemory ? fittingRequest(request) : request, doubt, deps);
    switch (result.outcome) {
      case 'ok': {
        // What has ended here since would use up the room that the store saw: it is asked with that.
        const isOverspent = settling.spent(request.accountId) >= (result.roomNano ?? Infinity);
        if (isSettled || !isOverspent) return { ...planned, request, admitted: result };
        isSettled = true;
        cancel(request, deps);
        await settling.reported(request.accountId);
        break;
      }
      case 'refused': {
        if (!isSettled && result.refusal.reservationsOnly && settling.has(request.accountId)) {
          isSettled = true;
          await settling.reported(request.accountId);
          break;
        }
        const refusal = planned.hasMemory ? fittingRefusal(result.refusal, request) : result.refusal;
        const unbilled = refusal.resetsInSeconds === null ? onOwnKeys(planned) : null;
        if (unbilled === null) return refused(refusal, request.scopes, result, planned.principal, random);
        planned = unbilled;
        break;
      }
      case 'stale': {
        const principal = await again.reload();
        await limits.stamp(principal.accountId, principal.accountVersion, result.gen);
        planned = again.planFor(principal);
        break;
      }
      case 'missing':
        // Posted totals alone would hide what this process has not shipped yet.
        await watch.settled();
        await funds.seedGate(request.accountId, result.gen, unitScopes(request));
        break;
      case 'gone':
        // Its answer was lost in a crash. Once its event is posted it is let in again: the ledger takes one event of a unit.
        throw unavailable(random, new Error(`unit ${unit} was settled before it was admitted`));
      case 'doubted':
        // What is posted already and counted twice is freed now; where that changes nothing, a refusal for good may be
        // false for some seconds more.
        if (!isAsked) {
          isAsked = true;
          await funds.reportDue(request.accountId).catch(() => undefined);
          break;
        }
        throw new ApiError('service_unavailable', { retryAfterSeconds: 1, shouldRetry: true });
      case 'away':
        if (waits === AWAY_WAITS_MAX)
          throw unavailable(random, new Error('the limit store is away and the local share cannot decide'));
        waits += 1;
        round -= 1;
        await clock.sleep(AWAY_WAIT_MS);
        break;
    }
  }
  throw unavailable(random, new Error('admission did not settle'));
}

function refused(
  refusal: Refusal,
  scopes: AdmitRequest['scopes'],
  answered: RefusedAdmission,
  payer: KeyPrincipal,
  random: Random,
): Refused {
  return new Refused(refusalError(refusal, random, payer), refusal, rateHeaders(scopes, answered));
}

/**
 * Returns the same plan on the account's own provider keys alone, for an account without money; null where that changes
 * nothing or leaves nothing.
 */
function onOwnKeys(planned: Planned): Planned | null {
  const { plan } = planned;
  const routes = plan.routes.filter(({ terms }) => terms.byok.served);
  if (routes.length === 0 || routes.length === plan.routes.length) return null;
  return { ...planned, plan: { ...plan, routes } };
}

/** Every scope of the unit with the money and the tokens that it may cost (pricing 8). */
export function requestFor(
  unit: string,
  { principal, asked, plan, cached }: Planned,
  { outputs, clock }: Pick<AdmissionDeps, 'outputs' | 'clock'>,
): AdmitRequest {
  // Not always the model asked for: where no route of that can serve, fallbacks of the policy do.
  const { record } = plan.routes[0].model;
  if (cached)
    return admitRequest(principal, { id: record.id, isFree: record.is_free }, unit, {
      nano: 0n,
      worstNano: 0n,
      tokens: 0,
    });
  const likely = outputs.p95(principal.accountId, record.id);
  const wants = (modality: string): boolean =>
    asked.requires.some((one) => 'output' in one && one.output === modality);
  const input = asked.nativeBytes === undefined ? asked.input : expectedInput(asked, plan.routes);
  const heldAs = asked.tier === 'batch' ? 'batch' : asked.heldAs;
  const fromMs = clock.now();
  const held = reservation({
    routes: plan.routes.map(({ route, terms }) => ({
      ...terms,
      maxOutputTokens: route.maxOutputTokens,
      contextLength: route.contextLength,
      p95OutputTokens: likely,
    })),
    begins: { fromMs, untilMs: fromMs + (LASTS_MS[heldAs ?? ''] ?? REQUEST_LASTS_MS) },
    tier: asked.tier,
    input,
    maxTokens: asked.maxOutputTokens,
    choices: asked.choices,
    writesCache: asked.writesCache,
    wantsAudio: wants('audio'),
    wantsImages: wants('image'),
    units: asked.units,
    context: asked.context,
  });
  const output = asked.maxOutputTokens ?? likely ?? LIKELY_OUTPUT_TOKENS;
  return admitRequest(principal, { id: record.id, isFree: record.is_free }, unit, {
    nano: held.reserved_nano,
    worstNano: held.worst_case_nano,
    tokens: held.inputTokens + output,
    heldAs,
  });
}

async function ask(
  request: AdmitRequest,
  doubt: Doubt,
  { limits, metrics, clock }: AdmissionDeps,
): Promise<AdmitResult> {
  const startedMs = clock.monotonic();
  try {
    const result = await limits.admit(request);
    metrics.admitted(result, clock.monotonic() - startedMs);
    if (result.away === 'unsure') doubt.request = request;
    return result;
  } catch (error) {
    metrics.admitted(null, clock.monotonic() - startedMs);
    doubt.request = request;
    throw error;
  }
}

/** Cancels a unit whose late admission may have been counted, which is harmless where it was not. */
export function cancel(request: AdmitRequest, { puts }: Pick<AdmissionDeps, 'puts'>): void {
  const { accountId, unit, tokenEstimate } = request;
  puts.add({
    accountId,
    unit,
    action: 'cancel',
    nano: 0n,
    scopes: unitScopes(request),
    tokens: 0,
    tokenEstimate,
    minute: 0,
    leaseMs: LEASE_MS,
  });
}

/**
 * Plans for the caller. A refusal of it must not rest on an old record: it never reaches admission, which would find that
 * out, so the version is compared here, and where it is not the newest the record is read again (reliability 3.3). What
 * is admitted costs nothing more.
 */
export async function planForCurrent(
  principal: KeyPrincipal,
  again: Again,
  { limits }: Pick<AdmissionDeps, 'limits'>,
): Promise<Planned> {
  try {
    return again.planFor(principal);
  } catch (refusal) {
    if (!(refusal instanceof ApiError) || (await isCurrent(principal, limits))) throw refusal;
    return again.planFor(await again.reload());
  }
}

/** Counts the record as old where the store is unreachable or does not know the version: the reader decides. */
async function isCurrent(
  { accountId, accountVersion }: KeyPrincipal,
  limits: AdmissionDeps['limits'],
): Promise<boolean> {
  try {
    const newest = await limits.version(accountId);
    return newest !== null && newest <= accountVersion;
  } catch {
    return false;
  }
}
