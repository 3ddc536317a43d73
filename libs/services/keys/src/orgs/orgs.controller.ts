import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query, Req, Res } from '@nestjs/common';
import { CreateOrgBody, ListOrgsQuery, UpdateOrgBody, type OrgRecord } from '@gateway/contracts';
import { Access, sessionOf, type Page } from '@gateway/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ORG_WRITE_RULE } from './org.js';
import { OrgsService } from './orgs.service.js';

@Controller('v1/orgs')
export class OrgsController {
  constructor(private readonly orgs: OrgsService) {}

  /** Creates an organization, whose owner the caller is. */
  @Post()
  @Access({ session: true })
  async create(
    @Body() body: CreateOrgBody,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<OrgRecord> {
    const answer = await this.orgs.create(sessionOf(request), body, request);
    void reply.code(answer.status);
    return answer.body;
  }

  /** Lists the organizations of the caller. */
  @Get()
  @Access({ session: true })
  list(@Query() query: ListOrgsQuery, @Req() request: FastifyRequest): Promise<Page<OrgRecord>> {
    return this.orgs.list(sessionOf(request), query);
  }

  /** Reads an organization. */
  @Get(':id')
  @Access({ session: true, superAdmin: true, org: { param: 'id', roles: ['owner', 'admin', 'member'] } })
  read(@Param('id') id: string): Promise<OrgRecord> {
    return this.orgs.read(id);
  }

  /** Changes an organization. What is absent stays as it is. */
  @Patch(':id')
  @Access({ session: true, superAdmin: true, org: { param: 'id', ...ORG_WRITE_RULE } })
  update(
    @Param('id') id: string,
    @Body() body: UpdateOrgBody,
    @Req() request: FastifyRequest,
  ): Promise<OrgRecord> {
    return this.orgs.update(sessionOf(request), id, body, request);
  }

  /** Deletes an organization. 409 while a key of it is active. */
  @Delete(':id')
  @HttpCode(204)
  @Access({ session: true, org: { param: 'id', roles: ['owner'] } })
  remove(@Param('id') id: string, @Req() request: FastifyRequest): Promise<void> {
    return this.orgs.remove(id, request);
  }
}
