import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query, Req, Res } from '@nestjs/common';
import {
  CreateViewBody,
  ListViewsQuery,
  UpdateViewBody,
  type CursorPage,
  type ViewRecord,
} from '@gateway/contracts';
import { Access, sessionOf, type AccessRule } from '@gateway/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ViewsService } from './views.service.js';

/** Members change the views that they made; the service looks whose a view is. */
const CHANGE: AccessRule = { session: true, org: { roles: ['owner', 'admin'], own: true } };

/** Names for what pages of the dashboard show, shared in an organization. */
@Controller('v1/orgs/:id/views')
export class ViewsController {
  constructor(private readonly views: ViewsService) {}

  /** Keeps a view for everybody in the organization, which has at most 100. */
  @Post()
  @Access({ session: true, org: { param: 'id', roles: ['owner', 'admin', 'member'] } })
  async create(
    @Param('id') orgId: string,
    @Body() body: CreateViewBody,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ViewRecord> {
    const answer = await this.views.create(sessionOf(request), orgId, body, request);
    void reply.code(answer.status);
    return answer.body;
  }

  /** Lists the views of an organization. */
  @Get()
  @Access({ session: true, org: { param: 'id', roles: ['owner', 'admin', 'member'] } })
  list(@Param('id') orgId: string, @Query() query: ListViewsQuery): Promise<CursorPage<ViewRecord>> {
    return this.views.list(orgId, query);
  }

  /** Renames a view, or sets what it shows. */
  @Patch(':view_id')
  @Access(CHANGE)
  update(
    @Param('id') orgId: string,
    @Param('view_id') id: string,
    @Body() body: UpdateViewBody,
    @Req() request: FastifyRequest,
  ): Promise<ViewRecord> {
    return this.views.update(sessionOf(request), { orgId, id }, body, request);
  }

  /** Deletes a view. */
  @Delete(':view_id')
  @HttpCode(204)
  @Access(CHANGE)
  remove(
    @Param('id') orgId: string,
    @Param('view_id') id: string,
    @Req() request: FastifyRequest,
  ): Promise<void> {
    return this.views.remove(sessionOf(request), { orgId, id }, request);
  }
}
