import { report } from './report.js';

const sums = { costs: '2', usage_transfers: '2', balances_fell: '2', spend_totals: '2', spend_hours: '2' };

describe('the report of npm run reconcile', () => {
  it('prints every sum and that they are equal', () => {
    expect(report({ sums, findings: [], unpriced: 0 })).toContain(
      'spend_hours       2 USD\nthe sums are equal\n\nno difference',
    );
  });

  it('names each difference with account, scope, expected and found', () => {
    const finding = {
      kind: 'total_differs' as const,
      account: 'acct_1',
      scope: 'key:k',
      expected: '2',
      found: '3',
    };
    const text = report({ sums: { ...sums, spend_totals: '3' }, findings: [finding], unpriced: 3 });
    expect(text).toContain('the sums differ');
    expect(text).toContain('total_differs  acct_1 key:k  expected 2, found 3');
    expect(text).toContain('3 billed events were not priced again');
    expect(text).toContain('1 differences');
  });
});
