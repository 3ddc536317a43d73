/** @jest-environment jsdom */
import { jest } from '@jest/globals';
import { cleanup, screen, within } from '@testing-library/react';
import { renderedAt } from '../shell/rendered.fixture.js';
import type { Budget } from './budgets.queries.js';

const budget = (more: Partial<Budget>): Budget => ({
  ...{ scope: 'key', id: 'key_1', team_id: null, name: 'staging' },
  ...{ spend_cap_usd: '1', spent_usd: '0.999', used: 0.999 },
  ...more,
});
let budgets: Budget[] = [];
jest.unstable_mockModule('../api/call.js', () => ({
  api: {
    GET: async (path: string) => ({
      data: path.endsWith('/budgets')
        ? { data: budgets, total: budgets.length, limit: 50, offset: 0, is_partial: false }
        : { user: { time_zone: null }, memberships: [], is_super_admin: false, data: [] },
    }),
  },
  bodyOf: async (call: Promise<{ data: unknown }>) => (await call).data,
}));
jest.unstable_mockModule('../api/session.js', () => ({ useSession: () => ({ state: 'out' }) }));
const { default: BudgetsPage } = await import('./budgets-page.js');

describe('budgets', () => {
  afterEach(cleanup);

  it('show each cap with what is spent and where it is set; nearly used is not 100 %', async () => {
    budgets = [
      budget({}),
      budget({ scope: 'team_member', id: 'usr_1', team_id: 'team_1', name: 'Mara, Search', used: 0.2 }),
    ];
    renderedAt('/o/org_1/budgets', <BudgetsPage />);
    const rows = within(await screen.findByRole('table', { name: 'Budgets' })).getAllByRole('row');
    expect(rows[1].textContent).toBe('stagingKey99%$1.00$1.00Since the key was made');
    expect(screen.getByRole('progressbar', { name: '99% of the cap of staging' })).toBeTruthy();
    expect(within(rows[2]).getByRole('link').getAttribute('href')).toBe('/o/org_1/teams/team_1');
  });

  it('say where caps are set while there is none', async () => {
    budgets = [];
    renderedAt('/o/org_1/budgets', <BudgetsPage />);
    await screen.findByText(/^No spend cap is set/);
  });
});
