import { Body, Controller, Delete, Get, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import { GrantSuperAdminBody, type SuperAdminRecord } from '@gateway/contracts';
import { Access } from '@gateway/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { SuperAdminsService } from './super-admins.service.js';

@Controller('v1/admin/super-admins')
@Access({ superAdmin: true })
export class SuperAdminsController {
  constructor(private readonly superAdmins: SuperAdminsService) {}

  /** Makes a person a super admin. */
  @Post()
  async grant(
    @Body() body: GrantSuperAdminBody,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SuperAdminRecord> {
    const answer = await this.superAdmins.grant(body, request);
    void reply.code(answer.status);
    return answer.body;
  }

  /** Lists the super admins. */
  @Get()
  async list(): Promise<{ data: SuperAdminRecord[] }> {
    return { data: await this.superAdmins.list() };
  }

  /** Takes the role of a super admin back. */
  @Delete(':user_id')
  @HttpCode(204)
  revoke(@Param('user_id') userId: string, @Req() request: FastifyRequest): Promise<void> {
    return this.superAdmins.revoke(userId, request);
  }
}
