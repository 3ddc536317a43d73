import type { PricedUnit } from '../posting/reprice.js';
import type { UsageDatabase } from '../postgres/usage-database.js';
import { provePrices } from './price-proof.js';

const row = (request_id: string, price_window: string | null): object => ({
  ...{ request_id, unit: 0, account_id: 'acct_1', model: 'acme/one', usage: {}, cost: '1' },
  priced_from: { snapshot_id: 'snap_1', price_window, priced_at: '2026-11-27T01:00:00Z' },
});

describe('the proof of prices', () => {
  it('issue 37 finds an event that names another window than the one that held', async () => {
    const rows = [row('req_1', 'peak'), row('req_2', null), row('req_3', 'night')];
    const database = { pool: { query: async () => ({ rows }) } } as unknown as UsageDatabase;
    const reprice = { knows: async () => true, again: async () => '1', window: async () => 'peak' };
    expect(await provePrices({ database, reprice })).toEqual({
      findings: [
        { kind: 'window_differs', account: 'acct_1', scope: 'req_2/0', expected: 'peak', found: 'standard' },
        { kind: 'window_differs', account: 'acct_1', scope: 'req_3/0', expected: 'peak', found: 'night' },
      ],
      unpriced: 0,
    });
  });

  it('issue 37 findings of windows never hide an event of another price', async () => {
    const many = Array.from({ length: 1_000 }, (_, n) => row(`req_${n}`, null));
    const batches = [...Array.from({ length: 10 }, () => many), [row('req_last', 'peak')]];
    const database = {
      pool: { query: async () => ({ rows: batches.shift() ?? [] }) },
    } as unknown as UsageDatabase;
    const again = async ({ priced_from: from }: Pick<PricedUnit, 'priced_from'>) =>
      from?.price_window === 'peak' ? '2' : '1';
    const reprice = { knows: async () => true, again, window: async () => 'peak' };
    const { findings } = await provePrices({ database, reprice });
    expect(findings.filter(({ kind }) => kind === 'price_differs')).toEqual([
      { kind: 'price_differs', account: 'acct_1', scope: 'req_last/0', expected: '2', found: '1' },
    ]);
    expect(findings).toHaveLength(10_001);
  });
});
