/** @jest-environment jsdom */
import { jest } from '@jest/globals';
import { cleanup, fireEvent, screen } from '@testing-library/react';
import { renderedAt } from '../shell/rendered.fixture.js';
import { whyInWords } from './money-words.js';

const day = (start: string, spend_usd: string, moving_average_usd: string): object => ({
  ...{ start, spend_usd, moving_average_usd },
  requests: 3,
});
let role = 'owner';
const answers: Record<string, unknown> = {
  '/auth/me': {
    user: { time_zone: null },
    memberships: [
      {
        org_id: 'org_1',
        get role() {
          return role;
        },
      },
    ],
    is_super_admin: false,
  },
  '/v1/orgs': { data: [{ id: 'org_1', name: 'Lumen Retail' }] },
  '/v1/balance': {
    ...{ available_usd: '250', balance_usd: '255', reserved_usd: '5', updated_at: '2026-11-16T00:00:00Z' },
    reserved_breakdown: [{ kind: 'batch_unit', reserved_usd: '5' }],
  },
  '/v1/billing/statement': { usage_usd: '150.5' },
  '/v1/budgets': {
    data: [
      { period: 'week', effective_amount_usd: '90' },
      { period: 'month', effective_amount_usd: '400' },
    ],
  },
  '/v1/usage/spend-trend': {
    buckets: [day('2026-11-14T00:00:00Z', '10', '10'), day('2026-11-15T00:00:00Z', '10', '10')],
  },
  '/v1/billing/auto-recharge': { enabled: false, has_payment_method: false },
};
const GET = jest.fn(async (path: string, _asked?: unknown) => ({ data: answers[path] }));
jest.unstable_mockModule('../api/call.js', () => ({
  api: { GET },
  bodyOf: async (call: Promise<{ data: unknown }>) => (await call).data,
}));
jest.unstable_mockModule('../api/session.js', () => ({ useSession: () => ({ state: 'out' }) }));
const { default: BillingPage } = await import('./billing-page.js');

describe('the page of the balance', () => {
  beforeEach(() => {
    // The middle of a month of 30 days.
    jest.useFakeTimers({ now: Date.parse('2026-11-16T00:00:00Z'), doNotFake: ['setTimeout', 'setInterval'] });
  });
  afterEach(() => {
    cleanup();
    jest.useRealTimers();
  });

  it('begins with how long the balance lasts and what the month will cost beside its budget', async () => {
    renderedAt('/o/org_1/billing', <BillingPage />);
    await screen.findByText('About 25 days left at the 3-day average');
    expect((await screen.findByText('Forecast of the month')).parentElement?.textContent).toContain(
      '$301.00',
    );
    await screen.findByText(/\$150\.50 so far\. The budget is \$400\.00\./);
    screen.getByText('batch unit $5');
  });

  it('asks for nothing that a member may not read', async () => {
    role = 'member';
    GET.mockClear();
    renderedAt('/o/org_1/billing', <BillingPage />);
    await screen.findByText('About 25 days left at the 3-day average');
    role = 'owner';
    const asked = GET.mock.calls.map(([path]) => path);
    expect(asked).toContain('/v1/balance');
    expect(asked).not.toContain('/v1/billing/statement');
    expect(asked).not.toContain('/v1/budgets');
  });

  it('has the days as a table on demand, below the automatic recharge', async () => {
    renderedAt('/o/org_1/billing', <BillingPage />);
    const button = await screen.findByRole('button', { name: 'The chart as a table' });
    const recharge = await screen.findByRole('heading', { name: 'Automatic recharge' });
    expect(recharge.compareDocumentPosition(button)).toBe(Node.DOCUMENT_POSITION_FOLLOWING);
    expect(screen.queryByRole('table')).toBeNull();
    fireEvent.click(button);
    expect(await screen.findByRole('table', { name: 'Spend by day' })).toBeTruthy();
  });
});

describe('why a balance changed', () => {
  it.each([
    [{ reason: 'Conference', source: 'crd_1' }, 'Conference'],
    [{ reason: null, source: 'opening/acct_1' }, 'Credit that a new account begins with'],
    [{ reason: null, source: 'pay_1' }, 'pay_1'],
    [{ reason: null, source: null }, '–'],
  ])('%j: %s', (entry, words) => {
    expect(whyInWords(entry)).toBe(words);
  });
});
