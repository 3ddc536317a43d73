import type { Clock } from '@gateway/contracts';
import type { Logger } from 'pino';
import { SystemClock, SystemRandom } from '@gateway/platform';
import { usageRecord } from '@gateway/testing';
import { app, place } from '../background/rounds.fixture.js';
import { ScheduledJobs } from '../background/scheduled-jobs.js';
import { ProjectionStore } from '../projection/projection.store.js';
import type { UsageDatabase } from '../postgres/usage-database.js';
import type { UsageMetrics } from '../usage-metrics.js';
import { startUsageApp } from '../usage.fixture.js';
import { Reconciler } from './reconciler.js';

/** Adds so many requests to the account's days, without their events. */
const grow = (account: string, requests: number) =>
  app.database.pool.query(
    `INSERT INTO usage_day SELECT $1, '2026-01-01T00:00:00Z', 'key_1', '', 'acme/swift', '/v1/x', 'success', 'served',
       'org_1', 'usr_1', $2, 0, 0, 0, 0, array_fill(0, ARRAY[20]), array_fill(0, ARRAY[20])
     ON CONFLICT (account_id, slot, key_id, team_id, model, endpoint, status, outcome) DO UPDATE SET requests = $2`,
    [account, requests],
  );

function reconcilerWith(
  more: {
    database?: UsageDatabase;
    metrics?: Pick<UsageMetrics, 'differencesFound' | 'proofAdvanced'>;
    clock?: Clock;
    logger?: Logger;
  } = {},
): Reconciler {
  return new Reconciler(
    more.database ?? app.database,
    app.app.get(ProjectionStore, { strict: false }),
    app.limits,
    more.metrics ?? { differencesFound: () => undefined, proofAdvanced: () => undefined },
    more.clock ?? new SystemClock(),
    new SystemRandom(),
    more.logger ?? ({ error: () => undefined } as unknown as Logger),
  );
}

describe('a minute of the proof', () => {
  beforeAll(() => app.app.get(ScheduledJobs, { strict: false }).stop());
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
    const reconciler = reconcilerWith({
      database: { pool } as unknown as UsageDatabase,
      metrics: { differencesFound: () => undefined, proofAdvanced: (count) => void (unproven = count) },
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

  it('B16 names records that could not be applied however long the round over the accounts takes, and logs each once', async () => {
    const accounts = Array.from({ length: 25 }, (_, n) => `acct_many_${n}`);
    await app.post(...accounts.map((account_id) => usageRecord({ account_id })));
    await app.post(usageRecord({ cost_usd: '-1' }));
    const clock = new SystemClock();
    const asked: number[] = [];
    // Each look at the clock takes longer than a minute's part may: one slice of accounts is proved.
    const monotonic = (): number => asked.push(0) * 10_000;
    const logged: unknown[] = [];
    const logger = { error: ({ reason }: { reason: string }) => logged.push(reason) } as unknown as Logger;
    const reconciler = reconcilerWith({ clock: Object.assign(clock, { monotonic }), logger });
    for (const minute of [1, 2]) {
      await reconciler.advance();
      if (minute === 1) expect(reconciler.state.roundEndedAtMs).toBeNull();
      const kinds = reconciler.state.findings.map(({ kind }) => kind);
      expect(kinds.filter((kind) => kind === 'dead_letter_open')).toHaveLength(1);
    }
    expect(logged.filter((reason) => String(reason).startsWith('dead_letter_open'))).toHaveLength(1);
  });

  it('B16 counts a record that could not be applied also after a restart, until it is applied', async () => {
    const applied = () => app.database.pool.query('UPDATE dead_letter SET applied_at = now()');
    await applied();
    await app.post(usageRecord({ cost_usd: '-1' }));
    const restarted = await startUsageApp(place.url);
    try {
      await restarted.app.get(ScheduledJobs, { strict: false }).stop();
      const counted = async (): Promise<unknown[]> => {
        await restarted.app.get(Reconciler, { strict: false }).advance();
        const metrics = await (await fetch(`${restarted.url}/metrics`)).text();
        return [
          /^gateway_usage_dead_letters_total (\d+)$/m.exec(metrics)?.[1],
          /^gateway_reconcile_differences\{kind="dead_letter_open"\} (\d+)$/m.exec(metrics)?.[1],
        ];
      };
      expect(await counted()).toEqual(['0', '1']);
      await applied();
      expect(await counted()).toEqual(['0', '0']);
    } finally {
      await restarted.close();
    }
  });
});
