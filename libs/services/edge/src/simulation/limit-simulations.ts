import { Injectable } from '@nestjs/common';
import {
  ApiError,
  PrincipalReader,
  shownScope,
  type AdmitRequest,
  type ErrorCode,
  type KeyPrincipal,
  type LimitCheck,
  type LimitSimulation,
  type LimitStore,
  type Principal,
  type Route,
  type SimulateLimitsBody,
  type Trial,
} from '@gateway/contracts';
import { ENDPOINTS, type Asked, type Endpoint } from '@gateway/endpoints';
import { trialChecks, trialHeld, type TrialCheck } from '@gateway/limits';
import { price, priceAt, Usd } from '@gateway/money';
import { permit, visibleKey } from '@gateway/platform';
import type { Provider } from '@gateway/providers';
import { planRoutes, type CatalogueIndex, type PlannedRoute, type RouteStats } from '@gateway/routing';
import { admit, planForCurrent, Refused, type AdmissionDeps, type Again } from '../admission/admit.js';

export interface SimulationDeps extends Omit<AdmissionDeps, 'limits' | 'metrics'> {
  limits: Pick<LimitStore, 'trial' | 'stamp' | 'version'>;
  index: () => CatalogueIndex;
  providers: ReadonlyMap<string, Provider>;
  byok: { providers: ReadonlyMap<string, Provider>; feePct: string };
  breakers: { isOpen(route: Route, credential?: string, account?: string): boolean };
  stats: RouteStats;
}

/** Failures of ours: nothing can be said of the request. */
const OURS: readonly ErrorCode[] = ['internal_error', 'service_unavailable', 'service_draining'];
/** Bytes of a token in the estimate of a prompt. */
const BYTES_PER_TOKEN = 4;
const PATH = '/chat/completions';
const NO_METRICS = { admitted: (): void => undefined };

/** The last admission's subject. */
interface Seen {
  request: AdmitRequest;
  trial: Trial;
}

/**
 * Dry runs of a key's chat completion: the plan and the admission of a real one, in which the store checks and does not
 * count. Nothing is recorded.
 */
@Injectable()
export class LimitSimulations {
  private deps: SimulationDeps | null = null;

  constructor(private readonly principals: PrincipalReader) {}

  /** Sets the inference, once it is made. */
  use(deps: SimulationDeps): void {
    this.deps = deps;
  }

  /** Throws ApiError `not_found` for a key that the caller may not look at, `service_unavailable`. */
  async simulate(caller: Principal, body: SimulateLimitsBody, requestId: string): Promise<LimitSimulation> {
    const { deps } = this;
    if (deps === null) throw new TypeError('inference is not ready yet');
    const key = await visibleKey(this.principals, caller, body.key_id);
    const seen: { last: Seen | null; price: string | null } = { last: null, price: null };
    const limits = dryRun(deps.limits, (last) => (seen.last = last));
    const endpoint = chat();
    const asked = askedOf(endpoint, body);
    const again: Again = {
      reload: async () => usable(await visibleKey(this.principals, caller, body.key_id), endpoint, deps),
      planFor: (principal) => {
        const { providers, byok, breakers, stats } = deps;
        const [index, nowMs] = [deps.index(), deps.clock.now()];
        const routing = { providers, byok, breakers, stats, nowMs };
        const plan = planRoutes({ asked, endpoint, principal, index, ...routing });
        seen.price = priceOf(plan.routes[0].terms, body, asked, nowMs);
        return { principal, asked, plan };
      },
    };
    try {
      const planned = await planForCurrent(usable(key, endpoint, deps), again, { limits });
      const outcome = await admit(`${requestId}/0`, planned, again, { ...deps, limits, metrics: NO_METRICS });
      return answerOf(outcome instanceof Refused ? outcome.error.code : null, seen.last, seen.price);
    } catch (refusal) {
      if (!(refusal instanceof ApiError) || OURS.includes(refusal.code)) throw refusal;
      return { admitted: false, code: refusal.code, checks: [], price_usd: null, reserve_usd: null };
    }
  }
}

/** The store as admission knows it, except that it counts nothing. */
function dryRun(
  limits: SimulationDeps['limits'],
  onTrial: (seen: Seen) => void,
): Pick<LimitStore, 'admit' | 'stamp' | 'version'> {
  return {
    admit: async (request) => {
      const trial = await limits.trial(request);
      onTrial({ request, trial });
      return trial.result;
    },
    stamp: (accountId, version, gen) => limits.stamp(accountId, version, gen),
    version: (accountId) => limits.version(accountId),
  };
}

function chat(): Endpoint {
  const endpoint = ENDPOINTS.find(({ paths }) => paths.includes(PATH));
  if (endpoint === undefined) throw new TypeError(`there is no endpoint ${PATH}`);
  return endpoint;
}

/** A greeting with the numbers of the simulation in place of its own. */
function askedOf(endpoint: Endpoint, body: SimulateLimitsBody): Asked {
  const greeting = { model: body.model, messages: [{ role: 'user', content: 'Hello' }] };
  const asked = endpoint.read({
    bytes: Buffer.from(JSON.stringify(greeting)),
    headers: { 'content-type': 'application/json' },
  });
  return {
    ...asked,
    input: { inputBytes: body.prompt_tokens * BYTES_PER_TOKEN },
    maxOutputTokens: body.max_tokens,
  };
}

/** Returns the key as the guard judges it at a real request. */
function usable(key: KeyPrincipal, { permission }: Endpoint, { clock }: SimulationDeps): KeyPrincipal {
  permit(key, { key: { permission } }, clock);
  return key;
}

/** Returns the cost at the price that holds now. */
function priceOf(
  terms: PlannedRoute['terms'],
  body: SimulateLimitsBody,
  { context }: Asked,
  nowMs: number,
): string {
  const usage = { prompt_tokens: body.prompt_tokens, completion_tokens: body.max_tokens };
  const { record } = priceAt(terms.record, nowMs);
  return price({ ...terms, record, usage, context }).cost_usd;
}

function answerOf(code: ErrorCode | null, seen: Seen | null, priceUsd: string | null): LimitSimulation {
  const held = seen === null ? null : trialHeld(seen.request, seen.trial);
  const reserve = held === null ? null : Usd.fromNano(held).toString();
  const checks = seen === null ? [] : trialChecks(seen.request, seen.trial).map(toWire);
  return { admitted: code === null, code, checks, price_usd: priceUsd, reserve_usd: reserve };
}

function toWire({ scope, scopeId, counter, metric, current, limit, refuses }: TrialCheck): LimitCheck {
  const isMoney = metric === 'spend_cap' || metric === 'balance';
  const shown = (value: bigint): number | string =>
    isMoney ? Usd.fromNano(value).toString() : Number(value);
  const whose = { ...shownScope(scope, scopeId), counter };
  return { ...whose, metric, current: shown(current), limit: shown(limit), refuses };
}
