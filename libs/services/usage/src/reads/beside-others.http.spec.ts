import { jest } from '@jest/globals';
import { eventually, sessionPrincipal, testDatabase, usageRecord, type TestDatabase } from '@gateway/testing';
import { MIGRATED, startUsageApp, type UsageApp } from '../usage.fixture.js';
import { SeriesStore } from './series.store.js';

const tokenOf = (org: string): string => `eyJ${org}.eyJ${org}.${org}`;

let place: TestDatabase;
let app: UsageApp;

beforeAll(async () => {
  place = await testDatabase(MIGRATED);
  app = await startUsageApp(place.url);
  for (const org of ['org_1', 'org_2']) {
    const membership = { orgId: org, accountId: `acct_${org.slice(-1)}`, teams: [], role: 'owner' as const };
    app.principals.add(tokenOf(org), sessionPrincipal({ userId: `usr_${org}`, memberships: [membership] }));
  }
}, 600_000);
afterAll(async () => {
  await app.close();
  await place.drop();
});

const read = async (
  org: string,
  path = '',
  body: object = {},
): Promise<{ status: number; after: number }> => {
  const asked = { org_id: org, ...body };
  const { status, headers } = await app.call('POST', `/v1/usage${path}?refresh=true`, tokenOf(org), asked);
  return { status, after: Number(headers['retry-after'] ?? 0) };
};

it('429 with Retry-After for reads of an account beyond those that wait, while another reads and postings go on', async () => {
  let isFree: () => void = () => undefined;
  const free = new Promise<void>((done) => (isFree = done));
  const { pool } = app.database;
  // Each holds a connection, as one that takes long does.
  const series = jest
    .spyOn(app.app.get(SeriesStore, { strict: false }), 'read')
    .mockImplementation(async () => {
      const client = await pool.connect();
      await free;
      client.release();
      throw new Error('cut');
    });
  const flood = Array.from({ length: 60 }, () => read('org_1', '/series', { granularity: 'day' }));
  await eventually(() => series.mock.calls.length === 2);
  await eventually(() => pool.totalCount - pool.idleCount >= 2);
  await app.post(usageRecord({ account_id: 'acct_2', org_id: 'org_2' }));
  expect(await read('org_2')).toEqual({ status: 200, after: 0 });
  expect(await read('org_2', '/events')).toEqual({ status: 200, after: 0 });
  expect(series).toHaveBeenCalledTimes(2);
  isFree();
  const answers = await Promise.all(flood);
  const refused = answers.filter(({ status }) => status === 429);
  expect(refused).toHaveLength(8);
  expect(refused.every(({ after }) => after > 0)).toBe(true);
  series.mockRestore();
  expect((await read('org_1', '/series', { granularity: 'day' })).status).toBe(200);
});

it('reads take one process of PostgreSQL each', async () => {
  const { rows } = await app.database.pool.query('SHOW max_parallel_workers_per_gather');
  expect(rows).toEqual([{ max_parallel_workers_per_gather: '0' }]);
});
