import {
  ApiError,
  type CursorPage,
  type ListMembersQuery,
  type MemberRecord,
  type OrgRole,
} from '@gateway/contracts';
import { limitsToWire } from '../accounts/scope-limits.js';
import type { Prisma } from '../generated/prisma/client.js';
import { keysetOf } from '../postgres/keyset.js';
import { containing, sortedBy } from '../postgres/columns.js';
import type { Tx } from '../postgres/keys-database.js';

const WITH_PERSON = {
  user: { select: { email: true, name: true, account: { select: { id: true } } } },
} as const;

export type MemberRow = Prisma.MembershipGetPayload<{ include: typeof WITH_PERSON }>;

/** Memberships and team memberships travel with every session, so their number is bounded. */
const OWNED_MAX = 100;
const JOINED_MAX = 500;

/** Returns a present member; null for one who has left. */
export function findMember(tx: Tx, orgId: string, userId: string): Promise<MemberRow | null> {
  const where = { org_id: orgId, user_id: userId, removed_at: null, org: { deleted_at: null } };
  return tx.membership.findFirst({ where, include: WITH_PERSON });
}

/** Returns the members in the order of the people's ids, or in that of the query. */
export async function listMembers(
  tx: Tx,
  orgId: string,
  query: ListMembersQuery,
): Promise<CursorPage<MemberRow>> {
  const { q, role } = query;
  const found = q === undefined ? {} : { user: { OR: [{ email: containing(q) }, { name: containing(q) }] } };
  const where = { org_id: orgId, removed_at: null, role, ...found };
  const { after, range, page } = keysetOf(query, `members ${orgId}`);
  const [rows, total] = await Promise.all([
    tx.membership.findMany({
      where: { AND: [where, after === null ? {} : { user_id: { gt: after } }] },
      include: WITH_PERSON,
      orderBy: orderOf(query.sort),
      ...range,
    }),
    tx.membership.count({ where }),
  ]);
  return page(rows, total, ({ user_id }) => user_id);
}

function orderOf(sort: string | undefined): Prisma.MembershipOrderByWithRelationInput[] {
  if (sort === undefined) return [{ user_id: 'asc' }];
  const [column, ...tie] = sortedBy(sort, ['spend_cap_usd'], 'user_id');
  return sort.endsWith('name') ? [{ user: column }, ...tie] : [column, ...tie];
}

/** Teams of the organization by person. */
export async function teamsOf(
  tx: Tx,
  orgId: string,
  userIds: readonly string[],
): Promise<Map<string, string[]>> {
  const rows = await tx.teamMember.findMany({
    where: { user_id: { in: [...userIds] }, removed_at: null, team: { org_id: orgId } },
    select: { user_id: true, team_id: true },
    orderBy: { team_id: 'asc' },
  });
  const teams = new Map<string, string[]>();
  for (const { user_id, team_id } of rows) teams.set(user_id, [...(teams.get(user_id) ?? []), team_id]);
  return teams;
}

export async function roleOf(tx: Tx, orgId: string, userId: string): Promise<OrgRole | null> {
  const row = await findMember(tx, orgId, userId);
  return row === null ? null : asRole(row.role);
}

/** Adds a member. One who joins again has the limits that their keys have been counted against meanwhile. */
export async function addMember(
  tx: Tx,
  { orgId, userId, role }: { orgId: string; userId: string; role: OrgRole },
  now: Date,
  source: 'direct' | 'oidc' = 'direct',
): Promise<void> {
  const joined = await tx.membership.count({ where: { user_id: userId, removed_at: null } });
  if (joined >= JOINED_MAX)
    throw new ApiError('conflict', { message: `One person is in at most ${JOINED_MAX} organizations.` });
  await tx.membership.upsert({
    where: { org_id_user_id: { org_id: orgId, user_id: userId } },
    create: { org_id: orgId, user_id: userId, role, source, created_at: now },
    update: { role, source, created_at: now, removed_at: null },
  });
}

/** The rows stay: keys go on counting against them. */
export async function removeMember(tx: Tx, orgId: string, userId: string, now: Date): Promise<void> {
  await tx.membership.update({
    where: { org_id_user_id: { org_id: orgId, user_id: userId } },
    data: { removed_at: now },
  });
  await tx.teamMember.updateMany({
    where: { user_id: userId, removed_at: null, team: { org_id: orgId } },
    data: { removed_at: now },
  });
}

/** Throws ApiError `conflict` where a person owns as many organizations as one may. */
export async function refuseOneMoreOwned(tx: Tx, userId: string): Promise<void> {
  const owned = await tx.membership.count({ where: { user_id: userId, role: 'owner', removed_at: null } });
  if (owned >= OWNED_MAX)
    throw new ApiError('conflict', { message: `One person owns at most ${OWNED_MAX} organizations.` });
}

/** The account of the organization; null for one that does not exist or was deleted. */
export async function orgAccount(tx: Tx, orgId: string): Promise<string | null> {
  const where = { org_id: orgId, org: { deleted_at: null } };
  return (await tx.account.findFirst({ where, select: { id: true } }))?.id ?? null;
}

/** Returns the stored role; an unknown one counts as the lowest. */
export function asRole(text: string): OrgRole {
  return text === 'owner' || text === 'admin' ? text : 'member';
}

export function toWire(row: MemberRow, teams: readonly string[]): MemberRecord {
  return {
    org_id: row.org_id,
    user_id: row.user_id,
    email: row.user.email,
    name: row.user.name,
    role: asRole(row.role),
    teams: [...teams],
    ...limitsToWire(row),
    created_at: row.created_at.toISOString(),
  };
}
