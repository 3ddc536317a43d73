/** @jest-environment jsdom */
import { jest } from '@jest/globals';
import { cleanup, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { renderedAt } from '../shell/rendered.fixture.js';
import type { PeriodBudget } from './period-budgets.queries.js';

const budgetOf = (more: Partial<PeriodBudget>): PeriodBudget => ({
  ...{ id: 'bud_1', org_id: null, scope: 'provider', scope_id: 'harbor', name: 'Harbor a month' },
  ...{ amount_usd: '500', effective_amount_usd: '520', spent_usd: '390', held_usd: '0' },
  ...{ period: 'month', time_zone: 'Europe/Berlin', rolling_days: null, is_enabled: true, is_hard: true },
  ...{ thresholds_pct: [50, 80], raise: { by_usd: '20', until: '2026-11-25T23:00:00.000Z' } },
  ...{ period_start: '2026-10-31T23:00:00.000Z', period_end: '2026-11-30T23:00:00.000Z' },
  ...{ created_at: '2026-11-01T00:00:00.000Z', updated_at: '2026-11-01T00:00:00.000Z' },
  ...more,
});
let budgets: PeriodBudget[] = [];
const sent = jest.fn();
const send =
  (verb: string) =>
  async (path: string, { params, body }: { params?: object; body?: unknown }): Promise<{ data: unknown }> => {
    sent(verb, path, params, body);
    return { data: budgetOf({}) };
  };
const answers: Record<string, () => unknown> = {
  '/v1/admin/budgets': () => ({ data: budgets, total: budgets.length, limit: 200, offset: 0 }),
  '/v1/admin/providers': () => ({ data: [{ slug: 'harbor', name: 'Harbor AI' }] }),
  '/auth/me': () => ({ user: { time_zone: null }, memberships: [], is_super_admin: true }),
};
jest.unstable_mockModule('../api/call.js', () => ({
  api: {
    POST: send('POST'),
    PATCH: send('PATCH'),
    DELETE: send('DELETE'),
    GET: async (path: string) => ({ data: answers[path]?.() ?? { data: [] } }),
  },
  bodyOf: async (call: Promise<{ data: unknown }>) => (await call).data,
}));
jest.unstable_mockModule('../api/session.js', () => ({ useSession: () => ({ state: 'out' }) }));
const { default: ProviderBudgetsPage } = await import('./provider-budgets-page.js');

const ADDRESS = '/o/org_1/admin/budgets';
const ALL = '/v1/admin/budgets';
const ONE = `${ALL}/{id}`;
const PARAMS = { path: { id: 'bud_1' } };

describe('budgets of providers', () => {
  beforeEach(() => {
    sent.mockClear();
    budgets = [budgetOf({})];
  });
  afterEach(cleanup);

  const shownRows = async (): Promise<HTMLElement[]> =>
    within(await screen.findByRole('table', { name: 'Budgets of providers' })).getAllByRole('row');
  const choose = async (item: string): Promise<void> => {
    fireEvent.click(await screen.findByRole('button', { name: 'Change Harbor a month' }));
    fireEvent.click(await screen.findByRole('menuitem', { name: item }));
  };

  it('show whose they are, what is spent of the amount, and what happens at which part', async () => {
    budgets = [
      budgetOf({}),
      budgetOf({ id: 'bud_2', name: 'Days', is_hard: false, period: 'rolling', rolling_days: 7 }),
    ];
    renderedAt(ADDRESS, <ProviderBudgetsPage />);
    const [, first, second] = await shownRows();
    const owner = await within(first).findByRole('link', { name: 'Harbor AI' });
    expect(owner.getAttribute('href')).toBe('/o/org_1/admin/providers/harbor');
    expect(within(first).getByRole('progressbar', { name: '75% of the cap of Harbor a month' })).toBeTruthy();
    expect(first.textContent).toContain('$390.00$520.00 a monthwarns at 50%, 80%$20.00 of it ends');
    expect(first.textContent).not.toContain('warns only');
    expect(second.textContent).toContain('warns only');
    expect(second.textContent).toContain('$520.00 in 7 days');
  });

  it('say so while there is none', async () => {
    budgets = [];
    renderedAt(ADDRESS, <ProviderBudgetsPage />);
    await screen.findByText(/^No budget is set/);
  });

  it('of gateway.yaml are shown, and changed there alone', async () => {
    budgets = [budgetOf({ id: 'bud_file_harbor_1', name: 'harbor of gateway.yaml' })];
    renderedAt(ADDRESS, <ProviderBudgetsPage />);
    await screen.findByText('set in gateway.yaml');
    expect(screen.queryByRole('button', { name: /^Change/ })).toBeNull();
  });

  it('are made for a provider that is chosen by its name', async () => {
    renderedAt(`${ADDRESS}?create=yes`, <ProviderBudgetsPage />);
    fireEvent.change(await screen.findByLabelText(/Name/), { target: { value: ' Harbor ' } });
    fireEvent.change(screen.getByLabelText(/Amount, USD/), { target: { value: '1000' } });
    fireEvent.change(screen.getByLabelText(/Warn at, percent/), { target: { value: '80' } });
    fireEvent.click(screen.getByLabelText(/Send the provider no requests above it/));
    fireEvent.click(screen.getByRole('combobox', { name: 'Provider' }));
    fireEvent.click(await screen.findByRole('option', { name: 'Harbor AI', hidden: true }));
    fireEvent.click(screen.getAllByRole('button', { name: 'Create budget' }).at(-1) as HTMLElement);
    await waitFor(() =>
      expect(sent).toHaveBeenCalledWith('POST', ALL, undefined, {
        ...{ scope: 'provider', scope_id: 'harbor', name: 'Harbor', amount_usd: '1000' },
        ...{ period: 'month', time_zone: 'UTC', is_hard: false, thresholds_pct: [80] },
      }),
    );
  });

  it('are changed, paused, raised until the end of a day in their zone, and no longer raised', async () => {
    renderedAt(ADDRESS, <ProviderBudgetsPage />);
    await choose('Edit');
    fireEvent.change(await screen.findByLabelText(/Amount, USD/), { target: { value: '600' } });
    fireEvent.click(screen.getByRole('button', { name: 'Save' }));
    await waitFor(() => expect(sent).toHaveBeenCalledWith('PATCH', ONE, PARAMS, { amount_usd: '600' }));
    await choose('Pause');
    await waitFor(() => expect(sent).toHaveBeenCalledWith('PATCH', ONE, PARAMS, { is_enabled: false }));
    await choose('Raise for a time');
    fireEvent.change(await screen.findByLabelText(/Add, USD/), { target: { value: '50' } });
    fireEvent.change(screen.getByLabelText(/Last day/), { target: { value: '2026-12-24' } });
    fireEvent.click(screen.getByRole('button', { name: 'Raise' }));
    const raise = { by_usd: '50', until: '2026-12-24T23:00:00.000Z' };
    await waitFor(() => expect(sent).toHaveBeenCalledWith('POST', `${ONE}/raise`, PARAMS, raise));
    await choose('End the raise');
    await waitFor(() => expect(sent).toHaveBeenCalledWith('DELETE', `${ONE}/raise`, PARAMS, undefined));
  });

  it('are deleted once it was confirmed', async () => {
    renderedAt(ADDRESS, <ProviderBudgetsPage />);
    await choose('Delete');
    await screen.findByText(/^It no longer keeps requests from the provider/);
    fireEvent.click(await screen.findByRole('button', { name: 'Delete' }));
    await waitFor(() => expect(sent).toHaveBeenCalledWith('DELETE', ONE, PARAMS, undefined));
  });
});
