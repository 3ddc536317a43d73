import {
  NO_ORG,
  type ApiKeyRecord,
  type ListKeysQuery,
  type ModelLimit,
  type RoutingPolicy,
} from '@gateway/contracts';
import type { OrgRule } from '@gateway/platform';
import type { Manager } from '../accounts/manager.js';
import type { Prisma } from '../generated/prisma/client.js';
import { containing, money, sortedBy, storedJson } from '../postgres/columns.js';
import type { Tx } from '../postgres/keys-database.js';
import { RESPONSE_CACHE_DEFAULT } from './api-key-columns.js';

export type ApiKeyRow = Prisma.ApiKeyGetPayload<object>;

/** Owners and admins reach every key of their organization, members their own. */
export const KEY_RULE: OrgRule = { roles: ['owner', 'admin'], own: true };

/**
 * Keys that a caller may see and manage: their own personal ones, all of an org as its owner or admin, their own in
 * an org as its member. Everything else answers as if it did not exist.
 */
function visibleTo(caller: Manager): Prisma.ApiKeyWhereInput {
  const of = (isAdmin: boolean): string[] =>
    caller.memberships
      .filter(({ role }) => KEY_RULE.roles.includes(role) === isAdmin)
      .map(({ accountId }) => accountId);
  return {
    OR: [
      { account_id: caller.accountId },
      { account_id: { in: of(true) } },
      { account_id: { in: of(false) }, created_by: caller.userId },
    ],
  };
}

export function findKey(tx: Tx, caller: Manager, id: string): Promise<ApiKeyRow | null> {
  return tx.apiKey.findFirst({ where: { AND: [{ id }, visibleTo(caller)] } });
}

export async function listKeys(
  tx: Tx,
  caller: Manager,
  query: ListKeysQuery,
): Promise<{ rows: ApiKeyRow[]; total: number }> {
  const where = { AND: [visibleTo(caller), filterOf(query)] };
  const [rows, total] = await Promise.all([
    tx.apiKey.findMany({ where, orderBy: orderOf(query.sort), take: query.limit, skip: query.offset }),
    tx.apiKey.count({ where }),
  ]);
  return { rows, total };
}

function filterOf(query: ListKeysQuery): Prisma.ApiKeyWhereInput {
  const { org_id, team_id, status, created_by, label, model } = query;
  return {
    org_id: org_id === NO_ORG ? null : org_id,
    team_id,
    status,
    created_by,
    ...(label === undefined ? {} : { label: containing(label) }),
    ...(model === undefined
      ? {}
      : { OR: [{ default_model: model }, { allowed_models: { array_contains: [model] } }] }),
  };
}

const NULLABLE = ['label', 'last_used_at', 'spend_cap_usd', 'expires_at'];

/** A key that has no such value comes last in both directions. */
function orderOf(sort = '-created_at'): Prisma.ApiKeyOrderByWithRelationInput[] {
  return sortedBy(sort, NULLABLE, 'id');
}

export function toWire(row: ApiKeyRow, spentUsd: string | null): ApiKeyRecord {
  return {
    id: row.id,
    label: row.label,
    masked_key: row.masked_key,
    status: row.status === 'suspended' ? 'suspended' : 'active',
    default_model: row.default_model,
    rpm_limit: row.rpm_limit,
    rpd_limit: row.rpd_limit,
    tpm_limit: row.tpm_limit,
    spend_cap_usd: money(row.spend_cap_usd?.toFixed() ?? null),
    spent_usd: spentUsd,
    allowed_models: storedJson<string[] | null>(row.allowed_models),
    blocked_models: storedJson<string[] | null>(row.blocked_models),
    model_limits: storedJson<Record<string, ModelLimit>>(row.model_limits),
    org_id: row.org_id,
    team_id: row.team_id,
    created_by: row.created_by,
    routing_policy: storedJson<RoutingPolicy | null>(row.routing_policy),
    routing_policy_template_id: row.routing_policy_template_id,
    api_version: row.api_version,
    fixed_provider: row.fixed_provider,
    scopes: storedJson<string[] | null>(row.scopes),
    response_cache: storedJson<ApiKeyRecord['response_cache'] | null>(row.response_cache) ?? {
      ...RESPONSE_CACHE_DEFAULT,
    },
    request_tags: storedJson<Record<string, string>>(row.request_tags),
    expires_at: row.expires_at?.toISOString() ?? null,
    last_used_at: row.last_used_at?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}
