import { Inject, Injectable } from '@nestjs/common';
import {
  ApiError,
  CatalogueNames,
  newId,
  type Clock,
  type CreateTeamBody,
  type CursorPage,
  type ListTeamsQuery,
  type Random,
  type TeamRecord,
  type UpdateTeamBody,
  type CreateAnswer,
} from '@gateway/contracts';
import { CLOCK, RANDOM, refuseFaults, sentFields } from '@gateway/platform';
import type { FastifyRequest } from 'fastify';
import { AccountChanges, type Changed } from '../accounts/account-change.js';
import { limitColumns, limitFaults, tierOf } from '../accounts/scope-limits.js';
import { changedValues } from '../audit/changed-values.js';
import { orgAccount } from '../members/member.store.js';
import { refuseUnlisted } from '../names/unknown-names.js';
import { KeysDatabase, type Tx } from '../postgres/keys-database.js';
import { existingTeam, listTeams, toWire, type TeamRow } from './team.store.js';

/** Number of teams of one organization. */
const TEAMS_MAX = 5_000;

@Injectable()
export class TeamsService {
  constructor(
    private readonly database: KeysDatabase,
    private readonly changes: AccountChanges,
    private readonly names: CatalogueNames,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {}

  async list(orgId: string, query: ListTeamsQuery): Promise<CursorPage<TeamRecord>> {
    const page = await listTeams(this.database.prisma, orgId, query);
    return { ...page, data: page.data.map(toWire) };
  }

  /** Returns the organization of a team, for the check of roles. Throws ApiError `not_found`. */
  async orgOf(id: string): Promise<string> {
    return (await existingTeam(this.database.prisma, id)).org_id;
  }

  async read(id: string): Promise<TeamRecord> {
    return toWire(await existingTeam(this.database.prisma, id));
  }

  /** Throws ApiError `validation_error`, `conflict` for one too many. */
  async create(
    orgId: string,
    body: CreateTeamBody,
    request: FastifyRequest,
  ): Promise<CreateAnswer<TeamRecord>> {
    const account = await orgAccount(this.database.prisma, orgId);
    if (account === null) throw new ApiError('not_found');
    await refuseUnlisted(this.names, body, async () => null, orgId);
    return this.changes.create(request, {
      accounts: [account],
      make: async (tx) => {
        const row = await this.insert(tx, orgId, body);
        const answer = { status: 201, body: { ...toWire(row) } };
        return { answer, audit: teamAudit('team.create', row, sentFields(body)) };
      },
    });
  }

  async update(id: string, body: UpdateTeamBody, request: FastifyRequest): Promise<TeamRecord> {
    const stored = await existingTeam(this.database.prisma, id);
    await refuseUnlisted(this.names, body, async () => stored, stored.org_id);
    return this.change(id, request, async (tx, row) => {
      refuseFaults('validation_error', limitFaults(tierOf(row.org.tier), body));
      if (sentFields(body).length === 0) return { answer: toWire(row), audit: null };
      const data = { name: body.name, ...limitColumns(body), updated_at: new Date(this.clock.now()) };
      await tx.team.update({ where: { id }, data });
      const updated = await existingTeam(tx, id);
      const audit = teamAudit('team.update', row, sentFields(body));
      return { answer: toWire(updated), audit, values: changedValues(row, updated) };
    });
  }

  /** Throws ApiError `conflict` while an active key is of the team: it would lose the team's limits unnoticed. */
  async remove(id: string, request: FastifyRequest): Promise<void> {
    await this.change(id, request, async (tx, row): Promise<Changed<null>> => {
      if ((await tx.apiKey.count({ where: { team_id: id, status: 'active' } })) > 0)
        throw new ApiError('conflict', {
          message: 'An active key belongs to this team: move it to another team or delete it first.',
        });
      await tx.apiKey.updateMany({ where: { team_id: id }, data: { team_id: null } });
      await tx.teamMember.deleteMany({ where: { team_id: id } });
      await tx.team.delete({ where: { id } });
      return { answer: null, audit: teamAudit('team.delete', row, []) };
    });
  }

  private async change<T>(
    id: string,
    request: FastifyRequest,
    make: (tx: Tx, row: TeamRow) => Promise<Changed<T>>,
  ): Promise<T> {
    const { org } = await existingTeam(this.database.prisma, id);
    const accounts = [org.account?.id ?? ''];
    return this.changes.run(request, { accounts, make: async (tx) => make(tx, await existingTeam(tx, id)) });
  }

  private async insert(tx: Tx, orgId: string, body: CreateTeamBody): Promise<TeamRow> {
    const { tier } = await tx.org.findUniqueOrThrow({ where: { id: orgId }, select: { tier: true } });
    refuseFaults('validation_error', limitFaults(tierOf(tier), body));
    if ((await tx.team.count({ where: { org_id: orgId } })) >= TEAMS_MAX)
      throw new ApiError('conflict', { message: `An organization has at most ${TEAMS_MAX} teams.` });
    const now = new Date(this.clock.now());
    const id = newId('team', this.clock, this.random);
    const data = {
      id,
      org_id: orgId,
      name: body.name,
      ...limitColumns(body),
      created_at: now,
      updated_at: now,
    };
    await tx.team.create({ data });
    return existingTeam(tx, id);
  }
}

function teamAudit(action: string, { id, org_id }: TeamRow, changedFields: readonly string[]) {
  return { action, targetType: 'team', targetId: id, orgId: org_id, changedFields };
}
