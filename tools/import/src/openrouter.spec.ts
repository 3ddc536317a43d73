import { readOpenRouter } from './openrouter.js';

const NOW = new Date('2026-11-29T00:00:00Z');

const key = (more: object): object => ({
  ...{ hash: 'f01d', name: 'Production', label: 'sk-or-v1-0e6...c96', disabled: false, limit: null },
  ...{ limit_reset: null, include_byok_in_limit: false, usage: 25.5, expires_at: null, ...more },
});

describe('a saved list of OpenRouter’s keys', () => {
  it('gives an organization and its keys: limits that come back are budgets, others caps', () => {
    const saved = JSON.stringify({
      data: [
        key({ limit: 100.1, limit_reset: 'monthly' }),
        key({ hash: 'b', name: 'Once', limit: 5, expires_at: '2099-12-31T23:59:59Z' }),
        key({ hash: 'd', name: 'Gone', expires_at: '2020-12-31T23:59:59Z' }),
        key({ hash: 'c', name: 'Off', disabled: true, include_byok_in_limit: true }),
      ],
    });
    const { plan, notes } = readOpenRouter(saved, 'keys.json', NOW);
    expect(plan.organizations).toMatchObject([{ old_id: 'openrouter', name: 'OpenRouter' }]);
    expect(plan.keys).toMatchObject([
      { old_id: 'f01d', label: 'Production', masked: 'sk-or-v1-0e6...c96', spend_cap_usd: null },
      { label: 'Once', spend_cap_usd: '5', expires_at: '2099-12-31T23:59:59Z', is_suspended: false },
      { label: 'Off', is_suspended: true },
    ]);
    expect(plan.budgets).toMatchObject([{ of: 'f01d', amount_usd: '100.1', period: 'month' }]);
    expect(notes).toEqual([
      { place: 'key Gone (sk-or-v1-0e6...c96)', words: 'it has expired and is not made again' },
      {
        place: 'key Off (sk-or-v1-0e6...c96)',
        words: 'requests with keys of your own do not count in a budget here',
      },
    ]);
  });

  it.each(['', '[]', '{}', '{"data": [{}]}', '{"data": [1]}'])('is refused where it is none: %j', (text) =>
    expect(() => readOpenRouter(text, 'keys.json', NOW)).toThrow(/^keys\.json/),
  );
});
