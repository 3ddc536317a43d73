import { SystemClock } from '@gateway/platform';
import { fixedClock, testDatabase, type FixedClock, type TestDatabase } from '@gateway/testing';
import { ProjectionJobs } from '../background/projection-jobs.js';
import { reconciliationOf } from '../reconcile/full-reconciliation.fixture.js';
import { MIGRATED, startUsageApp, type UsageApp } from '../usage.fixture.js';
import { LivingProducers } from './living-producers.js';

const MINUTE_MS = 60_000;

let place: TestDatabase;
let app: UsageApp;
let clock: FixedClock;
let producers: LivingProducers;

beforeAll(async () => {
  place = await testDatabase(MIGRATED);
  app = await startUsageApp(place.url);
});
afterAll(async () => {
  await app?.close();
  await place?.drop();
});
beforeEach(async () => {
  await app.database.pool.query('TRUNCATE living_producer');
  clock = fixedClock(new Date(new SystemClock().now() - 11 * MINUTE_MS).toISOString());
  producers = new LivingProducers(app.database, clock);
});

describe('producers of records', () => {
  it('operations 2: is missed ten minutes after its last word where it did not end, and not before', async () => {
    await producers.heard('edge-1', 'a', false);
    await producers.heard('edge-2', 'b', false);
    await clock.advance(10 * MINUTE_MS);
    expect(await producers.silent()).toBe(0);
    await producers.heard('edge-2', 'b', false);
    await clock.advance(1);
    expect(await producers.silent()).toBe(1);
    // Its heir has sent what the journal held.
    await producers.heard('edge-1', 'a', true);
    await producers.heard('edge-1', 'a', true);
    expect(await producers.silent()).toBe(0);
  });

  it('operations 2: is named by the proof and the metric, until a repair or its next word', async () => {
    await producers.heard('edge-1', 'a', false);
    const rounds = app.app.get(ProjectionJobs, { strict: false });
    await rounds.jobs.find(({ what }) => what === 'gaps of producers')?.run();
    const metrics = await (await fetch(`${app.url}/metrics`)).text();
    expect(metrics).toContain('gateway_usage_silent_producers 1');
    const reconciliation = reconciliationOf(app, app.limits);
    const run = async (): Promise<unknown[]> =>
      (await reconciliation.run({ journals: [], isRepair: true })).findings;
    const silent = { kind: 'producer_silent', account: null, scope: 'edge-1/a' };
    expect(await run()).toEqual([expect.objectContaining(silent)]);
    expect(await run()).toEqual([]);
    await producers.heard('edge-1', 'a', false);
    expect(await run()).toHaveLength(1);
  });
});
