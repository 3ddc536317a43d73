/** @jest-environment jsdom */
import { jest } from '@jest/globals';
import { cleanup, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { renderedAt } from '../shell/rendered.fixture.js';

const KEY = {
  ...{ id: 'key_1', label: 'staging', masked_key: 'rsk_ab12...wxyz', status: 'active', created_by: 'usr_1' },
  ...{ spent_usd: '1', spend_cap_usd: null, last_used_at: null, expires_at: null },
  ...{ team_id: null, rpm_limit: null },
};
const CAPPED = {
  ...{ ...KEY, id: 'key_2', label: 'search-api production', team_id: 'team_1', rpm_limit: 1_200 },
  ...{ spent_usd: '4.1', spend_cap_usd: '5' },
};
interface Asked {
  params: { query: Record<string, unknown> };
}
const GET = jest.fn(async (path: string, _asked?: Asked) => {
  if (path === '/v1/keys') return { data: { data: [KEY, CAPPED], total: 2 } };
  return {
    data: {
      members: [],
      teams: [{ id: 'team_1', name: 'Search' }],
      data: [],
      memberships: [],
      user: { time_zone: null },
    },
  };
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

  it('says the team, the rate and the share of the cap, and leads to the requests of a key', async () => {
    renderedAt('/o/org_1/keys', <KeysPage />);
    const row = (await screen.findByRole('link', { name: 'search-api production' })).closest('tr')!;
    await within(row).findByText('Search');
    within(row).getByText('1,200');
    expect(within(row).getByRole('progressbar', { name: '82% of the cap' })).toBeTruthy();
    // The other has no cap, and so nothing to fill.
    expect(screen.getAllByRole('progressbar')).toHaveLength(1);
    fireEvent.click(await within(row).findByRole('button', { name: 'More about search-api production' }));
    const requests = await screen.findByRole('menuitem', { name: 'Requests' });
    expect(requests.getAttribute('href')).toBe('/o/org_1/requests?key_id=key_2');
  });
});
