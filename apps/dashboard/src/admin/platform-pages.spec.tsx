/** @jest-environment jsdom */
import { jest } from '@jest/globals';
import { cleanup, fireEvent, screen, waitFor } from '@testing-library/react';
import * as router from '@tanstack/react-router';
import { renderedAt } from '../shell/rendered.fixture.js';

const CREDENTIAL = {
  ...{ id: 'cred_1', provider: 'openai', label: 'team 2', source: 'stored', masked_credential: 'sk-…wxyz' },
  ...{
    weight: 50,
    rpm_limit: null,
    tpm_limit: 900,
    allowed_models: null,
    base_url: null,
    is_enabled: true,
    status: 'ready',
  },
  ...{ cooldown_until: null, last_error: null, last_used_at: null, requests_24h: 12, created_by: null },
};
const OF_ENVIRONMENT = { ...CREDENTIAL, id: 'cred_env_openai', label: 'first', source: 'environment' };
const FEED = {
  ...{ url: 'https://example.com/feed', policy: 'ask', apply_below_pct: 5, every_seconds: 0, version: 7 },
  ...{ keyid: null, created_at: null, read_at: null, applied_at: null, next_read_at: null, last_error: null },
  pending: 1,
};
const CHANGE = {
  ...{ model: 'acme/swift', kind: 'changed', fields: ['context_length'] },
  prices: [
    {
      ...{ provider: 'harbor', upstream_model: 'swift', window: null, field: 'prompt_usd_per_1m' },
      ...{ from: '1', to: '2', change_pct: 100 },
    },
  ],
};
const EDIT = {
  ...{ field: 'price', provider: 'harbor', upstream_model: 'swift', layer: 'operator' },
  ...{ value: { prompt_usd_per_1m: '1.5' }, is_drifted: true, edited_at: null, edited_by: null },
  below: { layer: 'feed', value: { prompt_usd_per_1m: '2' } },
};
const answers: Record<string, unknown> = {
  '/auth/me': { user: { time_zone: null }, memberships: [], is_super_admin: true },
  '/v1/admin/providers/{slug}/credentials': { data: [OF_ENVIRONMENT, CREDENTIAL], total: 2 },
  '/v1/admin/catalogue/feed': FEED,
  '/v1/admin/catalogue/pending': { change_id: 'chg_1', version: 8, data: [CHANGE], total: 1 },
  '/v1/admin/models': { data: [{ id: 'acme/swift', edits: [EDIT] }], total: 1 },
};
const sent = jest.fn();
const call = (method: string) => async (path: string, asked?: { params?: object; body?: object }) => {
  if (method !== 'GET') sent(method, path, asked?.params, asked?.body);
  return { data: answers[path] ?? { applied: [], pending: [] } };
};
jest.unstable_mockModule('../api/call.js', () => ({
  api: { GET: call('GET'), POST: call('POST'), PATCH: call('PATCH'), DELETE: call('DELETE') },
  bodyOf: async (answer: Promise<{ data: unknown }>) => (await answer).data,
}));
jest.unstable_mockModule('../api/session.js', () => ({ useSession: () => ({ state: 'out' }) }));
jest.unstable_mockModule('@tanstack/react-router', () => ({
  ...router,
  useParams: () => ({ org: 'org_1', slug: 'openai' }),
}));
const { default: CredentialsPage } = await import('./credentials-page.js');
const { default: FeedPage } = await import('./feed-page.js');
const { default: EditsPage } = await import('./edits-page.js');

const CREDENTIALS = '/v1/admin/providers/{slug}/credentials';
const ONE = { path: { slug: 'openai', id: 'cred_1' } };

describe('the platform’s own pages', () => {
  afterEach(() => {
    cleanup();
    sent.mockClear();
  });

  async function choose(item: string): Promise<void> {
    fireEvent.click(await screen.findByRole('button', { name: 'Change team 2' }));
    fireEvent.click(await screen.findByRole('menuitem', { name: item }));
  }

  it('a credential of the platform is renamed and weighted, paused, rotated, tested and removed', async () => {
    renderedAt('/o/org_1/admin/providers/openai', <CredentialsPage />);
    await choose('Label, weight and limits');
    fireEvent.change(await screen.findByLabelText('Weight'), { target: { value: '20' } });
    fireEvent.change(screen.getByLabelText('Requests a minute'), { target: { value: '60' } });
    fireEvent.click(screen.getByRole('button', { name: 'Save' }));
    const body = { label: 'team 2', weight: 20, rpm_limit: 60 };
    await waitFor(() => expect(sent).toHaveBeenCalledWith('PATCH', `${CREDENTIALS}/{id}`, ONE, body));
    await choose('Pause');
    await waitFor(() =>
      expect(sent).toHaveBeenCalledWith('PATCH', `${CREDENTIALS}/{id}`, ONE, { is_enabled: false }),
    );
    await choose('Rotate');
    fireEvent.change(await screen.findByLabelText('API key'), { target: { value: ' sk-new ' } });
    fireEvent.click(screen.getByRole('button', { name: 'Rotate' }));
    const rotated = { credentials: { api_key: 'sk-new' } };
    await waitFor(() =>
      expect(sent).toHaveBeenCalledWith('POST', `${CREDENTIALS}/{id}/rotate`, ONE, rotated),
    );
    await choose('Remove');
    fireEvent.click(await screen.findByRole('button', { name: 'Remove' }));
    await waitFor(() => expect(sent).toHaveBeenCalledWith('DELETE', `${CREDENTIALS}/{id}`, ONE, undefined));
  });

  it('that of the environment is neither rotated nor removed', async () => {
    renderedAt('/o/org_1/admin/providers/openai', <CredentialsPage />);
    fireEvent.click(await screen.findByRole('button', { name: 'Change first' }));
    await screen.findByRole('menuitem', { name: 'Pause' });
    expect(screen.queryByRole('menuitem', { name: 'Rotate' })).toBeNull();
    expect(screen.queryByRole('menuitem', { name: 'Remove' })).toBeNull();
  });

  it('changes of the feed that wait are applied by model, or all of them', async () => {
    renderedAt('/o/org_1/admin/catalogue/feed', <FeedPage />);
    await screen.findByText('harbor: prompt usd per 1m 1 → 2 (+100 %)');
    fireEvent.click(screen.getByRole('checkbox', { name: 'Choose acme/swift' }));
    fireEvent.click(screen.getByRole('button', { name: 'Apply 1' }));
    const one = { change_id: 'chg_1', models: ['acme/swift'] };
    await waitFor(() =>
      expect(sent).toHaveBeenCalledWith('POST', '/v1/admin/catalogue/pending/apply', undefined, one),
    );
    fireEvent.click(await screen.findByRole('button', { name: 'Dismiss all 1' }));
    await waitFor(() =>
      expect(sent).toHaveBeenCalledWith('POST', '/v1/admin/catalogue/pending/dismiss', undefined, {
        change_id: 'chg_1',
      }),
    );
  });

  it('an edit shows what lies below it, and follows that again', async () => {
    renderedAt('/o/org_1/admin/catalogue/edits', <EditsPage />);
    await screen.findByText('prompt usd per 1m 2 (feed)');
    await screen.findByText('has moved');
    fireEvent.click(screen.getByRole('button', { name: 'Follow again: price of acme/swift' }));
    await waitFor(() =>
      expect(sent).toHaveBeenCalledWith(
        'DELETE',
        '/v1/admin/models/{brand}/{name}/edits',
        {
          path: { brand: 'acme', name: 'swift' },
          query: { field: 'price', provider: 'harbor', upstream_model: 'swift' },
        },
        undefined,
      ),
    );
  });
});
