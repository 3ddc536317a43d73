import type { UsageRecord } from '@gateway/contracts';
import { FixedClock, seededRandom, usageRecord } from '@gateway/testing';
import { DayRollup } from '../posting/day-rollup.js';
import { TagRollup } from '../posting/tag-rollup.js';
import { TagSumsRollup } from '../posting/tag-sums-rollup.js';
import type { UsageDatabase } from '../postgres/usage-database.js';
import { tagFindings } from '../reconcile/tags-proof.js';
import { EventsStore } from './events.store.js';
import { SeriesStore } from './series.store.js';
import type { View } from './view.js';
import { app, reads } from './rollups.fixture.js';

/** Hundreds of transactions, on a box that may be busy. */
const SLOW_MS = 300_000;
const QUARTER_MS = 900_000;
const DAY_MS = 96 * QUARTER_MS;
const BEGIN = Date.parse('2026-10-01T00:00:00Z');
const DAYS = 5;
const END = BEGIN + DAYS * DAY_MS;

const at = (ms: number): string => new Date(ms).toISOString();
const random = seededRandom(15);
const draw = (below: number): number => Math.floor(random.fraction() * below);
const pick = <T>(list: readonly T[]): T => list[draw(list.length)];
const unit = (ms: number, more: Partial<UsageRecord> = {}): UsageRecord =>
  usageRecord({
    created_at: at(ms),
    cost_usd: `0.0${1 + draw(9)}`,
    model: `acme/m${draw(2)}`,
    latency_ms: 1 + draw(5_000),
    ttft_ms: pick([null, draw(900)]),
    org_id: draw(40) === 0 ? null : 'org_1',
    request_tags: pick<Record<string, string>>([
      { team: `t${draw(2)}`, job: `j${draw(10_000)}` },
      { team: 't0', '': 'x', __x: '' },
      { team: '', job: 'j' },
      {},
    ]),
    ...more,
  });
const tagged = (ms: number): UsageRecord =>
  unit(ms, { model: 'acme/m0', org_id: 'org_1', request_tags: { team: 't0' } });
const transactionOf =
  (database: UsageDatabase): UsageDatabase['transaction'] =>
  (...args) =>
    database.transaction(...args);
const crash = (unit: UsageRecord): UsageRecord => ({
  ...unit,
  ...{ status: 'error', error_code: 'gateway_crash', cost_usd: null, seq: unit.seq + 1_000_000 },
});

/** A process that is killed after so many statements. */
function dying(database: UsageDatabase, statements: number): UsageDatabase {
  let left = statements;
  const mortal = <T extends { query: unknown }>(target: T): T =>
    new Proxy(target, {
      get: (of, name) => {
        const value: unknown = Reflect.get(of, name);
        if (name !== 'query') return typeof value === 'function' ? (value.bind(of) as unknown) : value;
        return (...args: unknown[]) => {
          if (left-- <= 0) throw new Error('killed');
          return (value as (...all: unknown[]) => unknown).apply(of, args);
        };
      },
    });
  return {
    pool: mortal(database.pool),
    transaction: <T>(work: (client: never) => Promise<T>) =>
      database.transaction((client) => work(mortal(client) as never)),
  } as unknown as UsageDatabase;
}

const LOCATING = 'LEFT JOIN usage_tag ON';
/** Answer for a tag that is in most quarters of an hour, of which few are enough here to be read one by one. */
const NOWHERE = { rows: [{ slots: null, all: '0', from: 0, to: 0 }] };

/** Answers as before any tag was noted: from events alone. */
function eventsAlone({ pool }: UsageDatabase): UsageDatabase {
  const query = async (sql: string, values: unknown[]): Promise<unknown> => {
    if (sql.includes('usage_tag_day AS d WHERE account_id'))
      return { rows: [{ from: null, before: null, days: '0' }] };
    if (sql.includes(LOCATING)) return NOWHERE;
    expect(sql).not.toContain('usage_tag');
    return pool.query(sql, values);
  };
  return { pool: { query } } as unknown as UsageDatabase;
}

const VIEWS: readonly View[] = [
  { kind: 'person', accountId: 'acct_1' },
  { kind: 'org', accountId: 'acct_1', orgId: 'org_1' },
  { kind: 'key', accountId: 'acct_1', keyId: 'key_1' },
];

type Ask = (database: UsageDatabase) => Promise<unknown>;
function question(): Ask {
  const [from, before] = [draw(DAYS * DAY_MS + DAY_MS), draw(DAYS * DAY_MS + DAY_MS)].toSorted(
    (a, b) => a - b,
  );
  const view = pick(VIEWS);
  const range = pick([
    {},
    { since: at(BEGIN + from), until: at(BEGIN + before + 1) },
    { since: at(BEGIN + from) },
  ]);
  const tag = pick([
    'team=t0',
    'team=t1',
    'team',
    'team=',
    'job',
    'job=j',
    '__x',
    '__x=',
    'absent',
    'absent=x',
  ]);
  const filter = {
    limit: 50,
    offset: 0,
    ...pick([{}, { model: ['acme/m1'] }, { status: ['success'] }, { endpoint: '/v1/chat/completions' }]),
  };
  const groupBy = pick(['tag:team', 'tag:job', 'tag:absent', 'model', 'status', 'key', null]);
  const times = { from: new Date(BEGIN + from), before: new Date(BEGIN + before + 1) };
  const isFiltered = !groupBy?.startsWith('tag:') || draw(5) === 0;
  const series = {
    ...{ view, filter: isFiltered ? { ...filter, tag } : filter, ...times, groupBy, top: pick([1, 50]) },
    ...{
      granularity: pick(['day', 'day', 'week', 'month', 'hour'] as const),
      timeZone: pick(['UTC', 'UTC', 'Asia/Kolkata']),
    },
  };
  return pick<Ask>([
    (database) =>
      new EventsStore(database, { lines: async () => null }).summary(view, { ...filter, ...range, tag }),
    (database) =>
      new EventsStore(database, { lines: async () => null }).count(view, { ...filter, ...range, tag }),
    (database) => new SeriesStore(database).read(series),
    (database) => new SeriesStore(database).read(series),
  ]);
}

let summedReads = 0;
async function expectEqual(): Promise<void> {
  for (let n = 0; n < 20; n += 1) {
    const [ask, isEverywhere] = [question(), draw(3) > 0];
    const query = async (sql: string, values: unknown[]): Promise<unknown> => {
      if (isEverywhere && sql.includes(LOCATING)) return NOWHERE;
      if (sql.includes('FROM usage_tag_sum')) summedReads += 1;
      return app.database.pool.query(sql, values);
    };
    const watched = { pool: { query } } as unknown as UsageDatabase;
    expect(await ask(watched)).toEqual(await ask(eventsAlone(app.database)));
  }
  expect(await tagFindings(app.database.pool)).toEqual([]);
}

const rollersOf = (database: UsageDatabase, toMs: number) => {
  const clock = new FixedClock(at(toMs + 2 * QUARTER_MS));
  return [DayRollup, TagRollup, TagSumsRollup].map((type) => new type(database, clock));
};

async function begin(): Promise<void> {
  await reads.clear();
  await app.database.pool.query(
    'UPDATE spend_window SET tags_from = $1, tags_to = $1, tags_claimed_to = $1, days_to = $1, hours_from = $1',
    [new Date(BEGIN)],
  );
}

describe('what days add up to by tags', () => {
  beforeEach(begin);

  it(
    'reads the same as the events, after late events, replaced ones, erasures, repeated rounds and kills between any two steps',
    async () => {
      const crashes: UsageRecord[] = [];
      await app.post(...Array.from({ length: 1_200 }, () => unit(BEGIN + draw(DAYS * DAY_MS))));
      for (let to = BEGIN + DAY_MS; to <= END; to += DAY_MS) {
        for (let step = 0; step < 6; step += 1) {
          const pulled = unit(BEGIN + draw(DAYS * DAY_MS));
          await pick([
            () => app.post(...Array.from({ length: 3 }, () => unit(BEGIN + draw(to - BEGIN)))),
            () => app.post(crash(crashes[crashes.push(pulled) - 1])),
            () => app.post(...crashes.splice(0, 2)),
            () =>
              app.database.pool.query(`UPDATE usage_event SET end_user_hash = NULL WHERE model = 'acme/m1'`),
            async () => {
              const roller = pick(rollersOf(dying(app.database, draw(20)), to));
              await roller.roll().catch((failure: Error) => expect(failure.message).toBe('killed'));
            },
            async () => void (await pick(rollersOf(app.database, to)).roll()),
          ])();
        }
        await expectEqual();
        for (const roller of rollersOf(app.database, to)) await roller.roll();
        await expectEqual();
      }
      expect(summedReads).toBeGreaterThan(20);
    },
    SLOW_MS,
  );

  it(
    'are those of the events while postings and rounds of two processes run at the same time',
    async () => {
      await app.post(...Array.from({ length: 200 }, () => unit(BEGIN + draw(DAYS * DAY_MS))));
      let isOver = false;
      const posting = (async () => {
        for (let n = 0; n < 30; n += 1)
          await app.post(...Array.from({ length: 4 }, () => unit(BEGIN + draw(END - BEGIN))));
        isOver = true;
      })();
      const rolling = async (): Promise<void> => {
        while (!isOver) for (const roller of rollersOf(app.database, END)) await roller.roll();
      };
      await Promise.all([posting, rolling(), rolling()]);
      await expectEqual();
      for (const roller of rollersOf(app.database, END)) await roller.roll();
      const { rows } = await app.database.pool.query(
        'SELECT count(*)::int AS days, count(*) FILTER (WHERE summed = changes)::int AS summed FROM usage_tag_day',
      );
      expect(rows).toEqual([{ days: DAYS, summed: DAYS }]);
      await expectEqual();
    },
    SLOW_MS,
  );

  it('keeps 2,000 rows of an account and day at most, of the names of which a row saves the most events', async () => {
    const tagsOf = (n: number): Record<string, string> => ({
      team: `t${n % 3}`,
      wide: `w${n % 1_999}`,
      job: `j${n}`,
    });
    await app.post(
      ...Array.from({ length: 8_000 }, (_, n) =>
        unit(BEGIN + n, { model: 'acme/m0', org_id: null, request_tags: tagsOf(n) }),
      ),
    );
    for (const roller of rollersOf(app.database, BEGIN + DAY_MS)) await roller.roll();
    const kept = async (): Promise<unknown[]> => {
      const { rows } = await app.database.pool.query(
        `SELECT names, left_out, (SELECT count(*)::int FROM usage_tag_sum) AS rows FROM usage_tag_day`,
      );
      return rows;
    };
    expect(await kept()).toEqual([
      { names: ['team'], left_out: expect.arrayContaining(['job', 'wide']), rows: 3 },
    ]);
    await app.post(unit(BEGIN, { request_tags: { team: 'x'.repeat(300) } }));
    for (const roller of rollersOf(app.database, BEGIN + DAY_MS)) await roller.roll();
    expect(await kept()).toEqual([
      { names: ['wide'], left_out: expect.arrayContaining(['job', 'team']), rows: 1_999 },
    ]);
    await expectEqual();
  });

  it('leaves a day that takes too long to its events, and adds up those before it', async () => {
    await app.post(...[0, 1].flatMap((day) => Array.from({ length: 8 }, () => tagged(BEGIN + day * DAY_MS))));
    const [days, tags] = rollersOf(app.database, BEGIN + 2 * DAY_MS);
    await days.roll();
    await tags.roll();
    const newest = new Date(BEGIN + DAY_MS).getTime();
    const query = async (sql: string, values: unknown[] = []): Promise<unknown> => {
      if (sql.includes('carried') && (values[1] as Date).getTime() === newest)
        throw Object.assign(new Error('canceling statement due to statement timeout'), { code: '57014' });
      return app.database.pool.query(sql, values);
    };
    const slow = { ...app.database, pool: { query }, transaction: transactionOf(app.database) };
    const clock = new FixedClock(at(BEGIN + 3 * DAY_MS));
    const roller = new TagSumsRollup(slow as unknown as UsageDatabase, clock);
    expect([await roller.roll(), await roller.roll()]).toEqual([2, 0]);
    const { rows } = await app.database.pool.query('SELECT names FROM usage_tag_day ORDER BY day');
    expect(rows).toEqual([{ names: ['team'] }, { names: [] }]);
    await expectEqual();
  });
});
