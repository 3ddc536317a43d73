import {
  Body,
  Controller,
  Delete,
  Get,
  HttpCode,
  Inject,
  Param,
  Post,
  Query,
  Req,
  Res,
} from '@nestjs/common';
import {
  ApiError,
  ErasedSinceQuery,
  KeepContentsBody,
  UsageOrgQuery,
  type Clock,
  Directory,
  type ErasedEndUser,
  type Random,
  type RequestContentRecord,
} from '@gateway/contracts';
import { auditRow, type AuditedWrite } from '@gateway/database';
import { Access, CLOCK, RANDOM, sessionOf } from '@gateway/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { USAGE_RULE, viewOf, viewsOf } from '../reads/view.js';
import { ContentsStore } from './contents.store.js';

const REQUEST_ID = /^[\w-]{1,128}$/;

/** Routes of an organization's logged bodies: for people alone, and each read is in its audit log. */
@Controller('v1/usage')
@Access({ session: true, org: USAGE_RULE })
export class ContentsController {
  constructor(
    private readonly contents: ContentsStore,
    private readonly directory: Directory,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {}

  /** Reads what a request was asked and answered, where its organization logs that. */
  @Get('requests/:id/content')
  async read(
    @Param('id') id: string,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RequestContentRecord> {
    const views = viewsOf(sessionOf(request));
    const found = REQUEST_ID.test(id) ? await this.contents.find(views, id) : [];
    const [first] = found;
    if (first === undefined)
      throw new ApiError('not_found', { message: 'No content of this request is stored.' });
    // Before anything is opened: nobody looks without a row that says so.
    await this.audit(request, {
      action: 'request_content.read',
      targetType: 'request',
      targetId: id,
      orgId: first.org_id,
      changedFields: [],
    });
    void reply.header('cache-control', 'no-store');
    return { request_id: id, contents: this.contents.opened(found) };
  }

  /** Removes all contents that an organization has logged so far. */
  @Delete('contents')
  @HttpCode(204)
  @Access({ session: true, org: { roles: ['owner', 'admin'] } })
  async remove(@Query() { org_id }: UsageOrgQuery, @Req() request: FastifyRequest): Promise<void> {
    const view = viewOf(sessionOf(request), org_id);
    if (view.kind !== 'org')
      throw new ApiError('forbidden', { message: 'Only owners and admins remove logged contents.' });
    await this.audit(request, {
      action: 'request_content.remove',
      targetType: 'org',
      targetId: view.orgId,
      orgId: view.orgId,
      changedFields: [],
    });
    await this.contents.purge(view.orgId);
  }

  /** The keys service keeps what owners and admins read. Throws ApiError `service_unavailable` where it cannot. */
  private async audit(request: FastifyRequest, write: AuditedWrite): Promise<void> {
    const row = auditRow(request, write, { clock: this.clock, random: this.random });
    await this.directory.audit({ ...row, created_at: row.created_at.toISOString() });
  }
}

/** Contents from the edges, and whose have to go, by the fleet's token. */
@Controller('internal')
@Access({ internal: true })
export class InternalContentsController {
  constructor(private readonly contents: ContentsStore) {}

  @Post('contents')
  @HttpCode(204)
  async keep(@Body() { contents }: KeepContentsBody): Promise<void> {
    await this.contents.keep(contents);
  }

  @Get('erasures')
  erasedSince(@Query() { since }: ErasedSinceQuery): Promise<{ erased: ErasedEndUser[]; isAll: boolean }> {
    return this.contents.erasedSince(new Date(since));
  }
}
