import {
  heldCounter,
  type AdmitRequest,
  type BudgetGrant,
  type ExtraCounter,
  type HeldKind,
  type KeyPrincipal,
  type LimitScope,
} from '@gateway/contracts';
import { settledNano } from '@gateway/money';
import { budgetCounters } from './budget-counters.js';
import { FREE_MODELS } from './limit-rules.js';

/** A reservation not renewed for this long is freed; the edge renews every `RENEW_MS`. */
export const LEASE_MS = 90_000;
export const RENEW_MS = 30_000;

export interface AdmitModel {
  /** Catalogue id `<brand>/<name>`. */
  id: string;
  isFree: boolean;
}

/** Money and tokens that one unit asks its limits for. */
export interface UnitNeeds {
  /** Amount of the price formula at the dearest billable route, rounded up; 0 asks for no money. */
  nano: bigint;
  /** The most that the unit may cost. */
  worstNano: bigint;
  /** Prompt plus largest output. */
  tokens: number;
  /** Time at which the request came in: it says in which period of a budget the unit counts. */
  requestedAtMs: number;
  /** The balance shows it apart; absent = an ordinary request. */
  heldAs?: HeldKind | null;
}

/** Turns who calls, for which model, into what the store admits. `unit` is `<request_id>/<n>`, `budgets` those that count it. */
export function admitRequest(
  principal: KeyPrincipal,
  model: AdmitModel,
  unitId: string,
  needs: UnitNeeds,
  budgets: readonly BudgetGrant[] | undefined = principal.budgets,
): AdmitRequest {
  const { scopes, creditLimitNano } = limitsOf(principal);
  return {
    accountId: principal.accountId,
    accountVersion: principal.accountVersion,
    unitId,
    scopes,
    extra: extraCounters(principal, model, needs, budgets),
    creditLimitNano,
    reservationNano: needs.nano,
    worstNano: needs.worstNano,
    tokenEstimate: needs.tokens,
    leaseMs: LEASE_MS,
  };
}

type KeyLimits = Pick<AdmitRequest, 'scopes' | 'creditLimitNano'>;

// Made once per principal: the Redis driver packs a principal's limits once, too, and finds them by the array.
const limitsByPrincipal = new WeakMap<KeyPrincipal, KeyLimits>();

function limitsOf(principal: KeyPrincipal): KeyLimits {
  let known = limitsByPrincipal.get(principal);
  if (known === undefined) {
    const { creditLimitUsd } = principal;
    known = {
      scopes: limitScopes(principal),
      creditLimitNano: creditLimitUsd === null ? null : settledNano(creditLimitUsd),
    };
    limitsByPrincipal.set(principal, known);
  }
  return known;
}

function limitScopes(principal: KeyPrincipal): LimitScope[] {
  return principal.limits.map((limits) => ({
    kind: limits.kind,
    id: limits.id,
    rpm: limits.rpm,
    rpd: limits.rpd,
    tpm: limits.isDefault.tpm ? null : limits.tpm,
    capNano: limits.spendCapUsd === null ? null : settledNano(limits.spendCapUsd),
  }));
}

function extraCounters(
  principal: KeyPrincipal,
  model: AdmitModel,
  { heldAs = null, requestedAtMs }: Pick<UnitNeeds, 'heldAs' | 'requestedAtMs'>,
  budgets: readonly BudgetGrant[] | undefined,
): ExtraCounter[] {
  const extra: ExtraCounter[] = [];
  if (model.isFree) extra.push({ name: 'free', rpm: FREE_MODELS.rpm, rpd: FREE_MODELS.rpd, tpm: null });
  const name = modelLimitName(principal.modelLimits, model.id);
  if (name !== null) {
    const { rpm, rpd, tpm, spend_cap_usd } = principal.modelLimits[name];
    extra.push({
      name: `m:${name}`,
      rpm: rpm ?? null,
      rpd: rpd ?? null,
      tpm: tpm ?? null,
      capNano: spend_cap_usd === undefined ? null : settledNano(spend_cap_usd),
    });
  }
  if (budgets !== undefined) extra.push(...budgetCounters(budgets, requestedAtMs));
  if (heldAs !== null) extra.push({ name: heldCounter(heldAs), rpm: null, rpd: null, tpm: null });
  return extra;
}

/** Returns the name of a key's model limit that counts a model, or null. The exact id wins over `<brand>/*`. */
export function modelLimitName(limits: KeyPrincipal['modelLimits'], modelId: string): string | null {
  if (Object.hasOwn(limits, modelId)) return modelId;
  const wildcard = `${modelId.slice(0, modelId.indexOf('/'))}/*`;
  return Object.hasOwn(limits, wildcard) ? wildcard : null;
}
