import type { KeyLimitsRecord, ScopeKind, ScopeLimitRecord, ScopeLimits } from '@gateway/contracts';
import { effectiveLimits } from '@gateway/limits';
import { money } from '../postgres/columns.js';
import { limitsOf, type KeyRow } from '../principals/principal.store.js';

/** A key's limits with those of every scope above it; `spent` goes by the order of `limitsOf(row)`. */
export function keyLimitsRecord(row: KeyRow, spent: readonly (string | null)[]): KeyLimitsRecord {
  const limits = limitsOf(row);
  const effective = effectiveLimits(limits);
  const record = (kind: ScopeKind): ScopeLimitRecord | null => {
    const index = limits.findIndex((scope) => scope.kind === kind);
    return index < 0 ? null : scopeRecord(limits[index], spent[index] ?? null);
  };
  const { binding } = effective;
  return {
    key_id: row.id,
    rpm_limit: row.rpm_limit,
    rpd_limit: row.rpd_limit,
    tpm_limit: row.tpm_limit,
    spend_cap_usd: money(row.spend_cap_usd),
    scopes: {
      key: record('key'),
      team_member: record('team_member'),
      member: record('member'),
      team: record('team'),
      org: record('org'),
    },
    effective_rpm_limit: effective.rpm,
    effective_rpd_limit: effective.rpd,
    effective_tpm_limit: effective.tpm,
    effective_spend_cap_usd: effective.spendCapUsd,
    binding: {
      rpm: binding.rpm?.kind ?? null,
      rpd: binding.rpd?.kind ?? null,
      tpm: binding.tpm?.kind ?? null,
      spend_cap: binding.spendCap?.kind ?? null,
    },
  };
}

function scopeRecord(scope: ScopeLimits, spentUsd: string | null): ScopeLimitRecord {
  return {
    rpm_limit: scope.rpm,
    rpd_limit: scope.rpd,
    tpm_limit: scope.tpm,
    spend_cap_usd: scope.spendCapUsd,
    spent_usd: spentUsd,
  };
}
