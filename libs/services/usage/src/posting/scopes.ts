import { providerAccount, type SpendScope, type UsageRecord } from '@gateway/contracts';

export interface Scope {
  kind: SpendScope;
  id: string;
}

/**
 * Every scope whose spend a unit raises, key first, capped or not: a cap set later must not miss it.
 * The spend of a key on one model is kept beside, for the caps of model_limits.
 */
export function spendScopes(
  unit: Pick<UsageRecord, 'key_id' | 'member_id' | 'team_id' | 'org_id' | 'model'>,
): Scope[] {
  return [...memberScopes(unit), { kind: 'key', id: modelScopeId(unit.key_id, unit.model) }];
}

/** The scopes that the limit store counts the unit on, besides the balance. */
export function memberScopes({
  key_id,
  member_id,
  team_id,
  org_id,
}: {
  key_id: string;
  member_id: string;
  team_id?: string | null;
  org_id?: string | null;
}): Scope[] {
  const scopes: Scope[] = [{ kind: 'key', id: key_id }];
  if (team_id) scopes.push({ kind: 'team_member', id: `${team_id}/${member_id}` });
  if (org_id) scopes.push({ kind: 'member', id: member_id });
  if (team_id) scopes.push({ kind: 'team', id: team_id });
  if (org_id) scopes.push({ kind: 'org', id: org_id });
  return scopes;
}

/**
 * Scopes whose posted spend is reported to the limit store: all that the unit raises, its model's on the key too, whether capped
 * or not, so that no value there grows old; and those that admission read besides: of all models of a brand, of budgets.
 */
export function mirroredScopes(unit: UsageRecord): Scope[] {
  const scopes = spendScopes(unit);
  const own = modelScopeId(unit.key_id, unit.model);
  for (const { scope, scope_id } of unit.limits) {
    if (scope === 'provider') continue;
    const isOther = scope === 'key' && scope_id !== unit.key_id && scope_id !== own;
    if (isOther || scope_id.includes(PERIOD_MARK)) scopes.push({ kind: scope, id: scope_id });
  }
  return scopes;
}

/** Periods of budgets of providers that count a unit, by the account of the provider. */
export function providerScopes(
  limits: readonly { scope: SpendScope; scope_id: string }[],
): Map<string, Scope[]> {
  const scopes = new Map<string, Scope[]>();
  for (const { scope: kind, scope_id: id } of limits) {
    const mark = kind === 'provider' ? id.indexOf(PERIOD_MARK) : -1;
    if (mark < 0) continue;
    const account = providerAccount(id.slice(0, mark));
    scopes.set(account, [...(scopes.get(account) ?? []), { kind, id }]);
  }
  return scopes;
}

/** It stands in the id of a budget's period alone. */
const PERIOD_MARK = '/b:';

/** `<key id>/m:<model>`, as the limit store names the counter. */
function modelScopeId(keyId: string, model: string): string {
  return `${keyId}/m:${model}`;
}
