import type { UsageRecord } from '@gateway/contracts';
import { FixedClock, seededRandom, usageRecord } from '@gateway/testing';
import { TagRollup } from '../posting/tag-rollup.js';
import { allEvents } from './all-events.js';
import { locateTag } from './locate-tag.js';
import { ORG, tokenOf } from './reads.fixture.js';
import { tagOf } from './row-filter.js';
import { app, reads } from './rollups.fixture.js';
import { emptyTables } from '../postgres/emptied-tables.fixture.js';

/** Hundreds of transactions, on a box that may be busy. */
const SLOW_MS = 300_000;
const QUARTER_MS = 900_000;
const DAY_MS = 96 * QUARTER_MS;
const BEGIN = Date.parse('2026-10-01T00:00:00Z');

const at = (ms: number): string => new Date(ms).toISOString();
const setNoted = (from: number, to: number, claimed: number) =>
  app.database.pool.query(
    'UPDATE spend_window SET tags_from = $1, tags_to = $2, tags_claimed_to = $3, days_to = $1',
    [...[from, to, claimed].map((ms) => new Date(ms))],
  );
const rollTo = (ms: number) => new TagRollup(app.database, new FixedClock(at(ms + 2 * QUARTER_MS))).roll();
const unit = (ms: number, request_tags: Record<string, string>, more: Partial<UsageRecord> = {}) =>
  usageRecord({ created_at: at(BEGIN + ms), cost_usd: '0.01', request_tags, ...more });

const located = async (tag: string, times = { from: null, before: null }): Promise<string[] | null> => {
  const conditions = [{ column: 'account_id' as const, anyOf: ['acct_1'] }];
  const found = await locateTag(app.database, { conditions, times, tag: tagOf({ tag }) });
  return found && found.slots.map((slot) => slot.toISOString()).toSorted();
};

async function answers(body: object): Promise<unknown[]> {
  const ask = async (path: string, more: object): Promise<unknown> => {
    const asked = { ...ORG, ...body, ...more };
    const { status, body: answer } = await app.call(
      'POST',
      `/v1/usage${path}?refresh=true`,
      tokenOf('owner'),
      asked,
    );
    expect(status).toBe(200);
    const { as_of: _, ...rest } = answer as Record<string, unknown>;
    return rest;
  };
  return [
    await ask('', {}),
    await ask('/events', { limit: 3 }),
    await ask('/events', { limit: 3, offset: 4 }),
    await ask('/series', {
      granularity: 'day',
      group_by: 'model',
      until: at(BEGIN + 9 * DAY_MS),
      since: at(BEGIN),
    }),
    await ask('/series', {
      granularity: 'hour',
      group_by: 'tag:job',
      until: at(BEGIN + 9 * DAY_MS),
      since: at(BEGIN),
    }),
  ];
}

async function begin(): Promise<void> {
  await reads.clear();
  await emptyTables(app.database.pool, 'usage_tag');
  await setNoted(BEGIN, BEGIN, BEGIN);
}

describe('where tags are', () => {
  beforeEach(begin);

  it(
    'reads of a tag give the same however far its quarters of an hour are noted',
    async () => {
      const random = seededRandom(7);
      const draw = (below: number): number => Math.floor(random.fraction() * below);
      await app.post(
        ...Array.from({ length: 300 }, (_, n) =>
          unit(
            draw(8 * DAY_MS),
            n % 10 === 0 ? {} : { job: `j${draw(40)}`, team: `t${draw(2)}`, 'a=b': 'c=d' },
            {
              model: `acme/m${n % 3}`,
              ...(n % 7 === 0 ? { status: 'error', error_code: 'gateway_crash' } : {}),
            },
          ),
        ),
      );
      const range = { since: at(BEGIN + 7 * 60_000), until: at(BEGIN + 7 * DAY_MS + 13 * 60_000) };
      const asked = ['job=j3', 'job=j4', 'team=t1', 'job', 'a', 'a=b', 'absent=x', "it's"].flatMap((tag) => [
        { tag },
        { tag, model: ['acme/m1'] },
        { tag, ...range },
      ]);
      const plain = [];
      for (const body of asked) plain.push(await answers(body));
      for (const [from, to] of [
        [3, 5],
        [0, 8],
      ]) {
        await setNoted(BEGIN + from * DAY_MS, BEGIN + from * DAY_MS, BEGIN + from * DAY_MS);
        await app.database.pool.query('UPDATE spend_window SET days_to = $1', [
          new Date(BEGIN + from * DAY_MS),
        ]);
        await rollTo(BEGIN + to * DAY_MS);
        expect((await located('job=j3'))?.length).toBeLessThan(30);
        for (const [n, body] of asked.entries())
          expect([body, await answers(body)]).toEqual([body, plain[n]]);
      }
    },
    SLOW_MS,
  );

  it('are noted from what is posted, backwards through what was there before, and for what comes late', async () => {
    await app.post(
      unit(0, { job: 'old' }),
      unit(DAY_MS, { job: 'new' }),
      unit(DAY_MS + QUARTER_MS, { job: 'old' }),
    );
    await app.post(...[2, 3, 4, 5].map((n) => unit(n * QUARTER_MS, { job: 'other' })));
    await setNoted(BEGIN + DAY_MS, BEGIN + DAY_MS, BEGIN + DAY_MS);
    expect(await rollTo(BEGIN + DAY_MS + 4 * QUARTER_MS)).toBe(4);
    expect(await located('job=new')).toEqual([at(BEGIN + DAY_MS)]);
    await app.database.pool.query('UPDATE spend_window SET days_to = $1', [new Date(BEGIN)]);
    expect(await rollTo(BEGIN + DAY_MS + 4 * QUARTER_MS)).toBe(96);
    expect(await located('job=old')).toEqual([at(BEGIN), at(BEGIN + DAY_MS + QUARTER_MS)]);
    await app.post(unit(7 * QUARTER_MS, { late: 'yes' }), unit(-DAY_MS, { late: 'yes' }));
    expect(await located('late=yes')).toEqual([at(BEGIN + 7 * QUARTER_MS)]);
    // One from before what was there is read as well, as soon as its day is noted.
    expect(await rollTo(BEGIN + DAY_MS + 4 * QUARTER_MS)).toBe(96);
    expect(await located('late=yes')).toEqual([at(BEGIN - DAY_MS), at(BEGIN + 7 * QUARTER_MS)]);
    expect(await rollTo(BEGIN + DAY_MS + 4 * QUARTER_MS)).toBe(0);
  });

  it('are noted once for a unit that comes between a claim and its round, and after a kill between the two', async () => {
    await app.post(...[1, 2, 3, 4].map((n) => unit(n * QUARTER_MS, { job: `j${n}` })));
    // A round that claimed this time, and noted nothing of it.
    await setNoted(BEGIN, BEGIN, BEGIN + 8 * QUARTER_MS);
    await app.post(unit(QUARTER_MS + 1, { job: 'between' }));
    expect(await located('job=between')).toEqual(null);
    await rollTo(BEGIN + 8 * QUARTER_MS);
    expect(await located('job=between')).toEqual([at(BEGIN + QUARTER_MS)]);
    expect(await located('job=j1')).toEqual([at(BEGIN + QUARTER_MS)]);
    const before = await tags();
    // A round that was killed before it wrote how far it was.
    await setNoted(BEGIN, BEGIN, BEGIN + 8 * QUARTER_MS);
    await rollTo(BEGIN + 8 * QUARTER_MS);
    expect(await tags()).toEqual(before);
  });

  it('an export of a rare tag reads them alone, and what is not noted, newest first', async () => {
    const marked = [1, 2, 40, 41, 90, 200].map((n) => unit(n * QUARTER_MS + 5, { rare: 'yes' }));
    const others = Array.from({ length: 6_000 }, (_, n) => unit(n * 30_000, { job: 'j' }));
    await app.post(...others, ...marked);
    await rollTo(BEGIN + 2 * DAY_MS);
    const exported = async (times: {
      from: Date | null;
      before: Date | null;
    }): Promise<[string[], number]> => {
      let statements = 0;
      const query = (sql: string, values: unknown[]): unknown => {
        statements += 1;
        return app.database.pool.query(sql, values);
      };
      const conditions = [{ column: 'account_id' as const, anyOf: ['acct_1'] }];
      const asked = { conditions, times, tag: tagOf({ tag: 'rare=yes' }) };
      const ids: string[] = [];
      for await (const rows of allEvents({ pool: { query } } as never, asked))
        ids.push(...rows.map(({ id }) => id));
      return [ids, statements];
    };
    const newestFirst = marked.map(({ id }) => id).toReversed();
    expect((await exported({ from: null, before: null }))[0]).toEqual(newestFirst);
    const within = { from: new Date(BEGIN + QUARTER_MS), before: new Date(BEGIN + DAY_MS) };
    const [ids, statements] = await exported(within);
    expect(ids).toEqual(newestFirst.slice(1));
    // Where they are is asked once; then the end of a portion and its rows, of three spans of time.
    expect(statements).toBe(7);
  });

  it('are not kept beyond 10,000 of a quarter of an hour, which then is read for any tag', async () => {
    await app.post(unit(0, { job: 'j0' }), ...[1, 2, 3, 4].map((n) => unit(n * QUARTER_MS, { job: 'j1' })));
    await app.database.pool.query(
      `UPDATE usage_event SET request_tags = (SELECT jsonb_object_agg('n' || n, 'v') FROM generate_series(1, 5001) AS n)
       WHERE request_tags = '{"job": "j0"}'`,
    );
    await rollTo(BEGIN + 8 * QUARTER_MS);
    expect(await located('anything')).toEqual([at(BEGIN)]);
    expect(await located('job=j1')).toEqual(null);
    await app.post(unit(1, { job: 'j2' }));
    expect(await located('job=j2')).toEqual([at(BEGIN)]);
  });
});

async function tags(): Promise<unknown[]> {
  const { rows } = await app.database.pool.query(
    'SELECT slot, (SELECT array_agg(number ORDER BY number) FROM unnest(tags) AS number) FROM usage_tag ORDER BY slot',
  );
  return rows;
}
