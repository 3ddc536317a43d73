import type { Logger } from 'pino';
import { SystemClock, SystemRandom } from '@gateway/platform';
import { testDatabase, usageRecord, type TestDatabase } from '@gateway/testing';
import { Rounds } from '../background/rounds.js';
import { MirrorStore } from '../mirror/mirror.store.js';
import type { UsageDatabase } from '../postgres/usage-database.js';
import { MIGRATED, startUsageApp, type UsageApp } from '../usage.fixture.js';
import { Reconciler } from './reconciler.js';

let place: TestDatabase;
let app: UsageApp;

beforeAll(async () => {
  place = await testDatabase(MIGRATED);
  app = await startUsageApp(place.url);
  await app.app.get(Rounds, { strict: false }).stop();
});
afterAll(async () => {
  await app.close();
  await place.drop();
});

/** As many events of the account as days say, without the events. */
const grow = (account: string, requests: number) =>
  app.database.pool.query(
    `INSERT INTO usage_day SELECT $1, '2026-01-01T00:00:00Z', 'key_1', '', 'acme/swift', '/v1/x', 'success', 'served',
       'org_1', 'usr_1', $2, 0, 0, 0, 0, array_fill(0, ARRAY[20]), array_fill(0, ARRAY[20])
     ON CONFLICT (account_id, slot, key_id, team_id, model, endpoint, status, outcome) DO UPDATE SET requests = $2`,
    [account, requests],
  );

describe('a minute of the proof', () => {
  it('B16 reads no event of an account with too many, counts it, and proves the others part by part', async () => {
    const accounts = Array.from({ length: 6 }, (_, n) => `acct_${n}`);
    await app.post(...accounts.map((account_id) => usageRecord({ account_id, cost_usd: '1' })));
    await app.database.pool.query(`UPDATE account SET posted = posted - 1 WHERE id IN ('acct_1', 'acct_4')`);
    const read: string[][] = [];
    const pool = {
      query: (sql: string, values?: unknown[]) => {
        if (/FROM usage_event WHERE cost > 0 AND account_id/.test(sql)) read.push(values?.[0] as string[]);
        return app.database.pool.query(sql, values);
      },
    };
    let unproven = -1;
    const reconciler = new Reconciler({
      database: { pool } as unknown as UsageDatabase,
      mirrorStore: app.app.get(MirrorStore, { strict: false }),
      ...{ mirrors: app.mirrors, limits: app.limits, clock: new SystemClock(), random: new SystemRandom() },
      reprice: { again: () => Promise.resolve(null), knows: () => Promise.resolve(true) },
      logger: { error: () => undefined } as unknown as Logger,
      metrics: {
        differencesFound: () => undefined,
        proofAdvanced: (count) => void (unproven = count),
      },
    });
    const different = (): (string | null)[] =>
      reconciler.state.findings
        .filter(({ kind }) => kind === 'account_differs')
        .map(({ account }) => account);
    for (const [account, events] of [
      ['acct_1', 500_001],
      ['acct_2', 400_000],
      ['acct_3', 400_000],
    ] as const)
      await grow(account, events);
    for (let rounds = 0; reconciler.state.roundEndedAtMs === null && rounds < 20; rounds += 1)
      await reconciler.advance();
    expect(unproven).toBe(1);
    expect(new Set(read.flat())).toEqual(new Set(accounts.filter((account) => account !== 'acct_1')));
    expect(read.some((part) => part.includes('acct_2') && part.includes('acct_3'))).toBe(false);
    expect(different()).toEqual(['acct_4']);
    await grow('acct_1', 1);
    for (let rounds = 0; !different().includes('acct_1') && rounds < 20; rounds += 1)
      await reconciler.advance();
    expect(unproven).toBe(0);
    expect(different().toSorted()).toEqual(['acct_1', 'acct_4']);
  });
});
