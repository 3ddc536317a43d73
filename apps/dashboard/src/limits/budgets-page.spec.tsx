/** @jest-environment jsdom */
import { jest } from '@jest/globals';
import { cleanup, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { renderedAt } from '../shell/rendered.fixture.js';
import type { Budget } from './budgets.queries.js';
import type { PeriodBudget } from './period-budgets.queries.js';

const budget = (more: Partial<Budget>): Budget => ({
  ...{ scope: 'key', id: 'key_1', team_id: null, name: 'staging' },
  ...{ spend_cap_usd: '1', spent_usd: '0.999', used: 0.999 },
  ...more,
});
let budgets: Budget[] = [];
const periodBudget = (more: Partial<PeriodBudget>): PeriodBudget => ({
  ...{ id: 'bud_1', org_id: 'org_1', scope: 'team', scope_id: 'team_1', name: 'Search, November' },
  ...{ amount_usd: '500', effective_amount_usd: '520', spent_usd: '390', held_usd: '0' },
  ...{ period: 'month', time_zone: 'Europe/Berlin', is_enabled: true, is_hard: true },
  thresholds_pct: [],
  rolling_days: null,
  ...{ period_start: '2026-10-31T23:00:00.000Z', period_end: '2026-11-30T23:00:00.000Z' },
  ...{ raise: { by_usd: '20', until: '2026-11-25T23:00:00.000Z' } },
  ...{ created_at: '2026-11-01T00:00:00.000Z', updated_at: '2026-11-01T00:00:00.000Z' },
  ...more,
});
let periodBudgets: PeriodBudget[] = [];
const sent = jest.fn();
const send =
  (verb: string) =>
  async (path: string, { body }: { body?: unknown }): Promise<{ data: unknown }> => {
    sent(verb, path, body);
    return { data: periodBudget({}) };
  };
const OWNERS = {
  teams: [{ id: 'team_1', name: 'Search', org_id: 'org_1' }],
  members: [],
};
jest.unstable_mockModule('../api/call.js', () => ({
  api: {
    POST: send('POST'),
    PATCH: send('PATCH'),
    DELETE: send('DELETE'),
    GET: async (path: string) => ({
      data:
        path === '/v1/budgets'
          ? { data: periodBudgets, total: periodBudgets.length, limit: 50, offset: 0 }
          : path === '/v1/keys/filter-options'
            ? OWNERS
            : path.endsWith('/budgets')
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
    const rows = within(await screen.findByRole('table', { name: 'Spend caps' })).getAllByRole('row');
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

describe('budgets of a period', () => {
  beforeEach(() => {
    sent.mockClear();
    budgets = [];
    periodBudgets = [periodBudget({})];
  });
  afterEach(cleanup);

  const choose = async (item: string): Promise<void> => {
    fireEvent.click(await screen.findByRole('button', { name: 'Change Search, November' }));
    fireEvent.click(await screen.findByRole('menuitem', { name: item }));
  };

  it('show what is spent of the amount with its raise, and whose it is', async () => {
    renderedAt('/o/org_1/budgets', <BudgetsPage />);
    const table = await screen.findByRole('table', { name: 'Budgets of a period' });
    expect(screen.getByRole('progressbar', { name: '75% of the cap of Search, November' })).toBeTruthy();
    const owner = await within(table).findByRole('link', { name: 'Search' });
    expect(owner.getAttribute('href')).toBe('/o/org_1/teams/team_1');
    expect(table.textContent).toContain('$520.00 a month');
  });

  it('of which nobody can say what is spent are not shown as unspent', async () => {
    periodBudgets = [periodBudget({ spent_usd: null })];
    renderedAt('/o/org_1/budgets', <BudgetsPage />);
    const table = await screen.findByRole('table', { name: 'Budgets of a period' });
    expect(within(table).getAllByText('unknown')).toHaveLength(2);
  });

  it('are raised until the end of the last day, in the zone of the budget', async () => {
    renderedAt('/o/org_1/budgets', <BudgetsPage />);
    await choose('Raise for a time');
    fireEvent.change(await screen.findByLabelText(/Add, USD/), { target: { value: '50' } });
    fireEvent.change(screen.getByLabelText(/Last day/), { target: { value: '2026-12-24' } });
    fireEvent.click(screen.getByRole('button', { name: 'Raise' }));
    const body = { by_usd: '50', until: '2026-12-24T23:00:00.000Z' };
    await waitFor(() => expect(sent).toHaveBeenCalledWith('POST', '/v1/budgets/{id}/raise', body));
  });

  it('are changed by what differs alone', async () => {
    renderedAt('/o/org_1/budgets', <BudgetsPage />);
    await choose('Edit');
    fireEvent.change(await screen.findByLabelText(/Amount, USD/), { target: { value: '600' } });
    fireEvent.click(screen.getByRole('button', { name: 'Save' }));
    await waitFor(() =>
      expect(sent).toHaveBeenCalledWith('PATCH', '/v1/budgets/{id}', { amount_usd: '600' }),
    );
  });

  it('are made for the whole organization with its own id', async () => {
    renderedAt('/o/org_1/budgets?create=yes', <BudgetsPage />);
    fireEvent.change(await screen.findByLabelText(/Name/), { target: { value: 'All of it' } });
    fireEvent.change(screen.getByLabelText(/Amount, USD/), { target: { value: '1000' } });
    fireEvent.click(screen.getByRole('combobox', { name: 'Of' }));
    fireEvent.click(await screen.findByRole('option', { name: 'Organization', hidden: true }));
    fireEvent.click(screen.getAllByRole('button', { name: 'Create budget' }).at(-1) as HTMLElement);
    await waitFor(() =>
      expect(sent).toHaveBeenCalledWith('POST', '/v1/budgets', {
        ...{ org_id: 'org_1', scope: 'org', scope_id: 'org_1', name: 'All of it' },
        ...{ amount_usd: '1000', period: 'month', time_zone: 'UTC', is_hard: true, thresholds_pct: [] },
      }),
    );
  });

  it('are made that warn only, at the percentages that were typed, over the last days', async () => {
    renderedAt('/o/org_1/budgets?create=yes', <BudgetsPage />);
    fireEvent.change(await screen.findByLabelText(/Name/), { target: { value: 'A look' } });
    fireEvent.change(screen.getByLabelText(/Amount, USD/), { target: { value: '9' } });
    fireEvent.click(screen.getByRole('combobox', { name: 'Period' }));
    fireEvent.click(await screen.findByRole('option', { name: 'The last days', hidden: true }));
    fireEvent.change(await screen.findByLabelText(/Days/), { target: { value: '7' } });
    fireEvent.click(screen.getByLabelText(/Block requests/));
    fireEvent.change(screen.getByLabelText(/Warn at, percent/), { target: { value: '50, 80 % x' } });
    fireEvent.click(screen.getAllByRole('button', { name: 'Create budget' }).at(-1) as HTMLElement);
    await waitFor(() =>
      expect(sent).toHaveBeenCalledWith('POST', '/v1/budgets', {
        ...{ org_id: 'org_1', scope: 'team', scope_id: '', name: 'A look', amount_usd: '9' },
        // What is no figure goes as it is, and the gateway names its field.
        ...{ period: 'rolling', rolling_days: 7, is_hard: false, thresholds_pct: [50, 80, 'x'] },
      }),
    );
  });

  it('become hard or warn only, and show at what they warn', async () => {
    periodBudgets = [periodBudget({ is_hard: false, thresholds_pct: [50, 80] })];
    renderedAt('/o/org_1/budgets', <BudgetsPage />);
    const table = await screen.findByRole('table', { name: 'Budgets of a period' });
    expect(table.textContent).toContain('warns only');
    expect(table.textContent).toContain('warns at 50%, 80%');
    await choose('Edit');
    fireEvent.click(await screen.findByLabelText(/Block requests/));
    fireEvent.change(screen.getByLabelText(/Warn at, percent/), { target: { value: '' } });
    fireEvent.click(screen.getByRole('button', { name: 'Save' }));
    const body = { is_hard: true, thresholds_pct: [] };
    await waitFor(() => expect(sent).toHaveBeenCalledWith('PATCH', '/v1/budgets/{id}', body));
  });

  it('are deleted once it was confirmed', async () => {
    renderedAt('/o/org_1/budgets', <BudgetsPage />);
    await choose('Delete');
    fireEvent.click(await screen.findByRole('button', { name: 'Delete' }));
    await waitFor(() => expect(sent).toHaveBeenCalledWith('DELETE', '/v1/budgets/{id}', undefined));
  });
});
