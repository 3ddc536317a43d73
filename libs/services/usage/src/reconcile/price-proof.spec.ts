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
});
