import type { ErrorDetail, ScopeKind, ScopeLimits } from '@gateway/contracts';
import { Usd } from '@gateway/money';

/**
 * Limits of a key without its own numbers. The tokens are display only: nothing is throttled by them.
 */
export const KEY_DEFAULTS = { rpm: 100, rpd: 10_000, tpm: 1_000_000 } as const;

/** Free models together, per key, besides the ordinary counts. */
export const FREE_MODELS = { rpm: 20, rpd: 200 } as const;

/** Largest numbers that may be stored, per tier of the organization; a key without one is standard. */
export const CEILINGS = {
  standard: { rpm: 1_000, rpd: 1_000_000 },
  enterprise: { rpm: 20_000, rpd: 5_000_000 },
  /** Limits after a support grant. */
  platform: { rpm: 100_000, rpd: 10_000_000 },
} as const;

export type LimitTier = keyof typeof CEILINGS;

/** Faults of limits as written on create or update, for a 422 `validation_error`; empty where all are within. */
export function ceilingFaults(
  tier: LimitTier,
  limits: { rpm?: number | null; rpd?: number | null },
): ErrorDetail[] {
  const faults: ErrorDetail[] = [];
  for (const metric of ['rpm', 'rpd'] as const) {
    const value = limits[metric];
    const ceiling = CEILINGS[tier][metric];
    if (value === null || value === undefined || value <= ceiling) continue;
    faults.push({
      type: 'maximum',
      loc: [metric],
      msg: `${metric} must be at most ${ceiling} (${tier} tier)`,
    });
  }
  return faults;
}

/** A key's scope with the defaults where nobody set a number. */
export function keyScopeLimits(
  id: string,
  stored: { rpm: number | null; rpd: number | null; tpm: number | null; spendCapUsd: string | null },
): ScopeLimits {
  return {
    kind: 'key',
    id,
    rpm: stored.rpm ?? KEY_DEFAULTS.rpm,
    rpd: stored.rpd ?? KEY_DEFAULTS.rpd,
    tpm: stored.tpm ?? KEY_DEFAULTS.tpm,
    spendCapUsd: stored.spendCapUsd,
    isDefault: { rpm: stored.rpm === null, rpd: stored.rpd === null, tpm: stored.tpm === null },
  };
}

interface BindingScope {
  kind: ScopeKind;
  id: string;
}

export interface EffectiveLimits {
  rpm: number | null;
  rpd: number | null;
  /** The default of a key only where nobody set a smaller one; then nothing binds it. */
  tpm: number | null;
  spendCapUsd: string | null;
  /** The scope that holds each smallest value, the first one on a tie; null = nothing throttles. */
  binding: Record<'rpm' | 'rpd' | 'tpm' | 'spendCap', BindingScope | null>;
}

/** Rule 2 of the spec: the smallest applicable value wins, metric by metric. */
export function effectiveLimits(scopes: readonly ScopeLimits[]): EffectiveLimits {
  const rpm = smallest(scopes, (scope) => scope.rpm);
  const rpd = smallest(scopes, (scope) => scope.rpd);
  const tpm = smallest(scopes, (scope) => (scope.isDefault.tpm ? null : scope.tpm));
  const cap = scopes.reduce<ScopeLimits | null>((least, scope) => {
    if (scope.spendCapUsd === null) return least;
    if (least?.spendCapUsd == null) return scope;
    return Usd.parse(scope.spendCapUsd).compare(Usd.parse(least.spendCapUsd)) < 0 ? scope : least;
  }, null);
  const displayTpm = scopes.find((scope) => scope.isDefault.tpm)?.tpm ?? null;
  return {
    rpm: rpm.value,
    rpd: rpd.value,
    tpm: tpm.value ?? displayTpm,
    spendCapUsd: cap?.spendCapUsd ?? null,
    binding: {
      rpm: rpm.scope,
      rpd: rpd.scope,
      tpm: tpm.scope,
      spendCap: cap && { kind: cap.kind, id: cap.id },
    },
  };
}

function smallest(
  scopes: readonly ScopeLimits[],
  read: (scope: ScopeLimits) => number | null,
): { value: number | null; scope: BindingScope | null } {
  let value: number | null = null;
  let binding: BindingScope | null = null;
  for (const scope of scopes) {
    const candidate = read(scope);
    if (candidate === null || (value !== null && candidate >= value)) continue;
    value = candidate;
    binding = { kind: scope.kind, id: scope.id };
  }
  return { value, scope: binding };
}
