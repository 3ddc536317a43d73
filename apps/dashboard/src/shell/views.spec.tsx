/** @jest-environment jsdom */
import { jest } from '@jest/globals';
import { cleanup, fireEvent, screen, waitFor } from '@testing-library/react';
import { renderedAt } from './rendered.fixture.js';
import type { SharedView } from './views.queries.js';

let views: SharedView[];
const view = (name: string, created_by: string): SharedView => ({
  ...{ id: `view_${name}`, org_id: 'org_1', page: '/usage', name, search: { by: 'team' }, created_by },
  ...{ created_at: '2026-11-22T10:00:00.000Z', updated_at: '2026-11-22T10:00:00.000Z' },
});
const written = jest.fn();
const write = (method: string) => async (path: string, sent: unknown) => {
  written(method, path, sent);
  return { data: undefined };
};
jest.unstable_mockModule('../api/call.js', () => ({
  api: {
    GET: async (path: string) => ({
      data: {
        '/v1/orgs/{id}/views': { data: views, total: views.length },
        '/auth/me': {
          user: { id: 'usr_me', time_zone: null },
          memberships: [{ org_id: 'org_1', role: 'member', teams: [] }],
          is_super_admin: false,
        },
      }[path],
    }),
    POST: write('POST'),
    PATCH: write('PATCH'),
    DELETE: write('DELETE'),
  },
  bodyOf: async (call: Promise<{ data: unknown }>) => (await call).data,
}));
jest.unstable_mockModule('../api/session.js', () => ({ useSession: () => ({ state: 'out' }) }));
const { Views } = await import('./views.js');

const keepAs = (name: string): void => {
  fireEvent.change(screen.getByLabelText(/Keep what is shown as/), { target: { value: name } });
  fireEvent.click(screen.getByRole('button', { name: 'Keep' }));
};
const open = async (at: string): Promise<void> => {
  renderedAt(at, <Views page="/usage" />);
  fireEvent.click(await screen.findByRole('button', { name: 'Views' }));
};

describe('views', () => {
  beforeEach(() => {
    views = [view('Theirs', 'usr_other'), view('Mine', 'usr_me')];
    written.mockClear();
    localStorage.clear();
  });
  afterEach(cleanup);

  it('issue 41 of the organization are shown to each member, who deletes their own alone', async () => {
    await open('/o/org_1/usage');
    await screen.findByRole('button', { name: 'Theirs' });
    await screen.findByRole('button', { name: 'Delete the view Mine' });
    expect(screen.queryByRole('button', { name: 'Delete the view Theirs' })).toBeNull();
    fireEvent.click(screen.getByRole('button', { name: 'Delete the view Mine' }));
    const params = { path: { id: 'org_1', view_id: 'view_Mine' } };
    await waitFor(() =>
      expect(written).toHaveBeenCalledWith('DELETE', '/v1/orgs/{id}/views/{view_id}', { params }),
    );
  });

  it('keep what the address shows for all; one of the same name shows it from then on', async () => {
    await open('/o/org_1/usage?by=key&range=7d');
    await screen.findByRole('button', { name: 'Theirs' });
    keepAs('New one');
    const search = { by: 'key', range: '7d' };
    await waitFor(() =>
      expect(written).toHaveBeenCalledWith('POST', '/v1/orgs/{id}/views', {
        params: { path: { id: 'org_1' } },
        body: { page: '/usage', name: 'New one', search },
      }),
    );
    await waitFor(() => {
      keepAs('Mine');
      expect(written).toHaveBeenCalledWith('PATCH', '/v1/orgs/{id}/views/{view_id}', {
        params: { path: { id: 'org_1', view_id: 'view_Mine' } },
        body: { search },
      });
    });
  });

  it('that a browser has kept before are still there, and are shared by one press', async () => {
    localStorage.setItem('views /o/org_1/usage', JSON.stringify([{ name: 'Old', search: { by: 'tag' } }]));
    await open('/o/org_1/usage');
    fireEvent.click(await screen.findByRole('button', { name: 'Share the view Old' }));
    await waitFor(() => expect(screen.queryByRole('button', { name: 'Old' })).toBeNull());
    expect(written).toHaveBeenCalledWith('POST', '/v1/orgs/{id}/views', {
      params: { path: { id: 'org_1' } },
      body: { page: '/usage', name: 'Old', search: { by: 'tag' } },
    });
    expect(localStorage.getItem('views /o/org_1/usage')).toBe('[]');
  });

  it('of an account without an organization stay in the browser', async () => {
    await open('/o/me/usage?by=key');
    await screen.findByLabelText(/Keep what is shown as/);
    keepAs('Own');
    await screen.findByRole('button', { name: 'Own' });
    expect(written).not.toHaveBeenCalled();
  });
});
