import { Inject, Injectable } from '@nestjs/common';
import type {
  AttemptView,
  ModelUsage,
  OperatorRequestLookup,
  PriceLineView,
  RequestLookup,
  UsageEventRecord,
  UsageEventsBody,
  UsageEventsPage,
  UsageFilter,
  UsageFilterBody,
  UsageSummary,
} from '@gateway/contracts';
import { Usd } from '@gateway/money';
import type { Prisma } from '../generated/prisma/client.js';
import { Reprice } from '../posting/reprice.js';
import { UsageDatabase } from '../postgres/usage-database.js';
import { allEvents } from './all-events.js';
import { cursorOf, readCursor } from './event-cursor.js';
import { wireOf, type EventColumns } from './event-wire.js';
import { findPage, mayBeRare } from './find-page.js';
import { findTagged } from './find-tagged.js';
import { eventsInOrder, eventsNamed } from './listed-events.js';
import { attemptsOf, isLookedUp, lookupOf, operatorAttemptsOf, pricedUnit } from './request-wire.js';
import { UNIT, unitRow, type UnitRow } from './request-wire.js';
import { allOf, listedBy, viewRows, type EventFilter, type Listed } from './row-filter.js';
import { countSought, isSought, refuseCursor, refuseMany, soughtNames } from './sought-events.js';
import { placeTag } from './tag-days.js';
import { usageSource, type Asked } from './usage-source.js';
import { Values } from './values.js';
import type { View } from './view.js';

interface GroupRow {
  model: string;
  status: string;
  requests: number;
  promptTokens: number;
  completionTokens: number;
  cost: Usd;
}

const UNITS_MAX = 1_000;
/**
 * Reads of usage_event. Sums are made by PostgreSQL in numeric and added here in Usd: never a float.
 */
@Injectable()
export class EventsStore {
  constructor(
    private readonly database: UsageDatabase,
    @Inject(Reprice) private readonly reprice: Pick<Reprice, 'lines'>,
  ) {}

  /** One statement: totals and models are of the same moment. */
  async summary(view: View, filter: UsageFilterBody): Promise<UsageSummary> {
    const asked = await this.askedOf(view, filter);
    const values = new Values();
    const { rows } = await this.database.pool.query<Record<keyof GroupRow, string>>(
      `SELECT model, status, sum(requests)::text AS requests, sum(prompt_tokens)::text AS "promptTokens",
         sum(completion_tokens)::text AS "completionTokens", sum(cost)::text AS cost
       FROM (${usageSource(asked, values)}) AS source GROUP BY model, status`,
      values.list,
    );
    const groups = rows.map(
      ({ model, status, requests, promptTokens, completionTokens, cost }): GroupRow => ({
        model,
        status,
        requests: Number(requests),
        promptTokens: Number(promptTokens),
        completionTokens: Number(completionTokens),
        cost: Usd.parse(cost),
      }),
    );
    return summaryOf(groups, filter);
  }

  /** Newest first, or in the order that is asked for. Throws ApiError `bad_request` where that is of too many. */
  async page(view: View, filter: UsageEventsBody): Promise<Omit<UsageEventsPage, 'limit' | 'offset'>> {
    if (isSought(filter)) return this.soughtPage(view, filter);
    const { limit } = filter;
    const listed = listedBy(view, filter);
    const [rows, total] = await Promise.all([this.rows(listed, filter), this.count(view, filter)]);
    const shown = rows.slice(0, limit);
    const last = rows.length > limit ? shown.at(-1) : undefined;
    return {
      events: shown.map(wireOf),
      total,
      next_cursor: last === undefined ? null : cursorOf(last, listed),
    };
  }

  private async soughtPage(
    view: View,
    filter: UsageEventsBody,
  ): Promise<Omit<UsageEventsPage, 'limit' | 'offset'>> {
    refuseCursor(filter);
    // The index of the rows has their account or key and their time: it reads what these have.
    const { since, until, key_id } = filter;
    refuseMany(await this.count(view, { since, until, key_id }));
    const listed = listedBy(view, filter);
    const [named, total] = await Promise.all([
      soughtNames(this.database, listed, filter),
      countSought(this.database, listed, filter),
    ]);
    const rows = new Map((await eventsNamed(this.database, named)).map((row) => [row.id, row]));
    const events = named.flatMap(({ id }) => rows.get(id) ?? []).map(wireOf);
    return { events, total, next_cursor: null };
  }

  /** Returns the rows of a page, and the one after it. */
  private async rows(listed: Listed, { cursor, ...page }: UsageEventsBody): Promise<EventColumns[]> {
    const after = cursor ? readCursor(cursor, listed) : null;
    const [limit, offset] = [page.limit + 1, cursor ? 0 : page.offset];
    const query = { ...listed, after, offset, limit };
    const { tag } = listed;
    if (tag !== null) return eventsNamed(this.database, await findTagged(this.database, query, tag));
    if (mayBeRare(query)) return eventsNamed(this.database, await findPage(this.database, query));
    return eventsInOrder(this.database, query);
  }

  /** All of them, newest first, part by part. Ends where the reader does. */
  async *all(view: View, filter: UsageFilter): AsyncGenerator<UsageEventRecord[]> {
    for await (const rows of allEvents(this.database, listedBy(view, filter))) yield rows.map(wireOf);
  }

  /** Returns the count of all pages. */
  async count(view: View, filter: EventFilter): Promise<number> {
    const asked = await this.askedOf(view, filter);
    const values = new Values();
    const { rows } = await this.database.pool.query<{ total: string }>(
      `SELECT coalesce(sum(requests), 0)::text AS total FROM (${usageSource(asked, values)}) AS source`,
      values.list,
    );
    return Number(rows[0].total);
  }

  /** Attempts of every unit of the event's request, oldest first; null where the event is not the caller's. */
  async attempts(views: readonly View[], eventId: string): Promise<AttemptView[] | null> {
    for (const view of views) {
      const event = (await this.unitsWhere(view, { id: eventId })).at(0);
      if (event !== undefined)
        return attemptsOf(await this.unitsWhere(view, { request_id: event.request_id }));
    }
    return null;
  }

  /** null where the request has no event that the caller may see, or began before `notBefore`. */
  async lookup(view: View, requestId: string, notBefore: Date): Promise<RequestLookup | null> {
    const units = await this.unitsWhere(view, { request_id: requestId });
    if (units.length === 0 || units[0].created_at < notBefore || !isLookedUp(units)) return null;
    return { ...lookupOf(units), price_lines: await this.billOf(units) };
  }

  /** The same of whichever account, with who served each attempt, and the account of its key. */
  async operatorLookup(
    requestId: string,
    notBefore: Date,
  ): Promise<{ accountId: string; record: OperatorRequestLookup } | null> {
    const units = await this.units({ request_id: requestId });
    if (units.length === 0 || units[0].created_at < notBefore || !isLookedUp(units)) return null;
    const price_lines = await this.billOf(units);
    const record = { ...lookupOf(units), attempts: operatorAttemptsOf(units), price_lines };
    return { accountId: units[0].account_id, record };
  }

  /** null where a unit that was billed has no lines: a part of a bill would not add up. */
  private async billOf(units: readonly UnitRow[]): Promise<PriceLineView[] | null> {
    const billed = units.filter(({ cost }) => cost !== null);
    const lines = await Promise.all(billed.map((unit) => this.reprice.lines(pricedUnit(unit))));
    if (lines.length === 0 || lines.includes(null)) return null;
    return lines.flatMap((each) => each ?? []);
  }

  private async askedOf(view: View, filter: EventFilter): Promise<Asked> {
    const listed = listedBy(view, filter);
    const asked = { ...listed, groupTag: null, group: null, isByDay: true };
    return { ...asked, ...(await placeTag(this.database, asked)) };
  }

  private unitsWhere(view: View, named: { id: string } | { request_id: string }): Promise<UnitRow[]> {
    return this.units({ AND: [...allOf(viewRows(view)), named] });
  }

  private async units(where: Prisma.UsageEventWhereInput): Promise<UnitRow[]> {
    const stored = await this.database.prisma.usageEvent.findMany({
      where,
      select: UNIT,
      orderBy: { unit: 'asc' },
      take: UNITS_MAX,
    });
    return stored.map(unitRow);
  }
}

function summaryOf(rows: readonly GroupRow[], { limit, offset }: UsageFilterBody): UsageSummary {
  const requests = (group: readonly GroupRow[]): number => sum(group, (row) => row.requests);
  const models = [...Map.groupBy(rows, (row) => row.model)].map(([model, group]): ModelUsage => ({
    model,
    requests: requests(group),
    total_tokens: sum(group, (row) => row.promptTokens) + sum(group, (row) => row.completionTokens),
    cost_usd: costOf(group),
  }));
  models.sort((a, b) => b.requests - a.requests || (a.model < b.model ? -1 : 1));
  const prompt = sum(rows, (row) => row.promptTokens);
  const completion = sum(rows, (row) => row.completionTokens);
  return {
    total_requests: requests(rows),
    successful_requests: requests(rows.filter((row) => row.status === 'success')),
    error_requests: requests(rows.filter((row) => row.status === 'error')),
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    total_cost_usd: costOf(rows),
    by_model_total: models.length,
    by_model: models.slice(offset, offset + limit),
  };
}

function sum(rows: readonly GroupRow[], of: (row: GroupRow) => number): number {
  return rows.reduce((total, row) => total + of(row), 0);
}

function costOf(rows: readonly GroupRow[]): string {
  return Usd.sum(rows.map((row) => row.cost)).toString();
}
