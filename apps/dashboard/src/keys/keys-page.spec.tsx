/** @jest-environment jsdom */
import { jest } from '@jest/globals';
import { cleanup, fireEvent, screen, waitFor } from '@testing-library/react';
import { renderedAt } from '../shell/rendered.fixture.js';

const KEY = {
  ...{ id: 'key_1', label: 'staging', masked_key: 'rsk_ab12...wxyz', status: 'active', created_by: 'usr_1' },
  ...{ spent_usd: '1', spend_cap_usd: null, last_used_at: null, expires_at: null },
};
interface Asked {
  params: { query: Record<string, unknown> };
}
const GET = jest.fn(async (path: string, _asked?: Asked) => {
  if (path === '/v1/keys') return { data: { data: [KEY], total: 1 } };
  return { data: { members: [], teams: [], data: [], memberships: [], user: { time_zone: null } } };
});
jest.unstable_mockModule('../api/call.js', () => ({
  api: { GET },
  bodyOf: async (call: Promise<{ data: unknown }>) => (await call).data,
}));
jest.unstable_mockModule('../api/session.js', () => ({ useSession: () => ({ state: 'out' }) }));
const { default: KeysPage } = await import('./keys-page.js');

describe('the list of keys', () => {
  afterEach(cleanup);

  it('is sorted by the server, in the order that the address names', async () => {
    const { address } = renderedAt('/o/org_1/keys?page=2', <KeysPage />);
    fireEvent.click(await screen.findByRole('button', { name: 'Last used' }));
    // Another order begins at its first page.
    await waitFor(() => expect(address()).toBe('/o/org_1/keys?sort=-last_used_at'));
    const lastQuery = () => GET.mock.calls.filter(([path]) => path === '/v1/keys').at(-1)?.[1]?.params.query;
    await waitFor(() => expect(lastQuery()).toMatchObject({ sort: '-last_used_at', offset: 0 }));
    const head = await screen.findByRole('columnheader', { name: 'Last used' });
    expect(head.getAttribute('aria-sort')).toBe('descending');
  });
});
