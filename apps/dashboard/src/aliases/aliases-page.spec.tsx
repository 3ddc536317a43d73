/** @jest-environment jsdom */
import { jest } from '@jest/globals';
import { cleanup, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { renderedAt } from '../shell/rendered.fixture.js';
import type { Alias } from './aliases.queries.js';

const ALIAS: Alias = {
  ...{ id: 'als_1', org_id: 'org_1', name: 'fast', description: null, is_enabled: true, shadow: null },
  targets: [
    { model: 'acme/one', weight: 95 },
    { model: 'acme/two', weight: 5 },
  ],
  ...{ created_by: null, created_at: '2026-11-01T00:00:00.000Z', updated_at: '2026-11-01T00:00:00.000Z' },
};
let role = 'owner';
let isSuperAdmin = false;
const TOTALS = {
  ...{ requests: 7, errors: 0, latency_ms: 420, ttft_ms: null },
  ...{ prompt_tokens: 70, completion_tokens: 35, cost_usd: '0.5' },
};
const sent = jest.fn();
const send =
  (verb: string) =>
  async (path: string, { body }: { body?: unknown }): Promise<{ data: unknown }> => {
    sent(verb, path, body);
    return { data: ALIAS };
  };
jest.unstable_mockModule('../api/call.js', () => ({
  api: {
    POST: send('POST'),
    PATCH: send('PATCH'),
    DELETE: send('DELETE'),
    GET: async (path: string) => ({
      data: {
        '/v1/aliases': { data: [ALIAS], total: 1, limit: 50, offset: 0 },
        '/v1/admin/aliases/{id}/shadow': {
          totals: { primary: TOTALS, shadow: { ...TOTALS, errors: 3 } },
        },
        '/v1/models/search': { data: [{ id: 'acme/one' }, { id: 'acme/three' }], total: 2 },
        '/auth/me': {
          user: { time_zone: null },
          memberships: [{ org_id: 'org_1', role, teams: [] }],
          is_super_admin: isSuperAdmin,
        },
      }[path],
    }),
  },
  bodyOf: async (call: Promise<{ data: unknown }>) => (await call).data,
}));
jest.unstable_mockModule('../api/session.js', () => ({ useSession: () => ({ state: 'out' }) }));
const { default: AliasesPage } = await import('./aliases-page.js');

describe('aliases', () => {
  beforeEach(() => {
    sent.mockClear();
    role = 'owner';
    isSuperAdmin = false;
  });
  afterEach(cleanup);

  const choose = async (item: string): Promise<void> => {
    fireEvent.click(await screen.findByRole('button', { name: 'Change fast' }));
    fireEvent.click(await screen.findByRole('menuitem', { name: item }));
  };

  it('show the models behind a name with their shares of the requests', async () => {
    renderedAt('/o/org_1/aliases', <AliasesPage />);
    const table = await screen.findByRole('table', { name: 'Aliases' });
    expect(table.textContent).toContain('acme/one 95%');
    const links = within(table).getAllByRole('link');
    expect(links.map((link) => link.getAttribute('href'))).toEqual([
      '/o/org_1/models/acme/one',
      '/o/org_1/models/acme/two',
    ]);
  });

  it('move requests to another model by its weight', async () => {
    renderedAt('/o/org_1/aliases', <AliasesPage />);
    await choose('Edit');
    fireEvent.change(await screen.findByLabelText('Weight 2'), { target: { value: '20' } });
    fireEvent.click(screen.getByRole('button', { name: 'Save' }));
    const targets = [ALIAS.targets[0], { model: 'acme/two', weight: 20 }];
    const body = { name: 'fast', description: null, targets };
    await waitFor(() => expect(sent).toHaveBeenCalledWith('PATCH', '/v1/aliases/{id}', body));
  });

  it('are paused without a question, and deleted after one', async () => {
    renderedAt('/o/org_1/aliases', <AliasesPage />);
    await choose('Pause');
    await waitFor(() =>
      expect(sent).toHaveBeenCalledWith('PATCH', '/v1/aliases/{id}', { is_enabled: false }),
    );
    await choose('Delete');
    fireEvent.click(await screen.findByRole('button', { name: 'Delete' }));
    await waitFor(() => expect(sent).toHaveBeenCalledWith('DELETE', '/v1/aliases/{id}', undefined));
  });

  it('have a shadow that super admins set, beside what it has shown', async () => {
    isSuperAdmin = true;
    renderedAt('/o/org_1/aliases', <AliasesPage />);
    fireEvent.click(await screen.findByRole('button', { name: 'Shadow of fast' }));
    const table = await screen.findByRole('table', { name: 'Comparison' });
    const [, answers, shadow] = within(table).getAllByRole('row');
    expect([answers.textContent, shadow.textContent]).toEqual([
      expect.stringMatching(/^Answers70420 ms/),
      expect.stringMatching(/^Shadow73420 ms/),
    ]);
    fireEvent.click(screen.getByLabelText('Second model', { selector: 'input' }));
    fireEvent.click(await screen.findByRole('option', { name: 'acme/three' }));
    fireEvent.change(screen.getByLabelText('Percent of requests'), { target: { value: '2.5' } });
    fireEvent.click(screen.getByRole('button', { name: 'Save' }));
    const body = { shadow: { model: 'acme/three', sample_pct: 2.5 } };
    await waitFor(() => expect(sent).toHaveBeenCalledWith('PATCH', '/v1/admin/aliases/{id}', body));
  });

  it('have no shadow to set for owners', async () => {
    renderedAt('/o/org_1/aliases', <AliasesPage />);
    await screen.findByRole('table', { name: 'Aliases' });
    expect(screen.queryByRole('button', { name: 'Shadow of fast' })).toBeNull();
  });

  it('are shown to members, who do not change them', async () => {
    role = 'member';
    renderedAt('/o/org_1/aliases?create=yes', <AliasesPage />);
    await screen.findByRole('table', { name: 'Aliases' });
    expect(screen.queryByRole('button', { name: 'Create alias' })).toBeNull();
    expect(screen.queryByRole('button', { name: 'Change fast' })).toBeNull();
  });
});
