import { Readable } from 'node:stream';
import { Body, Controller, Get, Inject, Param, Post, Query, Req, Res } from '@nestjs/common';
import {
  ApiError,
  UsageExportBody,
  UsageExportQuery,
  type Clock,
  type Random,
  type UsageExportRecord,
  type UsageFilter,
} from '@gateway/contracts';
import { auditRow, type AuditRow } from '@gateway/database';
import { Access, CLOCK, principalOf, RANDOM, timesOf, type SentCsv } from '@gateway/platform';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CSV_HEADER, csvRow } from './csv.js';
import { ExportsStore, type ExportQuestion } from './exports.store.js';
import { ExportsUnderWay } from './exports-under-way.js';
import { History } from './history.js';
import { Names } from './names.js';
import { FairScheduler } from './fair-scheduler.js';
import { USAGE_RULE, viewOf, type View } from './view.js';
import { zonedTime } from './zoned-time.js';

/** Usage events as CSV, for people: an API key reads the events page by page. */
@Controller('v1/usage')
export class ExportsController {
  private readonly underWay: ExportsUnderWay;

  constructor(
    private readonly history: History,
    private readonly exports: ExportsStore,
    private readonly names: Names,
    private readonly scheduler: FairScheduler,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {
    this.underWay = new ExportsUnderWay(clock, random);
  }

  /** Writes usage events as CSV. */
  @Get('events/export')
  @Access({ session: true, org: USAGE_RULE })
  async direct(
    @Query() query: UsageExportQuery,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<SentCsv> {
    const { time_zone, ...filter } = query;
    const view = viewOf(principalOf(request), query.org_id);
    zonedTime(time_zone);
    const question = { view, filter: this.upToNow(filter), timeZone: time_zone };
    if (request.method === 'HEAD') {
      void this.headers(reply).send();
      return;
    }
    await this.send(question, reply, () => this.exports.note(this.audit(request, view)));
  }

  /** Prepares a CSV of usage events. Answers an address that a browser can save to disk by itself. */
  @Post('exports')
  @Access({ session: true, org: USAGE_RULE })
  async prepare(@Body() body: UsageExportBody, @Req() request: FastifyRequest): Promise<UsageExportRecord> {
    const { time_zone, ...asked } = body;
    zonedTime(time_zone);
    const view = viewOf(principalOf(request), body.org_id);
    const filter = this.upToNow(asked);
    const rows = await this.scheduler.of(view.accountId, () =>
      this.history.read(true, ({ events }) => events.count(view, filter)),
    );
    const audit = this.audit(request, view);
    const { token, expiresAt } = await this.exports.keep({ view, filter, timeZone: time_zone }, audit);
    return { url: `/v1/usage/exports/${token}`, rows, expires_at: expiresAt.toISOString() };
  }

  /** Writes a CSV that was prepared, once. A browser or a scanner that only looks whether it is there does not use it up. */
  @Get('exports/:token')
  @Access({ public: true })
  async fetched(
    @Param('token') token: string,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<SentCsv> {
    const question = await this.exports.find(token);
    if (question === null) throw noSuchExport();
    if (request.method === 'HEAD') {
      void this.headers(reply).send();
      return;
    }
    await this.send(question, reply, async () => {
      if (!(await this.exports.take(token))) throw noSuchExport();
    });
  }

  /**
   * The first page is read before the status is sent: a database that is away is a 503 and not half a file. Only then is the
   * export `granted`: one that is refused leaves its address as it was.
   */
  private async send(
    { view, filter, timeZone }: ExportQuestion,
    reply: FastifyReply,
    granted: () => Promise<void>,
  ): Promise<void> {
    const place = this.underWay.begin(view.accountId, () => reply.raw.destroy());
    try {
      const rows = this.csv({ view, filter, timeZone }, zonedTime(timeZone));
      const first = await rows.next();
      await granted();
      // Closed at its end, and where its reader has left, before this line, too.
      await this.headers(reply).send(
        Readable.from(place.timed(after(first, rows)), { objectMode: false }).once('close', () =>
          place.end(),
        ),
      );
    } catch (failure) {
      place.end();
      throw failure;
    }
  }

  private headers(reply: FastifyReply): FastifyReply {
    const day = new Date(this.clock.now()).toISOString().slice(0, 10);
    return reply
      .header('Content-Type', 'text/csv; charset=utf-8; header=present')
      .header('Content-Disposition', `attachment; filename="usage-${day}.csv"`)
      .header('Cache-Control', 'no-store');
  }

  private async *csv({ view, filter }: ExportQuestion, zoned: (at: Date) => string): AsyncGenerator<string> {
    let text = CSV_HEADER;
    for await (const page of this.history.parts(({ events }) => events.all(view, filter))) {
      for (const event of await this.names.labelled(view.accountId, page))
        text += csvRow({ ...event, created_at: zoned(new Date(event.created_at)) });
      yield text;
      text = '';
    }
  }

  /** An export changes nothing, but many rows leave with it. */
  private audit(request: FastifyRequest, view: View): AuditRow {
    const orgId = 'orgId' in view ? view.orgId : null;
    const target = { targetType: 'account', targetId: view.accountId, orgId, changedFields: [] };
    const { clock, random } = this;
    return auditRow(request, { action: 'usage.export', ...target }, { clock, random });
  }

  /** Ends the filter now: what comes while a file is written is not in it. */
  private upToNow<T extends UsageFilter>(filter: T): T {
    const { from } = timesOf(filter);
    const now = Math.max(this.clock.now(), from?.getTime() ?? 0);
    return { ...filter, until: filter.until ?? new Date(now).toISOString() };
  }
}

function noSuchExport(): ApiError {
  return new ApiError('not_found', {
    message: 'This export was already downloaded, or has expired: create it again.',
  });
}

async function* after(first: IteratorResult<string>, rest: AsyncGenerator<string>): AsyncGenerator<string> {
  if (first.done !== true) yield first.value;
  yield* rest;
}
