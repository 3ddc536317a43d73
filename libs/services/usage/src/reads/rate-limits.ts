import {
  ApiError,
  type AccountState,
  type Principal,
  type PrincipalReader,
  type RateLimitsQuery,
  type RateLimitState,
  type RateMetric,
  type RateScope,
  type ScopeKind,
  type ScopeLimits,
} from '@gateway/contracts';
import { visibleKey } from '@gateway/platform';
import { meantBy, viewOf } from './view.js';

const NO_SCOPES: RateLimitState['scopes'] = {
  key: null,
  team_member: null,
  member: null,
  team: null,
  org: null,
};
const KINDS: readonly ScopeKind[] = ['key', 'team_member', 'member', 'team', 'org'];

interface SeenLimits {
  accountId: string;
  limits: readonly ScopeLimits[];
}

/**
 * Returns the counters that a caller sees. A key sees its own alone; a session the scopes of itself in the org, an admin
 * key the org's. With `key_id` either sees all of a key that it may look at. Throws ApiError `not_found` for another key,
 * `forbidden` for another org.
 */
export async function seenLimits(
  principal: Principal,
  { org_id, key_id }: RateLimitsQuery,
  principals: PrincipalReader,
): Promise<SeenLimits> {
  if (principal.kind === 'key')
    return {
      accountId: principal.accountId,
      limits: principal.limits.filter((limit) => limit.kind === 'key' && limit.id === principal.keyId),
    };
  if (key_id !== undefined) {
    const key = await visibleKey(principals, principal, key_id);
    if (org_id !== undefined && key.orgId !== org_id) throw new ApiError('not_found');
    return key;
  }
  const { accountId, orgId: org } = { orgId: '', ...viewOf(principal, org_id ?? meantBy(principal)) };
  if (principal.kind === 'admin_key') return { accountId, limits: principal.limits ?? [] };
  const membership = principal.memberships.find((held) => held.orgId === org);
  return { accountId, limits: membership?.limits ?? [] };
}

/** Counters and limits as the read answers them; a scope without known limits is null. */
export function rateLimitState(
  limits: readonly ScopeLimits[],
  state: AccountState,
  now: number,
): RateLimitState {
  const scopes = { ...NO_SCOPES };
  for (const kind of KINDS) {
    const limit = limits.find((candidate) => candidate.kind === kind);
    const counted = state.scopes.find((scope) => scope.kind === kind && scope.id === limit?.id);
    if (limit !== undefined && counted !== undefined) scopes[kind] = rateScope(limit, counted, state);
  }
  return { as_of: new Date(now).toISOString(), scopes };
}

function rateScope(
  limit: ScopeLimits,
  counted: { rpm: number; rpd: number; tpm: number },
  { minuteResetSeconds, dayResetSeconds }: AccountState,
): RateScope {
  const metric = (name: 'rpm' | 'rpd' | 'tpm', resetsInSeconds: number): RateMetric => ({
    current: counted[name],
    limit: limit[name],
    // Unlimited is what a scope begins with.
    is_default_limit: limit.isDefault[name] || limit[name] === null,
    pct: percentage(counted[name], limit[name]),
    resets_in_seconds: Math.max(0, Math.ceil(resetsInSeconds)),
  });
  return {
    rpm: metric('rpm', minuteResetSeconds),
    rpd: metric('rpd', dayResetSeconds),
    tpm: metric('tpm', minuteResetSeconds),
  };
}

/** 0 to 100 with two decimals; nothing of an unlimited metric is used up, all of a limit of 0. */
function percentage(current: number, limit: number | null): number {
  if (limit === null) return 0;
  if (limit <= 0) return 100;
  return Math.min(100, Math.round((current / limit) * 10_000) / 100);
}
