/** @jest-environment jsdom */
import { jest } from '@jest/globals';
import { cleanup, screen, within } from '@testing-library/react';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Role } from '../session/rights.js';
import type { Page } from './pages.js';
import { renderedAt } from './rendered.fixture.js';

const ME = { user: { time_zone: null }, memberships: [], is_super_admin: false };
jest.unstable_mockModule('../api/call.js', () => ({
  api: { GET: async () => ({ data: ME }) },
  bodyOf: async (call: Promise<{ data: unknown }>) => (await call).data,
}));
jest.unstable_mockModule('../api/session.js', () => ({ useSession: () => ({ state: 'out' }) }));
const { Navigation } = await import('./navigation.js');
const { SectionTabs } = await import('./section-tabs.js');
const { PagesContext } = await import('./pages.js');

const SRC = join(import.meta.dirname, '..');
const routes = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('.routes.tsx'),
);
const pages: Page[] = [];
for (const file of routes)
  pages.push(...((await import(join(SRC, file))) as { pages: readonly Page[] }).pages);

function shown(address: string, roles: readonly Role[]): void {
  renderedAt(
    address,
    <PagesContext value={pages}>
      <div data-testid="menu">
        <Navigation roles={roles} />
      </div>
      <SectionTabs roles={roles} />
    </PagesContext>,
  );
}

async function namesIn(): Promise<string[]> {
  const menu = await screen.findByTestId('menu');
  const links = await within(menu).findAllByRole('link');
  return links.map(({ textContent }) => textContent);
}

describe('the menu', () => {
  afterEach(cleanup);

  it('has ten entries for an owner; the platform is one link for a super admin', async () => {
    shown('/o/org_1/usage', ['owner', 'super']);
    expect(await namesIn()).toEqual([
      ...['Home', 'Playground', 'Models', 'API keys', 'Usage', 'Requests', 'Budgets', 'Billing'],
      ...['Members', 'Settings', 'Platform admin'],
    ]);
    expect(screen.getByRole('link', { name: 'Usage' }).getAttribute('aria-current')).toBe('page');
  });

  it('shows a member what they may open, an entry by the first page of theirs', async () => {
    shown('/o/org_1/usage', ['member']);
    expect(await namesIn()).toEqual([
      ...['Home', 'Playground', 'Models', 'API keys', 'Usage', 'Requests', 'Limits', 'Billing'],
      ...['Members', 'Notifications'],
    ]);
  });

  it('shows the platform in a menu of its own, with the way back', async () => {
    shown('/o/org_1/admin/providers', ['owner', 'super']);
    expect(await namesIn()).toEqual([
      ...['Back to the organization', 'Providers', 'Catalogue', 'Organizations', 'Coupons', 'Ledger check'],
    ]);
  });

  it('has the other pages of an entry as tabs, also above a page of one of them', async () => {
    shown('/o/org_1/teams/team_1', ['owner']);
    const tabs = within(await screen.findByRole('navigation', { name: 'Section' })).getAllByRole('link');
    expect(tabs.map(({ textContent }) => textContent)).toEqual(['Members', 'Teams']);
    expect(tabs[1].getAttribute('aria-current')).toBe('page');
  });

  it('leads to every page that is not below another one', () => {
    const without = pages.filter(({ nav, path }) => !nav && !path.includes('$')).map(({ path }) => path);
    expect(without.sort()).toEqual([
      '/account',
      '/alerts/deliveries',
      '/alerts/verify',
      '/models/compare',
      '/start',
    ]);
  });
});
