import { Inject, Injectable } from '@nestjs/common';
import {
  ApiError,
  CatalogueNames,
  type Clock,
  type CursorPage,
  type CursorPageQuery,
  type ScopeLimitsBody,
  type TeamMemberRecord,
} from '@gateway/contracts';
import { CLOCK, refuseFaults } from '@gateway/platform';
import type { FastifyRequest } from 'fastify';
import { AccountChanges, type Changed } from '../accounts/account-change.js';
import { limitColumns, limitFaults, tierOf } from '../accounts/scope-limits.js';
import { changedValues } from '../audit/changed-values.js';
import { findMember } from '../members/member.store.js';
import { refuseUnlisted } from '../names/unknown-names.js';
import { KeysDatabase, type Tx } from '../postgres/keys-database.js';
import {
  existingTeam,
  findTeamMember,
  listTeamMembers,
  teamMemberToWire,
  type TeamMemberRow,
} from './team.store.js';

/** Teams travel with every session, so the number of one person's is bounded. */
const TEAMS_OF_ONE_MAX = 200;
const LIMIT_FIELDS = [
  'rpm_limit',
  'rpd_limit',
  'tpm_limit',
  'spend_cap_usd',
  'allowed_models',
  'blocked_models',
] as const;

/** A person in a team of theirs. */
interface Place {
  teamId: string;
  userId: string;
}

@Injectable()
export class TeamMembersService {
  constructor(
    private readonly database: KeysDatabase,
    private readonly changes: AccountChanges,
    private readonly names: CatalogueNames,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async list(teamId: string, query: CursorPageQuery): Promise<CursorPage<TeamMemberRecord>> {
    const page = await listTeamMembers(this.database.prisma, teamId, query);
    return { ...page, data: page.data.map(teamMemberToWire) };
  }

  /** Adds a member of the organization, or replaces all limits. Throws ApiError `not_found`, `validation_error`. */
  async put(place: Place, body: ScopeLimitsBody, request: FastifyRequest): Promise<TeamMemberRecord> {
    const { org_id } = await existingTeam(this.database.prisma, place.teamId);
    const stored = (): ReturnType<typeof findTeamMember> =>
      findTeamMember(this.database.prisma, place.teamId, place.userId);
    await refuseUnlisted(this.names, body, stored, org_id);
    return this.change(place, request, async (tx, orgId) => {
      const known = await findTeamMember(tx, place.teamId, place.userId);
      if (known === null) await this.refuseOneMore(tx, orgId, place.userId);
      const row = await this.write(tx, place, body, known === null);
      const action = known === null ? 'team_member.add' : 'team_member.update';
      const audit = placeAudit(action, place, orgId, LIMIT_FIELDS);
      return { answer: teamMemberToWire(row), audit, values: changedValues(known ?? {}, row) };
    });
  }

  /** The row stays: keys of the team that are the person's go on counting against it. */
  async remove(place: Place, request: FastifyRequest): Promise<void> {
    await this.change(place, request, async (tx, orgId): Promise<Changed<null>> => {
      const { teamId: team_id, userId: user_id } = place;
      if ((await findTeamMember(tx, team_id, user_id)) === null) throw new ApiError('not_found');
      const removed_at = new Date(this.clock.now());
      await tx.teamMember.update({ where: { team_id_user_id: { team_id, user_id } }, data: { removed_at } });
      return { answer: null, audit: placeAudit('team_member.remove', place, orgId, ['removed_at']) };
    });
  }

  private async write(
    tx: Tx,
    { teamId: team_id, userId: user_id }: Place,
    body: ScopeLimitsBody,
    isNew: boolean,
  ): Promise<TeamMemberRow> {
    const { org } = await existingTeam(tx, team_id);
    refuseFaults('validation_error', limitFaults(tierOf(org.tier), body));
    const whole = Object.fromEntries(LIMIT_FIELDS.map((name) => [name, body[name] ?? null]));
    const limits = limitColumns(whole);
    const joined = isNew ? { created_at: new Date(this.clock.now()) } : {};
    await tx.teamMember.upsert({
      where: { team_id_user_id: { team_id, user_id } },
      create: { team_id, user_id, ...limits, created_at: new Date(this.clock.now()) },
      update: { ...limits, ...joined, removed_at: null },
    });
    return (await findTeamMember(tx, team_id, user_id)) as TeamMemberRow;
  }

  private async refuseOneMore(tx: Tx, orgId: string, userId: string): Promise<void> {
    const where = { user_id: userId, removed_at: null, team: { org_id: orgId } };
    if ((await tx.teamMember.count({ where })) < TEAMS_OF_ONE_MAX) return;
    throw new ApiError('conflict', { message: `One person is in at most ${TEAMS_OF_ONE_MAX} teams.` });
  }

  /** It shows on the organization's keys and on the person's session. Throws ApiError `not_found` for who is no member. */
  private async change<T>(
    { teamId, userId }: Place,
    request: FastifyRequest,
    make: (tx: Tx, orgId: string) => Promise<Changed<T>>,
  ): Promise<T> {
    const { org, org_id } = await existingTeam(this.database.prisma, teamId);
    const member = await findMember(this.database.prisma, org_id, userId);
    const accounts = [org.account?.id, member?.user.account?.id];
    if (!accounts.every((id) => id !== undefined)) throw new ApiError('not_found');
    return this.changes.run(request, {
      accounts,
      make: async (tx) => {
        await existingTeam(tx, teamId);
        if ((await findMember(tx, org_id, userId)) === null) throw new ApiError('not_found');
        return make(tx, org_id);
      },
    });
  }
}

function placeAudit(
  action: string,
  { teamId, userId }: Place,
  orgId: string,
  changedFields: readonly string[],
) {
  return { action, targetType: 'team_member', targetId: `${teamId}/${userId}`, orgId, changedFields };
}
