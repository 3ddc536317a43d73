import {
  Body,
  Controller,
  Delete,
  Get,
  HttpCode,
  Param,
  Patch,
  Post,
  Put,
  Query,
  Req,
  Res,
} from '@nestjs/common';
import {
  CreateTeamBody,
  CursorPageQuery,
  ListTeamsQuery,
  ScopeLimitsBody,
  UpdateTeamBody,
  type CursorPage,
  type TeamMemberRecord,
  type TeamRecord,
} from '@gateway/contracts';
import { Access, principalOf, requireOrgRole, type AccessRule } from '@gateway/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { TeamMembersService } from './team-members.service.js';
import { TeamsService } from './teams.service.js';

/** The organization is found by the team: the handlers apply these to it. */
const READ: AccessRule = {
  session: true,
  adminKey: { scope: 'members:read' },
  org: { roles: ['owner', 'admin', 'member'] },
};
const WRITE: AccessRule = { session: true, org: { roles: ['owner', 'admin'] } };

@Controller('v1')
export class TeamsController {
  constructor(
    private readonly teams: TeamsService,
    private readonly members: TeamMembersService,
  ) {}

  /** Creates a team. */
  @Post('orgs/:id/teams')
  @Access({ session: true, org: { param: 'id', roles: ['owner', 'admin'] } })
  async create(
    @Param('id') orgId: string,
    @Body() body: CreateTeamBody,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<TeamRecord> {
    const answer = await this.teams.create(orgId, body, request);
    void reply.code(answer.status);
    return answer.body;
  }

  /** Lists the teams of an organization. */
  @Get('orgs/:id/teams')
  @Access({
    session: true,
    adminKey: { scope: 'members:read' },
    org: { param: 'id', roles: ['owner', 'admin', 'member'] },
  })
  list(@Param('id') orgId: string, @Query() query: ListTeamsQuery): Promise<CursorPage<TeamRecord>> {
    return this.teams.list(orgId, query);
  }

  /** Reads a team. */
  @Get('teams/:id')
  @Access(READ)
  async read(@Param('id') id: string, @Req() request: FastifyRequest): Promise<TeamRecord> {
    await this.require(request, id, READ);
    return this.teams.read(id);
  }

  /** Changes a team. What is absent stays as it is, null clears. */
  @Patch('teams/:id')
  @Access(WRITE)
  async update(
    @Param('id') id: string,
    @Body() body: UpdateTeamBody,
    @Req() request: FastifyRequest,
  ): Promise<TeamRecord> {
    await this.require(request, id, WRITE);
    return this.teams.update(id, body, request);
  }

  /** Deletes a team. 409 while an active key is of it; suspended ones stay, without a team. */
  @Delete('teams/:id')
  @HttpCode(204)
  @Access(WRITE)
  async remove(@Param('id') id: string, @Req() request: FastifyRequest): Promise<void> {
    await this.require(request, id, WRITE);
    return this.teams.remove(id, request);
  }

  /** Lists the members of a team. */
  @Get('teams/:id/members')
  @Access(READ)
  async listMembers(
    @Param('id') id: string,
    @Query() query: CursorPageQuery,
    @Req() request: FastifyRequest,
  ): Promise<CursorPage<TeamMemberRecord>> {
    await this.require(request, id, READ);
    return this.members.list(id, query);
  }

  /** Adds a member to a team, or replaces their limits there. */
  @Put('teams/:id/members/:user_id')
  @Access(WRITE)
  async putMember(
    @Param('id') id: string,
    @Param('user_id') userId: string,
    @Body() body: ScopeLimitsBody,
    @Req() request: FastifyRequest,
  ): Promise<TeamMemberRecord> {
    await this.require(request, id, WRITE);
    return this.members.put({ teamId: id, userId }, body, request);
  }

  /** Removes a member from a team. */
  @Delete('teams/:id/members/:user_id')
  @HttpCode(204)
  @Access(WRITE)
  async removeMember(
    @Param('id') id: string,
    @Param('user_id') userId: string,
    @Req() request: FastifyRequest,
  ): Promise<void> {
    await this.require(request, id, WRITE);
    return this.members.remove({ teamId: id, userId }, request);
  }

  private async require(request: FastifyRequest, teamId: string, rule: AccessRule): Promise<void> {
    requireOrgRole(principalOf(request), await this.teams.orgOf(teamId), rule);
  }
}
