import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query, Req, Res } from '@nestjs/common';
import {
  AcceptInvitationBody,
  CreateInvitationBody,
  CursorPageQuery,
  type CursorPage,
  type InvitationRecord,
  type SessionRecord,
} from '@gateway/contracts';
import { Access, sessionOf } from '@gateway/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { signedAnswer } from '../sessions/signed-answer.js';
import { InvitationsService } from './invitations.service.js';
import { JoiningService } from './joining.service.js';

@Controller()
export class InvitationsController {
  constructor(
    private readonly invitations: InvitationsService,
    private readonly joining: JoiningService,
  ) {}

  /** Invites a person into an organization by e-mail. */
  @Post('v1/orgs/:id/invitations')
  @Access({ session: true, org: { param: 'id', roles: ['owner', 'admin'] } })
  async create(
    @Param('id') orgId: string,
    @Body() body: CreateInvitationBody,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<InvitationRecord> {
    const answer = await this.invitations.create(sessionOf(request), orgId, body, request);
    void reply.code(answer.status);
    return answer.body;
  }

  /** Lists the open invitations of an organization. */
  @Get('v1/orgs/:id/invitations')
  @Access({
    session: true,
    adminKey: { scope: 'members:read' },
    org: { param: 'id', roles: ['owner', 'admin', 'member'] },
  })
  list(@Param('id') orgId: string, @Query() query: CursorPageQuery): Promise<CursorPage<InvitationRecord>> {
    return this.invitations.list(orgId, query);
  }

  /** Takes an invitation back. */
  @Delete('v1/orgs/:id/invitations/:invitation_id')
  @HttpCode(204)
  @Access({ session: true, org: { param: 'id', roles: ['owner', 'admin'] } })
  revoke(
    @Param('id') orgId: string,
    @Param('invitation_id') id: string,
    @Req() request: FastifyRequest,
  ): Promise<void> {
    return this.invitations.revoke(orgId, id, request);
  }

  /** Accepts an invitation, and logs in. */
  @Post('auth/invitations/accept')
  @HttpCode(200)
  @Access({ public: true })
  async accept(
    @Body() body: AcceptInvitationBody,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SessionRecord> {
    return signedAnswer(await this.joining.accept(body, request), reply);
  }
}
