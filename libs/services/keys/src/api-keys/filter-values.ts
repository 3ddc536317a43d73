import { NO_ORG, type KeyFilterOptions, type KeyFilterOptionsQuery } from '@gateway/contracts';
import type { Manager } from '../accounts/manager.js';
import type { Tx } from '../postgres/keys-database.js';
import { KEY_RULE } from './api-key.store.js';

/** Number of the newest keys of each account that are read; a search text reads further back. */
const NEWEST_KEYS = 2_000;
const SEARCHED_KEYS = 20_000;

type FilterValues = Pick<KeyFilterOptions, 'orgs' | 'teams' | 'members' | 'models' | 'labels'> & {
  api_versions: string[];
};

/** Returns the values by which the caller's keys can be filtered. Lists and the keys that are looked at are bounded. */
export async function filterValues(
  tx: Tx,
  caller: Manager,
  { org_id, q, limit }: KeyFilterOptionsQuery,
): Promise<FilterValues> {
  const memberships = caller.memberships.filter(({ orgId }) => org_id === undefined || orgId === org_id);
  const accounts = memberships.map(({ accountId }) => accountId);
  if (org_id === undefined || org_id === NO_ORG) accounts.push(caller.accountId);
  const adminOf = memberships
    .filter(({ role }) => KEY_RULE.roles.includes(role))
    .map(({ accountId }) => accountId);
  const orgIds = memberships.map(({ orgId }) => orgId);
  const text = (q ?? '').toLowerCase();
  const window = q === undefined ? NEWEST_KEYS : SEARCHED_KEYS;
  const [row] = await tx.$queryRaw<{ values: Record<keyof FilterValues, unknown[] | null> }[]>`
    WITH mine AS MATERIALIZED (
      SELECT k.* FROM unnest(${accounts}::text[]) AS a(id) CROSS JOIN LATERAL (
        SELECT label, default_model, allowed_models, api_version, created_by, team_id FROM api_key
        WHERE account_id = a.id AND (created_by = ${caller.userId} OR account_id = ANY(${adminOf}))
        ORDER BY created_at DESC LIMIT ${window}::int) k)
    SELECT jsonb_build_object(
      'orgs', (SELECT jsonb_agg(v) FROM (
        SELECT jsonb_build_object('id', id, 'name', name) AS v FROM org
        WHERE id = ANY(${orgIds}) AND position(${text} IN lower(name)) > 0 ORDER BY name, id LIMIT ${limit}::int) x),
      'teams', (SELECT jsonb_agg(v) FROM (
        SELECT jsonb_build_object('id', id, 'name', name, 'org_id', org_id) AS v FROM team
        WHERE id IN (SELECT team_id FROM mine) AND org_id = ANY(${orgIds}) AND position(${text} IN lower(name)) > 0
        ORDER BY name, id LIMIT ${limit}::int) x),
      'members', (SELECT jsonb_agg(v) FROM (
        SELECT jsonb_build_object('id', id, 'name', name, 'email', email) AS v FROM "user"
        WHERE id IN (SELECT created_by FROM mine) AND position(${text} IN lower(name) || ' ' || email) > 0
        ORDER BY name, id LIMIT ${limit}::int) x),
      'labels', (SELECT jsonb_agg(v) FROM (
        SELECT DISTINCT label AS v FROM mine WHERE position(${text} IN lower(label)) > 0 ORDER BY 1 LIMIT ${limit}::int) x),
      'api_versions', (SELECT jsonb_agg(v) FROM (
        SELECT DISTINCT api_version AS v FROM mine WHERE api_version IS NOT NULL ORDER BY 1 LIMIT ${limit}::int) x),
      'models', (SELECT jsonb_agg(v) FROM (
        SELECT DISTINCT v FROM (
          SELECT default_model AS v FROM mine
          UNION ALL SELECT jsonb_array_elements_text(allowed_models) FROM mine WHERE jsonb_typeof(allowed_models) = 'array') y
        WHERE position(${text} IN lower(v)) > 0 ORDER BY 1 LIMIT ${limit}::int) x)) AS values`;
  const { values } = row;
  const list = <T>(name: keyof FilterValues): T[] => (values[name] ?? []) as T[];
  return {
    orgs: list('orgs'),
    teams: list('teams'),
    members: list('members'),
    models: list('models'),
    api_versions: list('api_versions'),
    labels: list('labels'),
  };
}
