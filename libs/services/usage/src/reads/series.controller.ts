import { Body, Controller, Get, HttpCode, Inject, Post, Query, Req, Res } from '@nestjs/common';
import {
  ApiError,
  SpendTrendQuery,
  UsageRefreshQuery,
  UsageSeriesBody,
  type Clock,
  type Principal,
  type SpendTrend,
  type UsageSeries,
} from '@gateway/contracts';
import { Access, CLOCK, principalOf, timesOf } from '@gateway/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Freshness } from './freshness.js';
import { History } from './history.js';
import { Names } from './names.js';
import { FairScheduler } from './fair-scheduler.js';
import { viewRows, type Condition } from './row-filter.js';
import { SessionCache } from './session-cache.js';
import { trendWindow } from './trend.store.js';
import { USAGE_RULE, viewOf, type View } from './view.js';
import { zonedTime } from './zoned-time.js';

const DAYS_30_MS = 30 * 86_400_000;

/** Usage over time: the series of dashboards and the spend trend. */
@Controller('v1/usage')
export class SeriesController {
  constructor(
    private readonly history: History,
    private readonly names: Names,
    private readonly cache: SessionCache,
    private readonly scheduler: FairScheduler,
    private readonly freshness: Freshness,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Adds usage up over time, in groups. */
  @Post('series')
  @HttpCode(200)
  @Access({ session: true, adminKey: { scope: 'usage:read' }, org: USAGE_RULE })
  async read(
    @Body() body: UsageSeriesBody,
    @Query() { refresh }: UsageRefreshQuery,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<UsageSeries> {
    const principal = principalOf(request);
    const view = viewOf(principal, body.org_id);
    const { refresh: refreshed, ...question } = body;
    return this.cache.answer(reply, {
      principal,
      question: ['series', view, question],
      isRefreshed: (refresh ?? refreshed) === true,
      read: (mayLag) => this.scheduler.of(view.accountId, () => this.seriesOf(view, body, mayLag)),
    });
  }

  /** Reads what was spent over time. Of the whole organization, for every member and every key of it. */
  @Get('spend-trend')
  @Access({
    key: { permission: 'usage:read' },
    session: true,
    adminKey: { scope: 'usage:read' },
    org: { roles: ['owner', 'admin', 'member'] },
  })
  async trend(
    @Query() query: SpendTrendQuery,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SpendTrend> {
    const principal = principalOf(request);
    const view = wholeOf(principal, query.org_id);
    const { team_id: teamId = null, granularity } = query;
    if (teamId !== null) await this.requireTeam(principal, view, teamId);
    if (principal.kind === 'key') await this.freshness.posted(principal.accountId);
    return this.cache.answer(reply, {
      principal,
      question: ['spend-trend', view, teamId, granularity],
      isRefreshed: query.force_refresh === true || query.refresh === true,
      read: (mayLag) =>
        this.scheduler.of(view.accountId, () => this.trendOf(view, { teamId, granularity, mayLag })),
    });
  }

  private async seriesOf(view: View, body: UsageSeriesBody, mayLag: boolean): Promise<UsageSeries> {
    const now = this.clock.now();
    const { from, before } = timesOf(body);
    const until = before ?? new Date(now + 1);
    const since = from ?? new Date(until.getTime() - DAYS_30_MS);
    const { granularity, time_zone, top } = body;
    // PostgreSQL takes rules such as XYZ+5 for zones.
    zonedTime(time_zone);
    const groupBy = body.group_by ?? null;
    const times = { from: since, before: until };
    const asked = { view, filter: body, ...times, granularity, timeZone: time_zone, groupBy, top };
    const { groups, ...series } = await this.history.read(mayLag, (stores) => stores.series.read(asked));
    return {
      granularity,
      time_zone,
      since: since.toISOString(),
      until: until.toISOString(),
      groups: await this.names.groups(view.accountId, groupBy, groups),
      ...series,
      as_of: new Date(now).toISOString(),
    };
  }

  private async trendOf(
    view: View,
    {
      teamId,
      granularity,
      mayLag,
    }: Pick<SpendTrendQuery, 'granularity'> & {
      teamId: string | null;
      mayLag: boolean;
    },
  ): Promise<SpendTrend> {
    const now = this.clock.now();
    const { from, before } = trendWindow(granularity, now);
    const team: Condition[] = teamId === null ? [] : [{ column: 'team_id', anyOf: [teamId] }];
    const trend = await this.history.read(mayLag, ({ trends }) =>
      trends.read([...viewRows(view), ...team], granularity, { from, before }),
    );
    return {
      org_id: view.kind === 'org' ? view.orgId : null,
      team_id: teamId,
      granularity,
      since: from.toISOString(),
      until: before.toISOString(),
      ...trend,
      as_of: new Date(now).toISOString(),
    };
  }

  /** Owners and admins see every team of theirs; the others, and keys, those that their person is in. */
  private async requireTeam(principal: Principal, view: View, teamId: string): Promise<void> {
    if (view.kind !== 'org' || principal.kind === 'admin_key') return;
    if (principal.kind === 'session') {
      const membership = principal.memberships.find(({ orgId }) => orgId === view.orgId);
      if (membership?.role !== 'member' || membership.teams.includes(teamId)) return;
    } else if ((await this.names.teamsOf(view.orgId, principal.createdBy)).includes(teamId)) return;
    throw new ApiError('forbidden', { message: 'You are not in this team.' });
  }
}

/** Everything that the account pays for. Throws as `viewOf` does. */
function wholeOf(principal: Principal, orgId: unknown): View {
  const { accountId } = principal;
  if (principal.kind !== 'key') {
    const view = viewOf(principal, orgId);
    return view.kind === 'member' ? { kind: 'org', accountId: view.accountId, orgId: view.orgId } : view;
  }
  return principal.orgId === null
    ? { kind: 'person', accountId }
    : { kind: 'org', accountId, orgId: principal.orgId };
}
