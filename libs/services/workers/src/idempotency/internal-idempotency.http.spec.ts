import { IdempotencyStore } from '@gateway/contracts';
import { HttpIdempotencyStore } from '@gateway/fleet';
import { InternalHttp, SystemClock } from '@gateway/platform';
import { seededRandom, testPostgres, type TestDatabase } from '@gateway/testing';
import { MIGRATED, startWorkersApp, type WorkersApp } from '../workers.fixture.js';

const random = seededRandom(1);
const START = Date.parse('2026-11-24T00:00:00.000Z');
const none = new Date(0);
const answer = { status: 200, body: { object: 'answers/acct_a/one.json' } };

let database: TestDatabase;
let app: WorkersApp;
let http: InternalHttp;

beforeAll(async () => {
  database = await testPostgres();
  await MIGRATED.migrate(database.url);
  app = await startWorkersApp(database.url);
  const services = { workers: app.url };
  http = new InternalHttp({
    ...{ clock: new SystemClock(), random, services },
    fleetToken: 'fleet-token-of-the-spec',
  });
});
afterAll(async () => {
  await http.close();
  await app.close();
  await database.drop();
});

describe.each(['in process', 'over HTTP'])('Idempotency-Keys of edges, %s', (driver) => {
  const store = (): IdempotencyStore =>
    driver === 'in process' ? app.app.get(IdempotencyStore) : new HttpIdempotencyStore(http, random);
  const claim = {
    ...{ scope: `${driver} POST /v1/images/generations`, key: 'k1', bodyDigest: 'd1', owner: 'req_1' },
    createdAt: new Date(START),
  };
  const other = { ...claim, owner: 'req_2' };

  it('EDGE-08 are taken once, renewed, given back and answered', async () => {
    expect(await store().claim(claim, none, none)).toBeNull();
    expect(await store().claim(claim, none, none)).toBeNull();
    await store().renew({ ...claim, createdAt: new Date(START + 60_000) });
    const running = { bodyDigest: 'd1', answer: null };
    expect(await store().claim(other, none, new Date(START + 60_000))).toEqual(running);
    await store().release(claim);
    expect(await store().claim(other, none, none)).toBeNull();
    expect(await store().complete(claim, answer)).toBe(false);
    expect(await store().complete(other, answer)).toBe(true);
    expect(await store().claim(claim, none, none)).toEqual({ bodyDigest: 'd1', answer });
  });
});

it('EDGE-08 503 where the workers service does not answer as it should', async () => {
  const claim = { scope: 's', key: '', bodyDigest: 'd', owner: 'o', createdAt: new Date(START) };
  await expect(new HttpIdempotencyStore(http, random).renew(claim)).rejects.toMatchObject({ status: 503 });
});
