import type {
  AccountDiscount,
  BudgetGrant,
  KeyPrincipal,
  Membership,
  ModelAccess,
  ModelLimit,
  ProviderKeyGrant,
  RoutingPolicy,
  ScopeLimits,
} from '@gateway/contracts';
import type { SessionPrincipal } from '@gateway/contracts';
import { keyScopeLimits } from '@gateway/limits';
import type pg from 'pg';
import type { KeysConfig } from '../keys.config.js';
import { money } from '../postgres/columns.js';

/** One scope above the key, as SQL builds it. */
export interface ScopeRow {
  id: string;
  rpm: number | null;
  rpd: number | null;
  tpm: number | null;
  cap: string | null;
  allowed: string[] | null;
  blocked: string[] | null;
}

export interface KeyRow {
  id: string;
  label: string | null;
  status: 'active' | 'suspended';
  account_id: string;
  account_version: number;
  credit_limit_usd: string | null;
  end_user_key: string;
  discount: AccountDiscount | null;
  org_id: string | null;
  team_id: string | null;
  created_by: string;
  api_version: string | null;
  default_model: string | null;
  scopes: string[] | null;
  rpm_limit: number | null;
  rpd_limit: number | null;
  tpm_limit: number | null;
  spend_cap_usd: string | null;
  allowed_models: string[] | null;
  blocked_models: string[] | null;
  model_limits: Record<string, ModelLimit>;
  routing_policy: RoutingPolicy | null;
  fixed_provider: string | null;
  response_cache: { enabled: boolean; ttl_seconds?: number } | null;
  provider_keys: ProviderKeyGrant[] | null;
  budgets: BudgetGrant[] | null;
  realtime: KeyPrincipal['realtime'] | null;
  request_logging: KeyPrincipal['requestLogging'] | null;
  request_tags: Record<string, string>;
  expires_at: Date | null;
  /** End of the grace of the secret that was looked up, where it was rotated out. */
  grace_until: Date | null;
  org: ScopeRow | null;
  member: ScopeRow | null;
  team: ScopeRow | null;
  team_member: ScopeRow | null;
}

/** Lifetime for a response cache that names none (management-api, API keys). */
const CACHE_TTL_SECONDS = 300;

/** Provider keys of the account that may serve, oldest first; null where there is none. */
const PROVIDER_KEYS = `(
  SELECT jsonb_agg(jsonb_build_object('id', p.id, 'provider', p.provider, 'version', p.version,
    'allowedModels', p.allowed_models, 'allowPlatformFallback', p.allow_platform_fallback)
    ORDER BY p.created_at, p.id)
  FROM provider_key p WHERE p.account_id = k.account_id AND p.is_enabled)`;

/** Budgets that hold for the key, and those that hold by what a request carries; oldest first, null where there is none. */
const BUDGETS = `(
  SELECT jsonb_agg(jsonb_build_object('id', b.id, 'name', b.name, 'scope', b.scope, 'scopeId', b.scope_id,
    'amountUsd', b.amount_usd::text, 'period', b.period, 'timeZone', b.time_zone, 'rollingDays', b.rolling_days,
    'countedFromMs', (extract(epoch FROM b.counted_from) * 1000)::bigint, 'isHard', b.is_hard, 'thresholdsPct', b.thresholds_pct,
    'raise', CASE WHEN b.raise_until IS NOT NULL THEN jsonb_build_object('byUsd', b.raise_by_usd::text,
      'untilMs', (extract(epoch FROM b.raise_until) * 1000)::bigint) END) ORDER BY b.id)
  FROM budget b WHERE b.org_id = k.org_id AND b.is_enabled AND (b.scope IN ('tag', 'end_user') OR (b.scope, b.scope_id) IN (
    ('key', k.id), ('member', k.created_by), ('team', k.team_id), ('org', k.org_id))))`;

/** Column of the organization's settings; null where nothing was set. */
const REALTIME = `CASE WHEN o.id IS NULL OR (o.realtime_enabled AND o.realtime_max_sessions IS NULL
    AND o.realtime_max_seconds IS NULL AND o.realtime_max_tokens IS NULL) THEN NULL
  ELSE jsonb_build_object('enabled', o.realtime_enabled, 'maxSessions', o.realtime_max_sessions,
    'maxSeconds', o.realtime_max_seconds, 'maxTokens', o.realtime_max_tokens) END`;

/** null where the organization logs no bodies. */
const REQUEST_LOGGING = `CASE WHEN o.request_logging_enabled THEN
  jsonb_build_object('retentionDays', o.request_logging_days, 'redact', o.request_logging_redact) END`;

/**
 * Everything a key's principal shows, in one statement and so in one snapshot with the account's version. A member who
 * has left is joined all the same: the key goes on counting against its creator.
 */
function keyQuery(condition: string, graceUntil: string): string {
  return `
    SELECT k.id, k.label, k.status, k.account_id, a.version AS account_version,
      a.credit_limit_usd::text AS credit_limit_usd, encode(a.end_user_key, 'base64') AS end_user_key, a.discount,
      k.org_id, k.team_id, k.created_by, k.api_version, k.default_model, k.scopes,
      k.rpm_limit, k.rpd_limit, k.tpm_limit, k.spend_cap_usd::text AS spend_cap_usd,
      k.allowed_models, k.blocked_models, k.model_limits,
      coalesce(k.routing_policy, r.routing_policy) AS routing_policy,
      k.fixed_provider, k.response_cache, ${PROVIDER_KEYS} AS provider_keys, ${BUDGETS} AS budgets, ${REALTIME} AS realtime,
      ${REQUEST_LOGGING} AS request_logging, k.request_tags, k.expires_at, ${graceUntil} AS grace_until,
      ${scopeSql('o', 'o.id')} AS org,
      ${scopeSql('m', 'm.user_id')} AS member,
      ${scopeSql('t', 't.id')} AS team,
      ${scopeSql('tm', "tm.team_id || '/' || tm.user_id")} AS team_member
    FROM api_key k
    JOIN account a ON a.id = k.account_id
    LEFT JOIN org o ON o.id = k.org_id
    LEFT JOIN membership m ON m.org_id = k.org_id AND m.user_id = k.created_by
    LEFT JOIN team t ON t.id = k.team_id AND t.org_id = k.org_id
    LEFT JOIN team_member tm ON tm.team_id = t.id AND tm.user_id = k.created_by
    LEFT JOIN routing_policy_template r ON r.id = k.routing_policy_template_id AND r.org_id = k.org_id
    WHERE ${condition}
    LIMIT 1`;
}

/** The limits and lists of one joined row as an object; null where there was none to join. */
export function scopeSql(row: 'o' | 'm' | 't' | 'tm', id: string): string {
  return `CASE WHEN ${id} IS NULL THEN NULL ELSE jsonb_build_object(
    'id', ${id}, 'rpm', ${row}.rpm_limit, 'rpd', ${row}.rpd_limit, 'tpm', ${row}.tpm_limit,
    'cap', ${row}.spend_cap_usd::text, 'allowed', ${row}.allowed_models, 'blocked', ${row}.blocked_models) END`;
}

// Two scalars and no array: PostgreSQL expects ten rows of an array, and then reads whole tables for the join.
const BY_HMAC = keyQuery(
  `k.secret_hmac IN ($1, $2) OR (k.previous_secret_hmac IN ($1, $2) AND k.previous_until > $3)`,
  'CASE WHEN k.secret_hmac IN ($1, $2) THEN NULL ELSE k.previous_until END',
);
const BY_ID_OF = keyQuery('k.id = $1 AND k.account_id = ANY($2)', 'NULL::timestamptz');
const BY_ID = keyQuery('k.id = $1 AND k.account_id = $2', 'NULL::timestamptz');

/**
 * Finds a key by the stored digest of its secret, under the newest pepper and the one before. The secret is the current
 * one or a rotated one in its grace; null = unknown.
 */
export function findKeyByHmac(
  pool: pg.Pool,
  [newest, before = newest]: readonly string[],
  now: Date,
): Promise<KeyRow | null> {
  return firstRow<KeyRow>(pool, { name: 'key-by-hmac', text: BY_HMAC, values: [newest, before, now] });
}

// The sub-selects hide how many there are: knowing it, PostgreSQL takes each plan for better than the one it has prepared, and
// planning takes 30 times as long as a look-up.
const BY_HMACS = `
  SELECT asked.at::int AS at, k.*
  FROM unnest((SELECT $1::text[]), (SELECT $2::text[])) WITH ORDINALITY AS asked(newest, before, at)
  CROSS JOIN LATERAL (${keyQuery(
    `k.secret_hmac IN (asked.newest, asked.before)
      OR (k.previous_secret_hmac IN (asked.newest, asked.before) AND k.previous_until > $3)`,
    'CASE WHEN k.secret_hmac IN (asked.newest, asked.before) THEN NULL ELSE k.previous_until END',
  )}) k`;

/** The same for several, in their order. */
export async function findKeysByHmac(
  pool: pg.Pool,
  asked: readonly (readonly string[])[],
  now: Date,
): Promise<(KeyRow | null)[]> {
  const newest = asked.map(([hmac]) => hmac);
  const before = asked.map(([hmac, older = hmac]) => older);
  const { rows } = await pool.query<KeyRow & { at: number }>({
    name: 'keys-by-hmac',
    text: BY_HMACS,
    values: [newest, before, now],
  });
  const byPlace = new Map(rows.map((row) => [row.at, row]));
  return asked.map((_, at) => byPlace.get(at + 1) ?? null);
}

/** Finds a key by account and id together. */
export function findKeyById(pool: pg.Pool, accountId: string, id: string): Promise<KeyRow | null> {
  return firstRow<KeyRow>(pool, { name: 'key-by-id', text: BY_ID, values: [id, accountId] });
}

/** Finds a key by id, of any of these accounts. */
export function findKeyOf(pool: pg.Pool, accountIds: readonly string[], id: string): Promise<KeyRow | null> {
  return firstRow<KeyRow>(pool, { name: 'key-of', text: BY_ID_OF, values: [id, accountIds] });
}

/** Prepared once a connection. Not through Prisma, which costs three times the CPU on the path of every first use. */
async function firstRow<T extends pg.QueryResultRow>(
  pool: pg.Pool,
  query: pg.QueryConfig,
): Promise<T | null> {
  const { rows } = await pool.query<T>(query);
  return rows[0] ?? null;
}

/** Reads a row. Where billing is off no balance refuses: the account has no limit of debt. */
export function toKeyPrincipal(row: KeyRow, { BILLING }: Pick<KeysConfig, 'BILLING'>): KeyPrincipal {
  return {
    kind: 'key',
    keyId: row.id,
    label: row.label,
    status: row.status,
    accountId: row.account_id,
    accountVersion: row.account_version,
    creditLimitUsd: BILLING === 'off' ? null : money(row.credit_limit_usd),
    ...(BILLING === 'off' ? { billing: 'off' } : {}),
    orgId: row.org_id,
    teamId: row.team_id,
    createdBy: row.created_by,
    apiVersion: row.api_version,
    defaultModel: row.default_model,
    permissions: row.scopes,
    limits: limitsOf(row),
    access: accessOf(row),
    modelLimits: row.model_limits,
    routingPolicy: row.routing_policy,
    fixedProvider: row.fixed_provider,
    ...(row.discount === null ? {} : { discount: row.discount }),
    ...(row.provider_keys === null ? {} : { providerKeys: row.provider_keys }),
    ...budgetsOf(row),
    ...(row.response_cache?.enabled
      ? { responseCache: { ttlMs: (row.response_cache.ttl_seconds ?? CACHE_TTL_SECONDS) * 1_000 } }
      : {}),
    ...(row.realtime === null ? {} : { realtime: row.realtime }),
    ...(row.request_logging === null ? {} : { requestLogging: row.request_logging }),
    requestTags: row.request_tags,
    expiresAtMs: earliest(row.expires_at, row.grace_until),
    endUserKey: row.end_user_key,
  };
}

/** Budgets of the key, and beside them those that hold by what a request carries; each absent where there is none. */
function budgetsOf({ budgets }: KeyRow): Pick<KeyPrincipal, 'budgets' | 'carriedBudgets'> {
  if (budgets === null) return {};
  const [own, carried] = [budgets.filter(isOwn), budgets.filter((budget) => !isOwn(budget))];
  return {
    ...(own.length === 0 ? {} : { budgets: own }),
    ...(carried.length === 0 ? {} : { carriedBudgets: carried }),
  };
}

/** True of a budget that holds for every request of the key. */
export function isOwn({ scope }: Pick<BudgetGrant, 'scope'>): boolean {
  return scope !== 'tag' && scope !== 'end_user';
}

function earliest(...times: (Date | null)[]): number | null {
  const given = times.flatMap((time) => (time === null ? [] : [time.getTime()]));
  return given.length === 0 ? null : Math.min(...given);
}

/** Key first, then team_member, member, team, org: those that apply. */
export function limitsOf(row: KeyRow): ScopeLimits[] {
  const key = keyScopeLimits(row.id, {
    rpm: row.rpm_limit,
    rpd: row.rpd_limit,
    tpm: row.tpm_limit,
    spendCapUsd: money(row.spend_cap_usd),
  });
  const above = (['team_member', 'member', 'team', 'org'] as const).flatMap((kind) => {
    const scope = row[kind];
    return scope === null ? [] : [{ kind, ...scopeLimits(scope) }];
  });
  return [key, ...above];
}

export function scopeLimits({ id, rpm, rpd, tpm, cap }: ScopeRow): Omit<ScopeLimits, 'kind'> {
  return { id, rpm, rpd, tpm, spendCapUsd: money(cap), isDefault: { rpm: false, rpd: false, tpm: false } };
}

function accessOf(row: KeyRow): ModelAccess[] {
  const key: ModelAccess = { kind: 'key', allowed: row.allowed_models, blocked: row.blocked_models };
  const above = (['team_member', 'member', 'team', 'org'] as const).flatMap((kind) => {
    const scope = row[kind];
    return scope === null ? [] : [{ kind, allowed: scope.allowed, blocked: scope.blocked }];
  });
  return [key, ...above].filter((lists) => lists.allowed !== null || lists.blocked !== null);
}

type MembershipRow = Omit<Membership, 'limits'> & { member: ScopeRow; org: ScopeRow };

interface SessionRow {
  user_id: string;
  email: string;
  is_super_admin: boolean;
  account_id: string;
  account_version: number;
  discount: AccountDiscount | null;
  keyed_providers: string[] | null;
  memberships: MembershipRow[];
}

const SESSION = `
  SELECT u.id AS user_id, u.email, u.is_super_admin, a.id AS account_id, a.version AS account_version, a.discount,
    (SELECT array_agg(DISTINCT p.provider ORDER BY p.provider) FROM provider_key p
      WHERE p.is_enabled AND p.account_id = ANY(ARRAY(
        SELECT a.id UNION ALL
        SELECT ka.id FROM membership km JOIN account ka ON ka.org_id = km.org_id
        JOIN org ko ON ko.id = km.org_id AND ko.deleted_at IS NULL
        WHERE km.user_id = u.id AND km.removed_at IS NULL))) AS keyed_providers,
    coalesce((
      SELECT jsonb_agg(jsonb_build_object('orgId', m.org_id, 'accountId', oa.id, 'role', m.role,
        'member', ${scopeSql('m', 'm.user_id')}, 'org', ${scopeSql('o', 'o.id')},
        'teams', coalesce((
        SELECT jsonb_agg(tm.team_id ORDER BY tm.team_id) FROM team_member tm JOIN team t ON t.id = tm.team_id
        WHERE tm.user_id = u.id AND t.org_id = m.org_id AND tm.removed_at IS NULL), '[]')) ORDER BY m.org_id)
      FROM membership m JOIN account oa ON oa.org_id = m.org_id JOIN org o ON o.id = m.org_id AND o.deleted_at IS NULL
      WHERE m.user_id = u.id AND m.removed_at IS NULL), '[]') AS memberships
  FROM session s
  JOIN "user" u ON u.id = s.user_id
  JOIN account a ON a.user_id = u.id
  WHERE s.id = $1 AND u.id = $2 AND u.epoch = $3
    AND s.ended_at IS NULL AND s.expires_at > $4 AND u.disabled_at IS NULL`;

/** The caller behind a verified token; null where the session or the person's epoch has ended. */
export async function findSession(
  pool: pg.Pool,
  session: { sessionId: string; userId: string; epoch: number },
  now: Date,
): Promise<SessionPrincipal | null> {
  const values = [session.sessionId, session.userId, session.epoch, now];
  const row = await firstRow<SessionRow>(pool, { name: 'session', text: SESSION, values });
  if (row === null) return null;
  return {
    kind: 'session',
    userId: row.user_id,
    sessionId: session.sessionId,
    email: row.email,
    isSuperAdmin: row.is_super_admin,
    accountId: row.account_id,
    accountVersion: row.account_version,
    ...(row.discount === null ? {} : { discount: row.discount }),
    ...(row.keyed_providers === null ? {} : { keyedProviders: row.keyed_providers }),
    memberships: row.memberships.map(toMembership),
  };
}

function toMembership({ orgId, accountId, role, teams, member, org }: MembershipRow): Membership {
  const limits: ScopeLimits[] = [
    { kind: 'member', ...scopeLimits(member) },
    { kind: 'org', ...scopeLimits(org) },
  ];
  return { orgId, accountId, role, teams, limits };
}
