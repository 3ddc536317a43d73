import { newId, type Clock, type UsageRecord } from '@gateway/contracts';
import { applyMigrations, assertSchemaKnown } from '@gateway/database';
import { SystemClock, SystemRandom } from '@gateway/platform';
import { FixedClock, testDatabase, usageRecord, type TestDatabase } from '@gateway/testing';
import { SCHEMA, SCHEMA_DIR } from '../postgres/usage-database.js';
import { MIGRATED, startUsageApp, type UsageApp } from '../usage.fixture.js';
import { MonthPartitions } from './month-partitions.js';
import { monthAfter } from './month.js';
import { partitionEvents } from './partition-events.js';

const [clock, random] = [new SystemClock(), new SystemRandom()];

let place: TestDatabase;
let app: UsageApp;
let seq: number;
let printed: string[];

beforeEach(async () => {
  [seq, printed] = [0, []];
  place = await testDatabase(MIGRATED);
  app = await startUsageApp(place.url);
});
afterEach(async () => {
  await app.close();
  await place.drop();
});

/** A record whose request came in when that clock says. */
function record(at: Clock = clock, more: Partial<UsageRecord> = {}): UsageRecord {
  seq += 1;
  return usageRecord({
    request_id: newId('req', at, random),
    created_at: new Date(at.now()).toISOString(),
    seq,
    ...more,
  });
}

const partition = (isDone = true, release = '0.2.0'): Promise<void> =>
  partitionEvents({ database: app.database, clock, release, isDone, print: (line) => printed.push(line) });

/** Number of events in each partition that holds some. */
async function events(): Promise<Record<string, number>> {
  const { rows } = await app.database.pool.query<{ table: string; count: number }>(
    'SELECT tableoid::regclass::text AS table, count(*)::int AS count FROM usage_event GROUP BY 1',
  );
  return Object.fromEntries(rows.map(({ table, count }) => [table, count]));
}

const file = async (table: string): Promise<unknown> =>
  (await app.database.pool.query(`SELECT pg_relation_filenode($1::regclass) AS file`, [table])).rows;
const at = (iso: string): FixedClock => new FixedClock(iso);
/** A clock in the middle of the month that is so many after this one. */
const months = (ahead: number): FixedClock => {
  const now = new Date(clock.now());
  return at(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + ahead, 15)).toISOString());
};

it('the table becomes the first partition as it is, while records are posted: each is there once, and is charged once', async () => {
  const before = await file('usage_event');
  const [first, ...rest] = Array.from({ length: 40 }, () => record());
  await app.post(first);
  let isDone = false;
  const posting = (async () => {
    for (const each of rest) await app.post(each);
    while (!isDone) await app.post(record());
  })();
  await partition().finally(() => (isDone = true));
  await posting;
  await app.post(first, ...rest, record(months(2)));
  expect(await file('usage_event_before')).toEqual(before);
  expect(await events()).toEqual({
    usage_event_before: seq - 1,
    [`usage_event_${monthAfter(clock.now(), 2).name}`]: 1,
  });
  const { rows } = await app.database.pool.query(
    `SELECT (SELECT sum(cost) FROM usage_event) = (SELECT sum(amount) FROM transfer WHERE kind = 'usage') AS "isEven"`,
  );
  expect(rows).toEqual([{ isEven: true }]);
  await partition();
  expect(printed.at(-1)).toBe('usage_event is in partitions already');
});

it('a partition has the indexes, the uniqueness and the columns without statistics of the table before it', async () => {
  const shape = async (table: string): Promise<unknown[]> => {
    const indexes = await app.database.pool.query<{ text: string }>(
      `SELECT regexp_replace(pg_get_indexdef(indexrelid), 'INDEX \\S+ ON \\S+ ', '') AS text
       FROM pg_index WHERE indrelid = $1::regclass ORDER BY 1`,
      [table],
    );
    const statistics = await app.database.pool.query(
      'SELECT attname, attstattarget FROM pg_attribute WHERE attrelid = $1::regclass AND attstattarget >= 0 ORDER BY 1',
      [table],
    );
    return [indexes.rows, statistics.rows];
  };
  const before = await shape('usage_event');
  await partition();
  const tables = [
    'usage_event_before',
    'usage_event_default',
    `usage_event_${monthAfter(clock.now(), 2).name}`,
  ];
  for (const table of tables) expect([table, await shape(table)]).toEqual([table, before]);
});

it('without --yes every statement is said and none is run', async () => {
  await app.post(record());
  await partition(false);
  expect(printed.join('\n')).toContain('ATTACH PARTITION usage_event_before');
  expect(printed.at(-1)).toBe('nothing was changed: add --yes');
  expect(await events()).toEqual({ usage_event: 1 });
});

it('it goes on where it was killed', async () => {
  await app.database.pool.query(
    `ALTER TABLE usage_event ADD CONSTRAINT usage_event_before_bound CHECK (request_id < 'req_a') NOT VALID`,
  );
  await app.post(record());
  await partition();
  expect(await events()).toEqual({ usage_event_before: 1 });
});

it('it refuses where a clock was months ahead, and names the request', async () => {
  const ahead = record(months(3));
  await app.post(ahead);
  await expect(partition()).rejects.toThrow(ahead.request_id);
  expect(await events()).toEqual({ usage_event: 1 });
});

it('releases before it refuse the schema, and say which one they need', async () => {
  await partition(true, '0.5.0');
  const schema = { url: place.url, schemaDir: SCHEMA_DIR, schema: SCHEMA };
  await expect(assertSchemaKnown({ ...schema, release: '0.4.0' })).rejects.toThrow('needs release 0.5.0');
  await assertSchemaKnown({ ...schema, release: '0.5.0' });
  expect(await applyMigrations({ ...schema, release: '0.6.0' })).toEqual([]);
});

it('an event of no month is kept, and moves into its month once that is made; two processes make it once', async () => {
  await partition();
  const later = months(7);
  const records = [record(later), record(months(8))];
  await app.post(...records);
  expect(await events()).toEqual({ usage_event_default: 2 });
  const made = await Promise.all([1, 2].map(() => new MonthPartitions(app.database, later).advance()));
  expect(made.flat().toSorted()).toEqual([7, 8, 9].map((ahead) => monthAfter(clock.now(), ahead).name));
  const [seventh, eighth] = [7, 8].map((ahead) => `usage_event_${monthAfter(clock.now(), ahead).name}`);
  expect(await events()).toEqual({ [seventh]: 1, [eighth]: 1 });
  await app.post(...records);
  expect(await events()).toEqual({ [seventh]: 1, [eighth]: 1 });
});

it('months follow each other without a gap, also over the end of a year', () => {
  const november = at('2026-11-29T23:59:59Z').now();
  const [first, second] = [monthAfter(november, 1), monthAfter(november, 2)];
  expect([first.name, second.name, second.from === first.to]).toEqual(['2026_12', '2027_01', true]);
  const [last, next] = ['2026-12-31T23:59:59.999Z', '2027-01-01T00:00:00Z'].map((iso) =>
    newId('req', at(iso), random),
  );
  expect([first.from < last, last < first.to, first.to <= next]).toEqual([true, true, true]);
});
