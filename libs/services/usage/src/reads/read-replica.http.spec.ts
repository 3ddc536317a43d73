import { LOGGER, Metrics, mintSecret, SystemRandom } from '@gateway/platform';
import { FixedClock, sessionPrincipal, testDatabase, usageRecord, type TestDatabase } from '@gateway/testing';
import type { Logger } from 'pino';
import { ReadReplica } from '../postgres/read-replica.js';
import { ReplicaMetrics } from '../postgres/replica-metrics.js';
import { UsageDatabase } from '../postgres/usage-database.js';
import { limitedKey, MIGRATED, startUsageApp, type UsageApp } from '../usage.fixture.js';

const OWNER = 'eyJo.eyJo.o';
const KEY = mintSecret('rsk_', new SystemRandom());
const ORG = { org_id: 'org_1' };

let places: TestDatabase[];
let app: UsageApp;
let copy: UsageDatabase;
let replica: ReadReplica;

/** Two databases: the one that is posted to, and one that holds what was replicated by hand. */
beforeAll(async () => {
  places = [await testDatabase(MIGRATED), await testDatabase(MIGRATED)];
  const [{ url }, { url: readsUrl }] = places;
  app = await startUsageApp(url, { settings: { USAGE_READS_DATABASE_URL: readsUrl } });
  copy = new UsageDatabase({ url: readsUrl, maxConnections: 2 });
  replica = app.app.get(ReadReplica, { strict: false });
  // Beats are sent by the tests alone.
  await replica.onModuleDestroy();
  app.principals.add(KEY, limitedKey());
  const membership = { orgId: 'org_1', accountId: 'acct_1', teams: [], role: 'owner' as const };
  app.principals.add(OWNER, sessionPrincipal({ userId: 'usr_1', memberships: [membership] }));
  await app.post(usageRecord());
});
afterAll(async () => {
  await app.close();
  await copy.onApplicationShutdown();
  await Promise.all(places.map((place) => place.drop()));
});

/** Brings the newest beat to the replica, and lets it be seen. */
async function replicate(): Promise<void> {
  await replica.beat();
  const { rows } = await app.database.pool.query<{ beat: string }>('SELECT beat FROM replica_beat');
  await copy.pool.query('DELETE FROM replica_beat');
  await copy.pool.query('INSERT INTO replica_beat (id, beat) VALUES (1, $1)', [rows[0].beat]);
  await replica.beat();
}

// What is asked differs each time: a session has the answer to the same question for a minute.
let asked = 0;
const until = (): object => ({ ...ORG, until: new Date(Date.UTC(2099, 0, 1) + ++asked).toISOString() });
const requests = async (as: string, query = ''): Promise<number> =>
  (await app.call('POST', `/v1/usage${query}`, as, until())).body.total_requests as number;
const answeredBy = async (): Promise<Record<string, number>> => {
  const text = await app.app.get(Metrics, { strict: false }).scrape();
  const lines = text.matchAll(/^gateway_usage_replica_reads_total\{.*answered_by="(\w+)".*\} (\d+)/gm);
  return Object.fromEntries([...lines].map(([, by, count]) => [by, Number(count)]));
};

it('reads of people are answered by the replica; of keys, refreshed, by id and of balances by the primary', async () => {
  await replicate();
  expect(await requests(OWNER)).toBe(0);
  expect(await requests(OWNER, '?refresh=true')).toBe(1);
  expect(await requests(KEY)).toBe(1);
  const { events } = (await app.call('POST', '/v1/usage/events', KEY, ORG)).body;
  expect(events).toHaveLength(1);
  expect((await app.call('POST', '/v1/usage/events', OWNER, until())).body.events).toEqual([]);
  expect((await app.call('GET', `/v1/usage/requests/${events[0].request_id}`, OWNER)).status).toBe(200);
  expect((await app.call('GET', `/v1/usage/events/${events[0].id}/attempts`, OWNER)).status).toBe(200);
  expect((await app.call('POST', '/v1/usage/exports', OWNER, until())).body.rows).toBe(0);
});

it('the primary answers while the replica has not what was written ten seconds ago', async () => {
  const clock = new FixedClock('2026-11-21T10:00:00Z');
  const metrics = app.app.get(ReplicaMetrics, { strict: false });
  const logger = app.app.get<Logger>(LOGGER, { strict: false });
  const watched = new ReadReplica(copy, app.database, metrics, clock, logger);
  expect(watched.isUsable()).toBe(false);
  await replicate();
  await watched.beat();
  await watched.beat();
  expect(watched.isUsable()).toBe(false);
  await replicate();
  await watched.beat();
  await clock.advance(10_000);
  expect(watched.isUsable()).toBe(true);
  await clock.advance(1);
  await watched.beat();
  expect(watched.isUsable()).toBe(false);
});

it('the primary answers what the replica fails, once; all reads go to it until the next beat, and each is counted', async () => {
  await replicate();
  await copy.pool.query('ALTER TABLE usage_event RENAME TO usage_event_away');
  const before = await answeredBy();
  const csv = async (): Promise<number> => {
    const { body } = await app.call('GET', '/v1/usage/events/export?org_id=org_1', OWNER);
    return String(body).trim().split('\n').length - 1;
  };
  expect([await csv(), replica.isUsable(), await requests(OWNER)]).toEqual([1, false, 1]);
  await replica.beat();
  expect([replica.isUsable(), await requests(OWNER), replica.isUsable()]).toEqual([true, 1, false]);
  await copy.pool.query('ALTER TABLE usage_event_away RENAME TO usage_event');
  await replica.beat();
  expect(await csv()).toBe(0);
  const after = await answeredBy();
  const counted = Object.entries(after).map(([by, count]) => [by, count - (before[by] ?? 0)]);
  expect(Object.fromEntries(counted)).toEqual({
    replica: 1,
    primary_replica_failed: 2,
    primary_replica_behind: 1,
  });
});

it('a read that the replica refuses is not asked again, and a beat that fails sends reads to the primary', async () => {
  await replicate();
  const unknownZone = { ...until(), granularity: 'day', time_zone: 'Mars/Olympus' };
  expect((await app.call('POST', '/v1/usage/series', OWNER, unknownZone)).status).toBe(422);
  expect(replica.isUsable()).toBe(true);
  await copy.pool.query('ALTER TABLE replica_beat RENAME TO replica_beat_away');
  await expect(replica.beat()).rejects.toThrow('replica_beat');
  replica.failed(new Error('no beat'));
  expect([await requests(OWNER), replica.isUsable()]).toEqual([1, false]);
  await copy.pool.query('ALTER TABLE replica_beat_away RENAME TO replica_beat');
});
