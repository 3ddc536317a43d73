/** @jest-environment jsdom */
import { jest } from '@jest/globals';
import { cleanup, fireEvent, screen, waitFor } from '@testing-library/react';
import { Problem } from '../api/problem.js';
import { renderedAt } from '../shell/rendered.fixture.js';

const TEAM = { id: 'team_1', org_id: 'org_1', name: 'Search', spend_cap_usd: '100', rpm_limit: 60 };
const KEY = {
  ...{ id: 'key_1', label: 'staging', masked_key: 'rsk_ab12...wxyz', status: 'active', spent_usd: '3' },
  ...{ spend_cap_usd: null, last_used_at: null },
};
const answers: Record<string, () => unknown> = {
  '/auth/me': () => ({
    user: { time_zone: null },
    memberships: [{ org_id: 'org_1', role: 'owner', teams: [] }],
    is_super_admin: false,
  }),
  '/v1/orgs': () => ({ data: [{ id: 'org_1', name: 'Lumen Retail' }] }),
  '/v1/teams/{id}': () => TEAM,
  '/v1/teams/{id}/members': () => ({ data: [], total: 0 }),
  '/v1/orgs/{id}/members': () => ({ data: [], total: 0 }),
  '/v1/keys': () => ({ data: [KEY], total: 1 }),
  '/v1/usage/series': () => ({ total: { cost_usd: '12.5' } }),
};
const read = jest.fn(async (path: string, _asked?: unknown) => ({ data: await answers[path]?.() }));
const PATCH = jest.fn(async (_path: string, _asked: { body: object }) => ({ data: TEAM }));
const DELETE = jest.fn(async (): Promise<unknown> => {
  throw new Problem({ status: 409, code: 'conflict', message: 'An active key is of this team.' });
});
jest.unstable_mockModule('../api/call.js', () => ({
  api: { GET: read, POST: read, PATCH, DELETE },
  bodyOf: async (call: Promise<{ data: unknown }>) => (await call).data,
}));
jest.unstable_mockModule('../api/session.js', () => ({ useSession: () => ({ state: 'out' }) }));
const { default: TeamPage } = await import('./team-page.js');

describe('the page of a team', () => {
  afterEach(cleanup);

  it('has its spend beside its cap, and its keys', async () => {
    renderedAt('/o/org_1/teams/team_1', <TeamPage />);
    await screen.findByText('$12.50');
    await screen.findByText('$100.00');
    const key = await screen.findByRole('link', { name: 'staging' });
    expect(key.getAttribute('href')).toBe('/o/org_1/keys/key_1');
    const bodies = read.mock.calls.map(([path, asked]) => [path, asked]);
    expect(bodies).toContainEqual([
      '/v1/keys',
      { params: { query: { org_id: 'org_1', team_id: 'team_1', sort: '-last_used_at', limit: 50 } } },
    ]);
    expect(screen.getByRole('link', { name: 'Usage' }).getAttribute('href')).toBe(
      '/o/org_1/usage?team_id=team_1&range=30d',
    );
  });

  it('is renamed', async () => {
    renderedAt('/o/org_1/teams/team_1', <TeamPage />);
    fireEvent.change(await screen.findByRole('textbox', { name: /^Name/ }), {
      target: { value: 'Discovery' },
    });
    fireEvent.click(screen.getByRole('button', { name: 'Save' }));
    await waitFor(() => expect(PATCH.mock.calls[0]?.[1].body).toMatchObject({ name: 'Discovery' }));
  });

  it('is deleted once that was confirmed; with an active key it stays, and the page says why', async () => {
    const { address } = renderedAt('/o/org_1/teams/team_1', <TeamPage />);
    fireEvent.click(await screen.findByRole('button', { name: 'Delete' }));
    expect(DELETE).not.toHaveBeenCalled();
    fireEvent.click(await screen.findByRole('button', { name: 'Delete the team' }));
    await screen.findByText('An active key is of this team.');
    expect(address()).toBe('/o/org_1/teams/team_1');
    DELETE.mockImplementation(async () => ({ data: {} }));
    fireEvent.click(screen.getByRole('button', { name: 'Delete the team' }));
    await waitFor(() => expect(address()).toBe('/o/org_1/teams'));
  });
});
