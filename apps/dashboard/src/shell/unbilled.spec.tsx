/** @jest-environment jsdom */
import { jest } from '@jest/globals';
import { cleanup, fireEvent, screen, waitFor, within } from '@testing-library/react';
import type { Org } from '../admin/admin.queries.js';
import type { Channel } from '../alerts/alerts.queries.js';
import type { Page } from './pages.js';
import { renderedAt } from './rendered.fixture.js';

let billing: 'prepaid' | 'off';
const GET = jest.fn(async (path: string) => ({ data: path === '/auth/options' ? { billing } : {} }));
const PATCH = jest.fn(async (_path: string, _call: { body: unknown }) => ({ data: {} }));
jest.unstable_mockModule('../api/call.js', () => ({
  api: { GET, PATCH, POST: PATCH },
  bodyOf: async (call: Promise<{ data: unknown }>) => (await call).data,
}));
jest.unstable_mockModule('../api/session.js', () => ({ useSession: () => ({ state: 'out' }) }));
const { AddPolicy } = await import('../alerts/add-policy.js');
const { OrgActions } = await import('../admin/org-actions.js');
const { default: CreateOrg } = await import('./create-org.js');
const { default: KeyboardHelp } = await import('./keyboard-help.js');
const { PagesContext } = await import('./pages.js');

const nothing = (): void => undefined;
const org = { id: 'org_1', name: 'Acme', tier: 'standard', credit_limit_usd: '5' } as Org;
const channels = [{ id: 'ch_1', destination: 'https://a.example' }] as Channel[];
const WALLET = /balance|credit|recharge|payment|billing/i;

afterEach(() => {
  cleanup();
  PATCH.mockClear();
});

const eventsOffered = async (first: string): Promise<string[]> => {
  renderedAt('/o/org_1/alerts', <AddPolicy org="org_1" channels={channels} isOpen onClose={nothing} />);
  const choice = { name: 'Event', hidden: true };
  const event = await screen.findByRole<HTMLInputElement>('combobox', choice);
  await waitFor(() => expect(event.value).toBe(first));
  fireEvent.click(event);
  const events = await screen.findAllByRole('option', { hidden: true });
  return events.map(({ textContent }) => textContent);
};

describe('issue 38 where billing is off', () => {
  beforeEach(() => {
    billing = 'off';
  });

  it('no event of a wallet is offered, nor chosen by itself', async () => {
    const events = await eventsOffered('Spend nears a cap');
    expect([events.length > 10, events.filter((text) => WALLET.test(text))]).toEqual([true, []]);
  });

  it('terms of an organization are its tier alone, and there is no credit to give', async () => {
    renderedAt('/o/org_1/admin/orgs', <OrgActions org={org} />);
    await waitFor(() => expect(screen.queryByRole('button', { name: /^Credit of/ })).toBeNull());
    fireEvent.click(screen.getByRole('button', { name: 'Terms of Acme' }));
    const dialog = await screen.findByRole('dialog', { hidden: true });
    expect(dialog.textContent).not.toMatch(WALLET);
    fireEvent.click(within(dialog).getByRole('combobox', { name: 'Tier', hidden: true }));
    fireEvent.click(await screen.findByRole('option', { name: 'platform', hidden: true }));
    fireEvent.click(within(dialog).getByText('Save'));
    await waitFor(() => expect(PATCH.mock.calls[0]?.[1].body).toEqual({ tier: 'platform' }));
  });

  it('a new organization has no balance of its own, and no letter leads to a page that is not there', async () => {
    renderedAt('/o/org_1/usage', <CreateOrg onClose={nothing} />);
    await screen.findByText(/^It has its own keys, members/);
    cleanup();
    const pages = [{ path: '', title: 'Home' }] as Page[];
    const help = (
      <PagesContext value={pages}>
        <KeyboardHelp onClose={nothing} />
      </PagesContext>
    );
    renderedAt('/o/org_1/usage', help);
    expect((await screen.findByRole('table', { hidden: true })).textContent).toMatch(/Home.*This list/);
    expect(document.body.textContent).not.toMatch(WALLET);
  });
});

it('where there are balances their events, terms and credit are there', async () => {
  billing = 'prepaid';
  expect(await eventsOffered('Balance is low')).toContain('Payment failed');
  cleanup();
  renderedAt('/o/org_1/admin/orgs', <OrgActions org={org} />);
  expect(await screen.findByRole('button', { name: 'Credit of Acme' })).toBeTruthy();
});
