/** @jest-environment jsdom */
import { jest } from '@jest/globals';
import { cleanup, fireEvent, screen, waitFor } from '@testing-library/react';
import { renderedAt } from '../shell/rendered.fixture.js';

const MEMBER = {
  ...{ org_id: 'org_1', user_id: 'usr_1', email: 'mara@example.com', name: 'Mara', role: 'owner', teams: [] },
  ...{ spend_cap_usd: null, created_at: '2026-11-01T00:00:00.000Z' },
};
const TEAM = {
  ...{ id: 'team_1', org_id: 'org_1', name: 'Search', rpm_limit: null, spend_cap_usd: null },
  created_at: '2026-11-01T00:00:00.000Z',
};
interface Asked {
  params: { query: Record<string, unknown> };
}
const GET = jest.fn(async (path: string, _asked?: Asked) => {
  if (path === '/v1/orgs/{id}/members') return { data: { data: [MEMBER], total: 1 } };
  if (path === '/v1/orgs/{id}/teams') return { data: { data: [TEAM], total: 1 } };
  if (path === '/v1/orgs') return { data: { data: [{ id: 'org_1', name: 'Lumen Retail' }] } };
  if (path !== '/auth/me') return { data: { data: [], total: 0 } };
  const memberships = [{ org_id: 'org_1', role: 'owner', teams: [] }];
  return { data: { user: { id: 'usr_1', time_zone: null }, memberships, is_super_admin: false } };
});
jest.unstable_mockModule('../api/call.js', () => ({
  api: { GET },
  bodyOf: async (call: Promise<{ data: unknown }>) => (await call).data,
}));
jest.unstable_mockModule('../api/session.js', () => ({ useSession: () => ({ state: 'out' }) }));
const { default: MembersPage } = await import('./members-page.js');
const { default: TeamsPage } = await import('../teams/teams-page.js');

describe('members and teams', () => {
  afterEach(cleanup);

  it.each([
    ['/v1/orgs/{id}/members', <MembersPage key="members" />, 'Person', '-name'],
    ['/v1/orgs/{id}/members', <MembersPage key="members" />, 'Cap, 30 days', '-spend_cap_usd'],
    ['/v1/orgs/{id}/teams', <TeamsPage key="teams" />, 'Team', '-name'],
    ['/v1/orgs/{id}/teams', <TeamsPage key="teams" />, 'Since', '-created_at'],
  ])('%s is sorted by the server, in the order that the address names', async (path, page, head, sort) => {
    const { address } = renderedAt('/o/org_1/list', page);
    fireEvent.click(await screen.findByRole('button', { name: head }));
    await waitFor(() => expect(address()).toBe(`/o/org_1/list?sort=${sort}`));
    const lastQuery = () => GET.mock.calls.filter(([asked]) => asked === path).at(-1)?.[1]?.params.query;
    await waitFor(() => expect(lastQuery()).toMatchObject({ sort }));
  });
});
