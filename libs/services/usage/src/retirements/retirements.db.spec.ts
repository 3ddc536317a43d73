import type { AccountEvent, Clock, Random, UsageRecord } from '@gateway/contracts';
import { OutboxRelay } from '@gateway/event-log';
import { SystemRandom } from '@gateway/platform';
import {
  catalogueModel,
  CatalogueReaderDouble,
  dyingRandom,
  testDatabase,
  usageRecord,
  type TestDatabase,
} from '@gateway/testing';
import { ScheduledJobs } from '../background/scheduled-jobs.js';
import { emptyTables } from '../postgres/emptied-tables.fixture.js';
import { UsageDatabase } from '../postgres/usage-database.js';
import { MIGRATED, startUsageApp, type UsageApp } from '../usage.fixture.js';
import { Retirements } from './retirements.js';
import { RetirementsStore } from './retirements.store.js';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const today = Math.floor(Date.now() / DAY_MS) * DAY_MS;
const at = (days: number, hours = 8): Clock =>
  ({ now: () => today + days * DAY_MS + hours * HOUR_MS }) as unknown as Clock;
const dayIn = (days: number): string => new Date(today + days * DAY_MS).toISOString().slice(0, 10);

let place: TestDatabase;
let app: UsageApp;
/** Pool of the second replica. */
let other: UsageDatabase;
const catalogue = new CatalogueReaderDouble();

beforeAll(async () => {
  place = await testDatabase(MIGRATED);
  app = await startUsageApp(place.url);
  // Events stay where the transaction has put them, and tables are emptied while no job reads them.
  await app.app.get(ScheduledJobs, { strict: false }).stop();
  await app.app.get(OutboxRelay, { strict: false }).stop();
  other = new UsageDatabase({ url: place.url, maxConnections: 2 });
});
afterAll(async () => {
  await other.onApplicationShutdown();
  await app.close();
  await place.drop();
});
beforeEach(async () => {
  await emptyTables(app.database.pool, 'retirement_notice, usage_slot, usage_event, account, outbox');
  catalogue.serve(
    catalogueModel('acme/swift', [{}], { retires_at: dayIn(30), successor: 'acme/new' }),
    catalogueModel('acme/new', [{ price: { prompt_usd_per_1m: '0.5', completion_usd_per_1m: '3' } }]),
  );
});

function replica(clock: Clock, database = app.database, random: Random = new SystemRandom()): Retirements {
  const store = new RetirementsStore(database, clock, random);
  return new Retirements(store, { wake: () => undefined }, clock, catalogue);
}

async function told(): Promise<AccountEvent<'model.retiring'>[]> {
  const { rows } = await app.database.pool.query<{ value: string }>('SELECT value FROM outbox ORDER BY id');
  return rows
    .map(({ value }) => (JSON.parse(value) as { data: AccountEvent<'model.retiring'> }).data)
    .filter(({ type }) => type === 'model.retiring');
}

const used = (more: Partial<UsageRecord> = {}): Promise<void> =>
  app.post(usageRecord({ created_at: new Date(today - DAY_MS).toISOString(), ...more }));

describe('issue 37 model.retiring', () => {
  it('tells an organization that used the model, by whatever alias, with its requests and the last use', async () => {
    await used({ requested_model: 'team/best' });
    await used({ created_at: new Date(today - DAY_MS + 1_234).toISOString() });
    await used({ status: 'error', created_at: new Date(today - 1_000).toISOString() });
    expect(await replica(at(0)).advance()).toBe(1);
    expect(await told()).toMatchObject([
      {
        account_id: 'acct_1',
        org_id: 'org_1',
        data: {
          model: 'acme/swift',
          retires_at: dayIn(30),
          days_left: 30,
          successor: 'acme/new',
          requests_30d: 2,
          last_used_at: new Date(today - DAY_MS + 1_234).toISOString(),
          prompt_change_pct: -50,
          completion_change_pct: 50,
        },
      },
    ]);
  });

  it.each([
    ['used another model', { model: 'acme/new' }],
    ['used it 31 days ago', { created_at: new Date(today - 31 * DAY_MS).toISOString() }],
    ['had no answer of it', { status: 'error' as const }],
    ['is a person alone', { org_id: null, team_id: null }],
  ])('tells nobody who %s', async (_who, more) => {
    await used(more);
    expect(await replica(at(0)).advance()).toBe(0);
    expect(await told()).toEqual([]);
  });

  it('tells of each mark once, between 08:00 and 09:00 UTC', async () => {
    await used({ created_at: new Date(today).toISOString() });
    const one = replica(at(0));
    for (const days of [-1, 0, 0, 1, 5, 22, 23, 24, 28, 29, 30])
      for (const hours of [7.99, 8, 8.5, 9]) {
        await replica(at(days, hours)).advance();
        await one.advance();
      }
    const marks = (await told()).map(({ data }) => data.days_left);
    expect(marks).toEqual([30, 7, 1]);
  });

  it('tells of a day that became known late with the nearest mark alone', async () => {
    await used();
    catalogue.serve(catalogueModel('acme/swift', [{}], { retires_at: dayIn(3) }));
    await replica(at(0)).advance();
    expect((await told()).map(({ data }) => [data.days_left, data.successor])).toEqual([[7, null]]);
  });

  it('tells once where two replicas work at the same time', async () => {
    for (const id of [1, 2, 3, 4, 5]) await used({ account_id: `acct_${id}`, org_id: `org_${id}` });
    const counts = await Promise.all([replica(at(0)).advance(), replica(at(0), other).advance()]);
    expect(counts[0] + counts[1]).toBe(5);
    expect((await told()).map(({ org_id }) => org_id).sort()).toEqual([
      'org_1',
      'org_2',
      'org_3',
      'org_4',
      'org_5',
    ]);
  });

  it('tells once where a process is killed between two events and another goes on', async () => {
    for (const id of [1, 2, 3]) await used({ account_id: `acct_${id}`, org_id: `org_${id}` });
    for (const draws of [1, 2, 3])
      await expect(
        replica(at(0), app.database, dyingRandom(new SystemRandom(), draws)).advance(),
      ).rejects.toThrow('killed');
    expect(await told()).toEqual([]);
    expect(await replica(at(0)).advance()).toBe(3);
    expect(await replica(at(0), other).advance()).toBe(0);
    expect(await told()).toHaveLength(3);
  });

  it('forgets whom it told once the model has been gone for 30 days', async () => {
    await used();
    await replica(at(0)).advance();
    await replica(at(61)).advance();
    const { rows } = await app.database.pool.query('SELECT 1 FROM retirement_notice');
    expect(rows).toEqual([]);
  });
});
