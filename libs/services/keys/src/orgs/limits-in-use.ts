import type { ErrorDetail, OrgTier } from '@gateway/contracts';
import { CEILINGS } from '@gateway/limits';
import type { Tx } from '../postgres/keys-database.js';

const NOUNS = {
  key: 'A key',
  model_limit: 'A model limit of a key',
  member: 'A member',
  team: 'A team',
  team_member: 'A member of a team',
} as const;

interface InUse {
  kind: keyof typeof NOUNS;
  id: string;
  rpm: number | null;
  rpd: number | null;
}

/**
 * A fault where something of the organization has a limit above the tier's ceiling, for a 422 `validation_error`; empty
 * where nothing has. Suspended keys count: they may be reactivated.
 */
export async function limitsInUseFaults(tx: Tx, orgId: string, tier: OrgTier): Promise<ErrorDetail[]> {
  const { rpm, rpd } = CEILINGS[tier];
  const [found] = await tx.$queryRaw<InUse[]>`
    SELECT kind, id, rpm, rpd FROM (
      SELECT 'key' AS kind, id, rpm_limit AS rpm, rpd_limit AS rpd FROM api_key WHERE org_id = ${orgId}
      UNION ALL
      SELECT 'model_limit', k.id, (m.value ->> 'rpm')::int, (m.value ->> 'rpd')::int
        FROM api_key k, jsonb_each(k.model_limits) AS m WHERE k.org_id = ${orgId}
      UNION ALL
      SELECT 'member', user_id, rpm_limit, rpd_limit FROM membership WHERE org_id = ${orgId}
      UNION ALL
      SELECT 'team', id, rpm_limit, rpd_limit FROM team WHERE org_id = ${orgId}
      UNION ALL
      SELECT 'team_member', tm.user_id, tm.rpm_limit, tm.rpd_limit
        FROM team_member tm JOIN team t ON t.id = tm.team_id WHERE t.org_id = ${orgId}
    ) AS limits WHERE rpm > ${rpm} OR rpd > ${rpd} LIMIT 1`;
  if (found === undefined) return [];
  const metric = (found.rpm ?? 0) > rpm ? 'rpm' : 'rpd';
  const ceiling = CEILINGS[tier][metric];
  const msg = `${NOUNS[found.kind]} (${found.id}) has ${metric} ${found[metric]}: lower it to ${ceiling} first (${tier} tier).`;
  return [{ type: 'limit_in_use', loc: ['tier'], msg }];
}
