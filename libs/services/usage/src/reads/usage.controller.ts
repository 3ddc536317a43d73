import { Body, Controller, Get, HttpCode, Inject, Param, Post, Query, Req } from '@nestjs/common';
import {
  ApiError,
  RejectionsBody,
  UsageContextQuery,
  UsageQueryBody,
  type AttemptsRecord,
  type Clock,
  type Principal,
  type RejectionsPage,
  type RequestLookup,
  type UsageEventsPage,
  type UsageSummary,
} from '@gateway/contracts';
import { Access, CLOCK, principalOf } from '@gateway/platform';
import type { FastifyRequest } from 'fastify';
import { EventsStore, RETENTION_DAYS } from './events.store.js';
import { Freshness } from './freshness.js';
import { RejectionsStore } from './rejections.store.js';
import { USAGE_RULE, viewOf, viewsOf } from './view.js';

const DAY_MS = 86_400_000;

/** Summary, events, attempts, lookup and rejections (spec, Usage and balance). */
@Controller('v1/usage')
@Access({
  key: { permission: 'usage:read' },
  session: true,
  adminKey: { scope: 'usage:read' },
  org: USAGE_RULE,
})
export class UsageController {
  constructor(
    private readonly events: EventsStore,
    private readonly rejections: RejectionsStore,
    private readonly freshness: Freshness,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Post()
  @HttpCode(200)
  async summary(@Body() body: UsageQueryBody, @Req() request: FastifyRequest): Promise<UsageSummary> {
    const principal = principalOf(request);
    const view = viewOf(principal, body.org_id);
    await this.awaitOwn(principal);
    return this.events.summary(view, body);
  }

  @Post('events')
  @HttpCode(200)
  async page(@Body() body: UsageQueryBody, @Req() request: FastifyRequest): Promise<UsageEventsPage> {
    const principal = principalOf(request);
    const view = viewOf(principal, body.org_id);
    await this.awaitOwn(principal);
    const { limit, offset } = body;
    return { ...(await this.events.page(view, body)), limit, offset };
  }

  @Get('events/:id/attempts')
  async attempts(
    @Param('id') id: string,
    @Query() _query: UsageContextQuery,
    @Req() request: FastifyRequest,
  ): Promise<AttemptsRecord> {
    const attempts = await this.events.attempts(viewsOf(principalOf(request)), id);
    if (attempts === null) throw new ApiError('not_found', { message: 'There is no such usage event.' });
    return { attempts };
  }

  @Get('requests/:id')
  async lookup(
    @Param('id') id: string,
    @Query() _query: UsageContextQuery,
    @Req() request: FastifyRequest,
  ): Promise<RequestLookup> {
    const principal = principalOf(request);
    const views = viewsOf(principal);
    const notBefore = this.retained();
    await this.awaitOwn(principal);
    const found =
      (await this.events.lookup(views, id, notBefore)) ??
      (await this.rejections.lookup(views, id, notBefore));
    if (found === null) throw new ApiError('not_found', { message: 'There is no such request.' });
    return found;
  }

  @Post('rejections')
  @HttpCode(200)
  async refused(@Body() body: RejectionsBody, @Req() request: FastifyRequest): Promise<RejectionsPage> {
    const view = viewOf(principalOf(request), body.org_id);
    const { limit, offset } = body;
    return { ...(await this.rejections.page(view, body, this.retained())), limit, offset };
  }

  /** Reads of a key are never stale; a dashboard may be a minute behind (spec, Limits). */
  private async awaitOwn(principal: Principal): Promise<void> {
    if (principal.kind === 'key') await this.freshness.posted(principal.accountId);
  }

  private retained(): Date {
    return new Date(this.clock.now() - RETENTION_DAYS * DAY_MS);
  }
}
