import { Body, Controller, Get, HttpCode, Inject, Param, Post, Query, Req, Res } from '@nestjs/common';
import {
  ApiError,
  RejectionsBody,
  UsageContextQuery,
  UsageEventsBody,
  UsageQueryBody,
  UsageRefreshQuery,
  type AttemptsRecord,
  type Clock,
  type Principal,
  type RejectionsPage,
  type RequestLookup,
  type UsageEventsPage,
  type UsageFilterBody,
  type UsageSummary,
} from '@gateway/contracts';
import { Access, CLOCK, principalOf } from '@gateway/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Freshness } from './freshness.js';
import { History } from './history.js';
import { Names } from './names.js';
import { FairScheduler } from './fair-scheduler.js';
import { RETENTION_DAYS } from './request-wire.js';
import { SessionCache } from './session-cache.js';
import { meantBy, USAGE_RULE, viewOf, viewsOf, type View } from './view.js';

const DAY_MS = 86_400_000;

/** Refusal of every id that has no record: why is not told, because the request may be another organization's. */
const NO_REQUEST =
  'There is no record of this request: it is unknown, not yours, older than 90 days, or of an endpoint whose requests are not recorded (count_tokens, input_tokens, router/select, chat/compare, lines of a batch).';

/** Summary, events, attempts, lookup and rejections. */
@Controller('v1/usage')
@Access({
  key: { permission: 'usage:read' },
  session: true,
  adminKey: { scope: 'usage:read' },
  org: USAGE_RULE,
})
export class UsageController {
  constructor(
    private readonly history: History,
    private readonly freshness: Freshness,
    private readonly names: Names,
    private readonly cache: SessionCache,
    private readonly scheduler: FairScheduler,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Sums up usage by model. */
  @Post()
  @HttpCode(200)
  async summary(
    @Body() body: UsageQueryBody,
    @Query() query: UsageRefreshQuery,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<UsageSummary> {
    const view = viewOf(principalOf(request), body.org_id);
    const read = (mayLag: boolean): Promise<UsageSummary> =>
      this.history.read(mayLag, ({ events }) => events.summary(view, body));
    return this.answer({ name: 'summary', view, body, query, read }, request, reply);
  }

  /** Lists usage events, newest first. */
  @Post('events')
  @HttpCode(200)
  async page(
    @Body() body: UsageEventsBody,
    @Query() query: UsageRefreshQuery,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<UsageEventsPage> {
    const view = viewOf(principalOf(request), body.org_id);
    const read = async (mayLag: boolean): Promise<UsageEventsPage> => {
      const { events, ...page } = await this.history.read(mayLag, (stores) => stores.events.page(view, body));
      const { limit, offset } = body;
      return { events: await this.names.labelled(view.accountId, events), ...page, limit, offset };
    };
    return this.answer({ name: 'events', view, body, query, read }, request, reply);
  }

  /** Lists the attempts of a usage event. */
  @Get('events/:id/attempts')
  async attempts(
    @Param('id') id: string,
    @Query() _query: UsageContextQuery,
    @Req() request: FastifyRequest,
  ): Promise<AttemptsRecord> {
    const views = viewsOf(principalOf(request));
    const attempts = await this.history.read(false, ({ events }) => events.attempts(views, id));
    if (attempts === null) throw new ApiError('not_found', { message: 'There is no such usage event.' });
    return { attempts };
  }

  /** Reads what became of a request, up to 90 days back. */
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
    for (const view of views) {
      const found = await this.history.read(
        false,
        async ({ events, rejections }) =>
          (await events.lookup(view, id, notBefore)) ?? rejections.lookup(view, id, notBefore),
      );
      if (found !== null) return (await this.names.labelled(view.accountId, [found]))[0];
    }
    throw new ApiError('not_found', { message: NO_REQUEST });
  }

  /** Lists requests that were refused before any model. */
  @Post('rejections')
  @HttpCode(200)
  async refused(
    @Body() body: RejectionsBody,
    @Query() query: UsageRefreshQuery,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<RejectionsPage> {
    const principal = principalOf(request);
    const view = viewOf(principal, body.org_id ?? meantBy(principal));
    const read = async (mayLag: boolean): Promise<RejectionsPage> => {
      const { limit, offset } = body;
      const page = await this.history.read(mayLag, ({ rejections }) =>
        rejections.page(view, body, this.retained()),
      );
      return { ...page, limit, offset };
    };
    return this.answer({ name: 'rejections', view, body, query, read }, request, reply);
  }

  /** Reads of a key are never stale; a dashboard may be a minute behind. */
  private async answer<T>(asked: Asked<T>, request: FastifyRequest, reply: FastifyReply): Promise<T> {
    const { name, view, body, query, read } = asked;
    const principal = principalOf(request);
    await this.awaitOwn(principal);
    const { refresh, ...question } = body;
    return this.cache.answer(reply, {
      principal,
      question: [name, view, question],
      isRefreshed: (query.refresh ?? refresh) === true,
      read: (mayLag) => this.scheduler.of(view.accountId, () => read(mayLag)),
    });
  }

  private async awaitOwn(principal: Principal): Promise<void> {
    if (principal.kind === 'key') await this.freshness.posted(principal.accountId);
  }

  private retained(): Date {
    return new Date(this.clock.now() - RETENTION_DAYS * DAY_MS);
  }
}

interface Asked<T> {
  name: string;
  view: View;
  body: UsageFilterBody;
  query: UsageRefreshQuery;
  read: (mayLag: boolean) => Promise<T>;
}
