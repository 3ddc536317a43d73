import { FixedClock, seededRandom, usageRecord } from '@gateway/testing';
import { DayRollup } from '../posting/day-rollup.js';
import { quarterHourFindings } from '../reconcile/slots-proof.js';
import { ORG, tokenOf } from './reads.fixture.js';
import { app, reads } from './rollups.fixture.js';
import { emptyTables } from '../postgres/emptied-tables.fixture.js';

/** Hundreds of transactions, on a box that may be busy. */
const SLOW_MS = 300_000;
const QUARTER_MS = 900_000;
const HOUR_MS = 4 * QUARTER_MS;
const DAY_MS = 24 * HOUR_MS;
/** Lord Howe moves its clocks by half an hour, and begins its days at half past in winter. */
const ZONES = ['UTC', 'Asia/Kolkata', 'America/Los_Angeles', 'Australia/Lord_Howe', 'Asia/Kathmandu'];

const at = (ms: number): string => new Date(ms).toISOString();
const setWindow = (daysTo: number, hoursFrom: number) =>
  app.database.pool.query('UPDATE spend_window SET days_to = $1, hours_from = $2', [
    new Date(daysTo),
    new Date(hoursFrom),
  ]);
const rollTo = (ms: number) => new DayRollup(app.database, new FixedClock(at(ms + HOUR_MS / 2))).roll();
const hours = async (): Promise<number> => {
  const { rows } = await app.database.pool.query<{ n: string }>(
    'SELECT coalesce(sum(requests), 0) AS n FROM usage_hour',
  );
  return Number(rows[0].n);
};

interface Bucket {
  start: string;
  values: Record<string, { requests: number; cost_usd: string }>;
}

async function series(body: object): Promise<Bucket[]> {
  const { status, body: answer } = await app.call('POST', '/v1/usage/series?refresh=true', tokenOf('owner'), {
    ...ORG,
    ...body,
  });
  expect(status).toBe(200);
  return (answer as { buckets: Bucket[] }).buckets;
}

describe('hours of usage', () => {
  beforeEach(() => reads.clear());

  it(
    'D2 give the same series as the events themselves, in every zone, however far they are added up',
    async () => {
      const begin = Date.parse('2026-10-01T00:00:00Z');
      const random = seededRandom(5);
      // Lord Howe's clocks change in these days.
      const times = Array.from({ length: 150 }, () => begin + Math.floor(random.fraction() * 6 * DAY_MS));
      await setWindow(begin, begin);
      await app.post(
        ...times.map((ms, n) =>
          usageRecord({
            created_at: at(ms),
            cost_usd: '0.01',
            request_tags: { all: 'yes' },
            model: `acme/m${n % 3}`,
          }),
        ),
      );
      const ends = [
        [begin, begin],
        [begin + 4 * DAY_MS + QUARTER_MS, begin + 2 * DAY_MS],
        [begin + 6 * DAY_MS, begin + 6 * DAY_MS],
      ];
      for (const [daysTo, hoursFrom] of ends) {
        await emptyTables(app.database.pool, 'usage_hour, usage_day');
        // As after an upgrade: days are there, hours begin later and are added backwards.
        await setWindow(begin, Math.max(hoursFrom, begin));
        await rollTo(daysTo);
        expect(await quarterHourFindings(app.database.pool)).toEqual([]);
        for (const time_zone of ZONES)
          for (const granularity of ['hour', 'day', 'week', 'month']) {
            const since = begin + Math.floor(random.fraction() * DAY_MS);
            const until = since + Math.floor((3 + random.fraction() * 2) * DAY_MS);
            const range = { since: at(since), until: at(until) };
            const found = await series({ ...range, granularity, time_zone, group_by: 'model' });
            // A filter by a tag reads event by event.
            const plain = await series({
              ...range,
              granularity,
              time_zone,
              group_by: 'model',
              tag: 'all=yes',
            });
            const inside = times.filter((ms) => ms >= since && ms <= until).length;
            const counted = found.flatMap(({ values }) =>
              Object.values(values).map(({ requests }) => requests),
            );
            const sum = counted.reduce((all, n) => all + n, 0);
            expect([time_zone, granularity, daysTo - begin, sum]).toEqual([
              time_zone,
              granularity,
              daysTo - begin,
              inside,
            ]);
            expect([time_zone, granularity, found]).toEqual([time_zone, granularity, plain]);
          }
      }
    },
    SLOW_MS,
  );

  it(
    'hold each unit once: late ones, redelivered ones, and those from before hours were added up',
    async () => {
      const noon = Date.parse('2026-11-10T12:00:00Z');
      const unit = (ms: number) => usageRecord({ created_at: at(noon + ms), cost_usd: '0.01' });
      await setWindow(noon + 2 * HOUR_MS + QUARTER_MS, noon + 3 * HOUR_MS);
      const records = [-50 * DAY_MS, 0, HOUR_MS, 2 * HOUR_MS, 2 * HOUR_MS + QUARTER_MS, 3 * HOUR_MS].map(
        unit,
      );
      await app.post(...records);
      expect(await hours()).toBe(0);
      await rollTo(noon + 2 * HOUR_MS + QUARTER_MS);
      // The slot that is not settled yet is in no hour.
      expect(await hours()).toBe(4);
      await app.post(...records, unit(1), unit(-60 * DAY_MS));
      expect(await hours()).toBe(5);
      await rollTo(noon + 4 * HOUR_MS);
      expect(await hours()).toBe(8);
      expect(await quarterHourFindings(app.database.pool)).toEqual([]);
      await rollTo(noon + 4 * HOUR_MS);
      expect(await hours()).toBe(8);
    },
    SLOW_MS,
  );
});
