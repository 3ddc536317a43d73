import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query, Req, Res } from '@nestjs/common';
import {
  CreateAdminKeyBody,
  ListAdminKeysQuery,
  type CreatedAdminKey,
  type AdminKeyRecord,
  type CursorPage,
} from '@gateway/contracts';
import { Access, sessionOf } from '@gateway/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ADMIN_KEY_RULE, AdminKeysService } from './admin-keys.service.js';

/** People only: no key makes another. */
@Controller('v1/admin-keys')
@Access({ session: true, org: ADMIN_KEY_RULE })
export class AdminKeysController {
  constructor(private readonly adminKeys: AdminKeysService) {}

  /** Creates an admin key. Its plaintext is in this answer and never again. */
  @Post()
  async create(
    @Body() body: CreateAdminKeyBody,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<CreatedAdminKey> {
    const answer = await this.adminKeys.create(sessionOf(request), body, request);
    void reply.code(answer.status).header('cache-control', 'no-store');
    return answer.body;
  }

  /** Lists admin keys. */
  @Get()
  list(
    @Query() query: ListAdminKeysQuery,
    @Req() request: FastifyRequest,
  ): Promise<CursorPage<AdminKeyRecord>> {
    return this.adminKeys.list(sessionOf(request), query);
  }

  /** Revokes an admin key: from then on it is unknown. */
  @Delete(':id')
  @HttpCode(204)
  revoke(@Param('id') id: string, @Req() request: FastifyRequest): Promise<void> {
    return this.adminKeys.revoke(sessionOf(request), id, request);
  }
}
