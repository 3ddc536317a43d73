/** @jest-environment jsdom */
import { jest } from '@jest/globals';
import { cleanup, screen, waitFor, within } from '@testing-library/react';
import { renderedAt } from '../shell/rendered.fixture.js';
import type { AuditRow } from './audit.queries.js';

const row = (more: Partial<AuditRow>): AuditRow => ({
  ...{ id: 'aud_1', created_at: '2026-11-22T10:00:00.000Z', actor: 'usr_1', actor_kind: 'session' },
  ...{ actor_email: 'mara@example.com', action: 'team.update', target: 'team_1', target_type: 'team' },
  ...{ ip: '203.0.113.7', changed_fields: ['spend_cap_usd'], request_id: 'req_1', target_name: 'Search' },
  changes: [{ field: 'spend_cap_usd', before: '10', after: '25' }],
  ...more,
});
const SUSPENDED = row({
  ...{ id: 'aud_2', action: 'api_key.suspend', target: 'key_1', target_type: 'api_key' },
  ...{ changed_fields: ['status'], changes: [], target_name: 'old prototype' },
});
const asked = jest.fn();
jest.unstable_mockModule('../api/call.js', () => ({
  api: {
    GET: async (path: string, { params }: { params?: { query?: unknown } } = {}) => {
      asked(path, params?.query);
      const data = {
        '/v1/orgs/{id}/audit-log': { data: [row({}), SUSPENDED], total: 2, next_cursor: null },
        '/auth/me': { user: { time_zone: 'Europe/Berlin' }, memberships: [], is_super_admin: false },
      }[path];
      return { data };
    },
  },
  bodyOf: async (call: Promise<{ data: unknown }>) => (await call).data,
}));
jest.unstable_mockModule('../api/session.js', () => ({ useSession: () => ({ state: 'out' }) }));
const { default: AuditPage } = await import('./audit-page.js');

describe('the audit log', () => {
  afterEach(cleanup);

  it('says in words who changed what, with the name of the thing and the way to it', async () => {
    renderedAt('/o/org_1/audit', <AuditPage />);
    const table = await screen.findByRole('table', { name: 'Changes' });
    const which = await within(table).findByRole('link', { name: 'Search' });
    expect(which.getAttribute('href')).toBe('/o/org_1/teams/team_1');
    expect(within(table).getByText('Changed team')).toBeTruthy();
    expect(table.textContent).toContain('spend cap: $10.00 → $25.00');
    const key = await within(table).findByRole('link', { name: 'old prototype' });
    expect(key.getAttribute('href')).toBe('/o/org_1/keys/key_1');
    expect(within(table).getByText('Suspended API key')).toBeTruthy();
    const [who] = within(table).getAllByRole('link', { name: 'mara@example.com' });
    expect(who.getAttribute('href')).toBe('/o/org_1/audit?actor=usr_1');
  });

  it('reads the names of a page with the page, not one by one', async () => {
    asked.mockClear();
    renderedAt('/o/org_1/audit', <AuditPage />);
    await screen.findByRole('link', { name: 'old prototype' });
    const paths = new Set(asked.mock.calls.map(([path]) => path));
    expect([...paths].filter((path) => path !== '/auth/me')).toEqual(['/v1/orgs/{id}/audit-log']);
  });

  it('is asked for whole days in the zone of the person, the last one included', async () => {
    asked.mockClear();
    renderedAt('/o/org_1/audit?from=2026-11-20&to=2026-11-21&action=team.update', <AuditPage />);
    await waitFor(() =>
      expect(asked).toHaveBeenCalledWith(
        '/v1/orgs/{id}/audit-log',
        expect.objectContaining({
          action: 'team.update',
          since: '2026-11-19T23:00:00.000Z',
          until: '2026-11-21T23:00:00.000Z',
        }),
      ),
    );
  });
});
