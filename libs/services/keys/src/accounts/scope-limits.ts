import type { ErrorDetail, OrgTier, ScopeLimitsBody, ScopeLimitsRecord } from '@gateway/contracts';
import { ceilingFaults, type LimitTier } from '@gateway/limits';
import type { Prisma } from '../generated/prisma/client.js';
import { money, nullableJson, storedJson } from '../postgres/columns.js';

/** The columns that organization, member, team and team member have alike. */
interface LimitRow {
  rpm_limit: number | null;
  rpd_limit: number | null;
  tpm_limit: number | null;
  spend_cap_usd: Prisma.Decimal | null;
  allowed_models: Prisma.JsonValue;
  blocked_models: Prisma.JsonValue;
}

/** A body as columns: what is absent stays as it is, null clears. */
export function limitColumns(body: ScopeLimitsBody) {
  return {
    rpm_limit: body.rpm_limit,
    rpd_limit: body.rpd_limit,
    tpm_limit: body.tpm_limit,
    spend_cap_usd: body.spend_cap_usd,
    allowed_models: nullableJson(body.allowed_models),
    blocked_models: nullableJson(body.blocked_models),
  };
}

export function limitsToWire(row: LimitRow): ScopeLimitsRecord {
  return {
    rpm_limit: row.rpm_limit,
    rpd_limit: row.rpd_limit,
    tpm_limit: row.tpm_limit,
    spend_cap_usd: money(row.spend_cap_usd?.toFixed() ?? null),
    allowed_models: storedJson<string[] | null>(row.allowed_models),
    blocked_models: storedJson<string[] | null>(row.blocked_models),
  };
}

/** Faults against the ceilings of a tier, by the names that these scopes have. */
export function limitFaults(
  tier: LimitTier,
  limits: Pick<ScopeLimitsBody, 'rpm_limit' | 'rpd_limit'>,
): ErrorDetail[] {
  const { rpm_limit: rpm, rpd_limit: rpd } = limits;
  return ceilingFaults(tier, { rpm, rpd }).map(({ type, loc, msg }) => {
    const [metric] = loc;
    return { type, loc: [`${metric}_limit`], msg: msg.replace(String(metric), `${metric}_limit`) };
  });
}

/** Returns the stored tier; an unknown one counts as the lowest. */
export function tierOf(text: string): OrgTier {
  return text === 'enterprise' || text === 'platform' ? text : 'standard';
}
