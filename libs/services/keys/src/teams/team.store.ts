import {
  ApiError,
  type CursorPage,
  type CursorPageQuery,
  type ListTeamsQuery,
  type TeamMemberRecord,
  type TeamRecord,
} from '@gateway/contracts';
import { limitsToWire } from '../accounts/scope-limits.js';
import type { Prisma } from '../generated/prisma/client.js';
import { keysetOf } from '../postgres/keyset.js';
import { containing, sortedBy } from '../postgres/columns.js';
import type { Tx } from '../postgres/keys-database.js';

/** A team beside its organization's account, which every change of it concerns. */
const WITH_ORG = {
  org: { select: { tier: true, account: { select: { id: true } } } },
} as const;
const WITH_PERSON = { user: { select: { email: true, name: true } } } as const;

export type TeamRow = Prisma.TeamGetPayload<{ include: typeof WITH_ORG }>;
export type TeamMemberRow = Prisma.TeamMemberGetPayload<{ include: typeof WITH_PERSON }>;

const NULLABLE = ['rpm_limit', 'spend_cap_usd'];

/** Throws ApiError `not_found`. */
export async function existingTeam(tx: Tx, id: string): Promise<TeamRow> {
  const row = await tx.team.findFirst({ where: { id, org: { deleted_at: null } }, include: WITH_ORG });
  if (row === null) throw new ApiError('not_found');
  return row;
}

/** Returns the teams in the order of their ids, which is that of their creation, or in that of the query. */
export async function listTeams(tx: Tx, orgId: string, query: ListTeamsQuery): Promise<CursorPage<TeamRow>> {
  const { q, sort } = query;
  const where = {
    org_id: orgId,
    ...(q === undefined ? {} : { name: containing(q) }),
  };
  const { after, range, page } = keysetOf(query, `teams ${orgId}`);
  const [rows, total] = await Promise.all([
    tx.team.findMany({
      where: { AND: [where, after === null ? {} : { id: { gt: after } }] },
      include: WITH_ORG,
      orderBy: sort === undefined ? { id: 'asc' } : sortedBy(sort, NULLABLE, 'id'),
      ...range,
    }),
    tx.team.count({ where }),
  ]);
  return page(rows, total, ({ id }) => id);
}

export async function listTeamMembers(
  tx: Tx,
  teamId: string,
  query: CursorPageQuery,
): Promise<CursorPage<TeamMemberRow>> {
  const where = { team_id: teamId, removed_at: null };
  const { after, range, page } = keysetOf(query, `team_members ${teamId}`);
  const [rows, total] = await Promise.all([
    tx.teamMember.findMany({
      where: { AND: [where, after === null ? {} : { user_id: { gt: after } }] },
      include: WITH_PERSON,
      orderBy: { user_id: 'asc' },
      ...range,
    }),
    tx.teamMember.count({ where }),
  ]);
  return page(rows, total, ({ user_id }) => user_id);
}

/** Returns a present member of the team. */
export function findTeamMember(tx: Tx, teamId: string, userId: string): Promise<TeamMemberRow | null> {
  const where = { team_id: teamId, user_id: userId, removed_at: null };
  return tx.teamMember.findFirst({ where, include: WITH_PERSON });
}

export function toWire(row: TeamRow): TeamRecord {
  return {
    id: row.id,
    org_id: row.org_id,
    name: row.name,
    ...limitsToWire(row),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

export function teamMemberToWire(row: TeamMemberRow): TeamMemberRecord {
  return {
    team_id: row.team_id,
    user_id: row.user_id,
    email: row.user.email,
    name: row.user.name,
    ...limitsToWire(row),
    created_at: row.created_at.toISOString(),
  };
}
