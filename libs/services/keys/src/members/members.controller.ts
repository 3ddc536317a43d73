import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Query, Req } from '@nestjs/common';
import { ListMembersQuery, UpdateMemberBody, type CursorPage, type MemberRecord } from '@gateway/contracts';
import { Access, sessionOf } from '@gateway/platform';
import type { FastifyRequest } from 'fastify';
import { MembersService } from './members.service.js';

@Controller('v1/orgs/:id/members')
export class MembersController {
  constructor(private readonly members: MembersService) {}

  /** Lists the members of an organization. */
  @Get()
  @Access({
    session: true,
    adminKey: { scope: 'members:read' },
    org: { param: 'id', roles: ['owner', 'admin', 'member'] },
  })
  list(@Param('id') orgId: string, @Query() query: ListMembersQuery): Promise<CursorPage<MemberRecord>> {
    return this.members.list(orgId, query);
  }

  /** Reads a member. */
  @Get(':user_id')
  @Access({
    session: true,
    adminKey: { scope: 'members:read' },
    org: { param: 'id', roles: ['owner', 'admin', 'member'] },
  })
  read(@Param('id') orgId: string, @Param('user_id') userId: string): Promise<MemberRecord> {
    return this.members.read(orgId, userId);
  }

  /** Changes the role or limits of a member. */
  @Patch(':user_id')
  @Access({ session: true, org: { param: 'id', roles: ['owner', 'admin'] } })
  update(
    @Param('id') orgId: string,
    @Param('user_id') userId: string,
    @Body() body: UpdateMemberBody,
    @Req() request: FastifyRequest,
  ): Promise<MemberRecord> {
    return this.members.update(sessionOf(request), { orgId, userId }, body, request);
  }

  /** Removes a member from an organization. Their keys keep working and count against them. */
  @Delete(':user_id')
  @HttpCode(204)
  @Access({ session: true, org: { param: 'id', roles: ['owner', 'admin'], self: 'user_id' } })
  remove(
    @Param('id') orgId: string,
    @Param('user_id') userId: string,
    @Req() request: FastifyRequest,
  ): Promise<void> {
    return this.members.remove(sessionOf(request), { orgId, userId }, request);
  }
}
