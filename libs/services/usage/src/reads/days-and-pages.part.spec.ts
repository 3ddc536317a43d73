import { randomUUID } from 'node:crypto';
import { SystemClock } from '@gateway/platform';
import { FixedClock, seededRandom, usageRecord } from '@gateway/testing';
import type { UsageEventRecord, UsageRecord } from '@gateway/contracts';
import { DayRollup } from '../posting/day-rollup.js';
import { quarterHourFindings } from '../reconcile/slots-proof.js';
import { ORG, tokenOf } from './reads.fixture.js';
import { eventRows } from './row-filter.js';
import { usageSource } from './usage-source.js';
import { Values } from './values.js';
import { app, reads } from './rollups.fixture.js';
import { emptyTables } from '../postgres/emptied-tables.fixture.js';

/** Hundreds of transactions, on a box that may be busy. */
const SLOW_MS = 120_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const roller = app.app.get(DayRollup, { strict: false });

const midnight = Math.floor(Date.now() / DAY_MS) * DAY_MS;
const at = (ms: number): string => new Date(ms).toISOString();
/** Makes the state after an upgrade: nothing from then on is added up yet. */
const beginDaysAt = (ms: number) =>
  app.database.pool.query(
    `UPDATE spend_window SET days_to = $1::timestamptz, hours_from = date_trunc('hour', $1::timestamptz + interval '45 minutes', 'UTC')`,
    [new Date(ms)],
  );
const daysTo = async (): Promise<number> => {
  const { rows } = await app.database.pool.query<{ days_to: Date }>('SELECT days_to FROM spend_window');
  return rows[0].days_to.getTime();
};
const days = async (): Promise<[string, number][]> => {
  const { rows } = await app.database.pool.query<{ slot: Date; requests: string }>(
    'SELECT slot, sum(requests) AS requests FROM usage_day GROUP BY slot ORDER BY slot',
  );
  return rows.map(({ slot, requests }) => [slot.toISOString().slice(0, 10), Number(requests)]);
};
/** A round has a bound of time, within which a busy box does not get through. */
const rollAll = async (): Promise<number> => {
  let all = 0;
  for (let rolled = 1; rolled > 0; all += rolled) rolled = await roller.roll();
  return all;
};
const owner = tokenOf('owner');
const summary = async (body: object = {}) =>
  (await reads.summary(owner, { ...ORG, refresh: true, ...body })).body;

describe('days of usage', () => {
  beforeEach(() => reads.clear());

  it(
    'are added up from slots one after the other, and a unit that comes late is in its day once',
    async () => {
      const begin = midnight - 3 * DAY_MS;
      await beginDaysAt(begin);
      const unit = (ms: number): UsageRecord => usageRecord({ created_at: at(begin + ms), cost_usd: '0.1' });
      await app.post(unit(0), unit(HOUR_MS), unit(DAY_MS - 1), unit(DAY_MS), unit(2.5 * DAY_MS));
      expect(await days()).toEqual([]);
      const before = await summary();
      expect(await rollAll()).toBeGreaterThan(200);
      const date = (n: number): string => at(begin + n * DAY_MS).slice(0, 10);
      expect(await days()).toEqual([
        [date(0), 3],
        [date(1), 1],
        [date(2), 1],
      ]);
      expect(await roller.roll()).toBe(0);
      expect(await summary()).toEqual(before);
      await app.post(unit(5), unit(DAY_MS + 5));
      expect(await days()).toEqual([
        [date(0), 4],
        [date(1), 2],
        [date(2), 1],
      ]);
      expect(await summary()).toMatchObject({ total_requests: 7, total_cost_usd: '0.7' });
      expect(await quarterHourFindings(app.database.pool)).toEqual([]);
    },
    SLOW_MS,
  );

  it(
    'stay behind the clock by half an hour, and a redelivery adds nothing',
    async () => {
      const record = usageRecord({ created_at: at(midnight - DAY_MS) });
      await app.post(record);
      await app.post(record);
      await rollAll();
      expect(Date.now() - (await daysTo())).toBeGreaterThanOrEqual(HOUR_MS / 2);
      expect(await days()).toEqual([[at(midnight - DAY_MS).slice(0, 10), 1]]);
    },
    SLOW_MS,
  );

  it(
    'hold each unit once while postings and rollers of several processes run at the same time',
    async () => {
      // A day before midnight: what is younger than half an hour is not added up yet.
      const begin = midnight - 3 * DAY_MS;
      await beginDaysAt(begin);
      const random = seededRandom(7);
      const records = Array.from({ length: 300 }, () =>
        usageRecord({ created_at: at(begin + random.fraction() * 2 * DAY_MS), cost_usd: '0.01' }),
      );
      const second = new DayRollup(app.database, new SystemClock());
      const posting = async (): Promise<void> => {
        for (let from = 0; from < records.length; from += 10)
          await app.post(...records.slice(from, from + 10));
      };
      await Promise.all([posting(), roller.roll(), second.roll()]);
      await rollAll();
      expect(await summary()).toMatchObject({ total_requests: 300, total_cost_usd: '3' });
      expect((await days()).reduce((sum, [, requests]) => sum + requests, 0)).toBe(300);
      expect(await quarterHourFindings(app.database.pool)).toEqual([]);
    },
    SLOW_MS,
  );

  it.each([
    ['an organization', { kind: 'org', accountId: 'acct_1', orgId: 'org_1' }],
    ['a member', { kind: 'member', accountId: 'acct_1', orgId: 'org_1', userId: 'usr_2' }],
  ] as const)(
    'READ-26 READ-27 are read for the summary of %s from an index alone, whatever its filter',
    async (_of, view) => {
      const values = new Values();
      const filter = {
        model: ['m'],
        status: ['error'],
        outcome: ['failed'],
        endpoint: '/v1/messages',
        team_id: 't',
      };
      const asked = {
        conditions: eventRows(view, filter),
        times: { from: null, before: null },
        tag: null,
      };
      const sums = ['requests', 'prompt_tokens', 'completion_tokens', 'cost'].map((name) => `sum(${name})`);
      const client = await app.database.pool.connect();
      try {
        // Few rows would be read from the table at once, or by any index that finds them.
        await client.query('BEGIN; SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off');
        await client.query('ALTER TABLE usage.usage_day DROP CONSTRAINT usage_day_pkey');
        const { rows } = await client.query<Record<string, string>>(
          `EXPLAIN SELECT model, status, ${sums.join(', ')} FROM (${usageSource({ ...asked, isByDay: true }, values)}) AS source
         GROUP BY model, status`,
          values.list,
        );
        const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
        expect(plan).toContain('Index Only Scan using usage_day_sums_idx on usage_day');
      } finally {
        await client.query('ROLLBACK');
        client.release();
      }
    },
  );

  it(
    'add up to the same as slots and events for any range, however far they are',
    async () => {
      const begin = midnight - 5 * DAY_MS;
      const random = seededRandom(11);
      const times = Array.from({ length: 200 }, () => begin + Math.floor(random.fraction() * 5 * DAY_MS));
      await beginDaysAt(begin);
      await app.post(...times.map((ms) => usageRecord({ created_at: at(ms), cost_usd: '0.01' })));
      for (const to of [begin, begin + 1.3 * DAY_MS, begin + 4 * DAY_MS]) {
        await emptyTables(reads.app.database.pool, 'usage_hour, usage_day');
        await beginDaysAt(begin);
        for (; (await daysTo()) < to;) await rollOnce();
        expect(await quarterHourFindings(app.database.pool)).toEqual([]);
        for (let n = 0; n < 25; n += 1) {
          const [since, until] = [random.fraction(), random.fraction()]
            .map((part) => begin + Math.floor(part * 5 * DAY_MS))
            .toSorted((a, b) => a - b);
          const expected = times.filter((ms) => ms >= since && ms <= until).length;
          const { total_requests } = await summary({ since: at(since), until: at(until) });
          expect([at(to), at(since), at(until), total_requests]).toEqual([
            at(to),
            at(since),
            at(until),
            expected,
          ]);
        }
        const page = (await reads.events(owner, { ...ORG, refresh: true })).body;
        expect(page.total).toBe(200);
      }
    },
    SLOW_MS,
  );

  const rollOnce = async (): Promise<void> => {
    const clock = new FixedClock(at((await daysTo()) + 8 * 900_000 + HOUR_MS / 2));
    await new DayRollup(app.database, clock).roll();
  };
});

describe('a page of a filter', () => {
  beforeEach(() => reads.clear());

  interface Page {
    events: UsageEventRecord[];
    next_cursor: string | null;
    total: number;
  }
  const page = async (body: object): Promise<Page> =>
    (await reads.events(owner, { ...ORG, refresh: true, ...body })).body as Page;

  it(
    'READ-26 READ-27 READ-30 READ-31 holds what a filter finds in any depth, by offset and by cursor alike',
    async () => {
      const random = seededRandom(3);
      const pick = <T>(list: readonly T[]): T => list[Math.floor(random.fraction() * list.length)];
      const begin = midnight - 2 * DAY_MS;
      const records = Array.from({ length: 240 }, () => {
        const isCrash = random.fraction() < 0.05;
        return usageRecord({
          request_id: `req_${randomUUID()}`,
          // Several in one millisecond and in one slot.
          created_at: at(
            begin + Math.floor(random.fraction() * 40) * 1_800_000 + Math.floor(random.fraction() * 3),
          ),
          model: pick(['acme/swift', 'acme/swift', 'acme/deep', 'acme/seldom']),
          request_tags: pick<Record<string, string>>([
            {},
            { job: 'often' },
            { job: 'often' },
            { job: 'seldom' },
          ]),
          ...(isCrash ? { status: 'error', outcome: 'failed', error_code: 'gateway_crash' } : {}),
        });
      });
      await app.post(...records);
      const order = (a: UsageRecord, b: UsageRecord): number =>
        Date.parse(b.created_at) - Date.parse(a.created_at) || (a.id < b.id ? 1 : -1);
      for (const filter of [
        { model: ['acme/seldom'] },
        { model: ['acme/deep', 'acme/seldom'] },
        { status: ['error'] },
        {
          model: ['acme/swift'],
          since: at(begin + 3 * HOUR_MS + 1),
          until: at(begin + 15 * HOUR_MS + 60_001),
        },
        { model: ['acme/never'] },
        { tag: 'job' },
        { tag: 'job=often', model: ['acme/swift'] },
        { tag: 'job=seldom', since: at(begin + 3 * HOUR_MS + 1) },
        { tag: 'job=never' },
      ]) {
        const matches = ({ model, status, created_at, request_tags }: UsageRecord): boolean =>
          (!filter.model || filter.model.includes(model)) &&
          (!filter.status || filter.status.includes(status)) &&
          (!filter.tag ||
            filter.tag === `job=${request_tags['job']}` ||
            (filter.tag === 'job' && 'job' in request_tags)) &&
          (!filter.since || created_at >= filter.since) &&
          (!filter.until || created_at <= filter.until);
        const expected = records
          .filter(matches)
          .toSorted(order)
          .map(({ id }) => id);
        const found: string[] = [];
        for (let cursor: string | null | undefined; cursor !== null;) {
          const { events, next_cursor, total } = await page({
            ...filter,
            limit: 7,
            ...(cursor ? { cursor } : {}),
          });
          expect(total).toBe(expected.length);
          found.push(...events.map(({ id }) => id));
          cursor = next_cursor;
        }
        expect(found).toEqual(expected);
        for (const offset of [0, 3, 50]) {
          const { events } = await page({ ...filter, limit: 10, offset });
          expect(events.map(({ id }) => id)).toEqual(expected.slice(offset, offset + 10));
        }
      }
    },
    SLOW_MS,
  );
});
