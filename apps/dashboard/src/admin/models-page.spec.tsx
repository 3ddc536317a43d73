/** @jest-environment jsdom */
import { jest } from '@jest/globals';
import { cleanup, fireEvent, screen, waitFor, within } from '@testing-library/react';
import { renderedAt } from '../shell/rendered.fixture.js';

const WINDOW = { name: 'peak', hours_utc: ['01:00-04:00'], prices: { prompt_usd_per_1m: '4' } };
const route = (more: object) => ({
  ...{ provider: 'harbor', upstream_model: 'swift', dialect: 'chat', price_layer: 'feed' },
  price: {
    ...{ cache_read_input_usd_per_1m: '0.2', prompt_usd_per_1m: '2', completion_usd_per_1m: '3' },
    ...{ effective_date: '2026-11-01', windows: [WINDOW] },
  },
  ...more,
});
const model = (id: string, more: object) => ({
  ...{ id, is_drifted: false, edits: [], routes: [route({})] },
  availability: { status: 'ready', providers: [] },
  ...more,
});
const MODELS = [
  model('acme/swift', {}),
  model('acme/edited', { is_drifted: true, routes: [route({ price_layer: 'operator' })] }),
  model('acme/alone', { availability: { status: 'needs_credential', providers: ['azure', 'openai'] } }),
  model('acme/gone', { availability: { status: 'retired', providers: [] }, routes: [] }),
];
const answers: Record<string, unknown> = {
  '/auth/me': { user: { time_zone: null }, memberships: [], is_super_admin: true },
  '/v1/admin/models': { data: MODELS, total: 4 },
};
const asked = jest.fn();
const call = (method: string) => async (path: string, sent?: { params?: object; body?: object }) => {
  asked(method, path, sent?.params, sent?.body);
  return { data: answers[path] ?? MODELS[0] };
};
jest.unstable_mockModule('../api/call.js', () => ({
  api: { GET: call('GET'), PATCH: call('PATCH') },
  bodyOf: async (answer: Promise<{ data: unknown }>) => (await answer).data,
}));
jest.unstable_mockModule('../api/session.js', () => ({ useSession: () => ({ state: 'out' }) }));
const { default: ModelsPage } = await import('./models-page.js');

describe('the page of all models', () => {
  afterEach(() => {
    cleanup();
    asked.mockClear();
  });

  it('issue 37 says of each model whether it can be called, what it needs, and which layer its prices are of', async () => {
    renderedAt('/o/org_1/admin/catalogue/models', <ModelsPage />);
    await screen.findByText('Needs a credential of azure or openai');
    const table = within(screen.getByRole('table'));
    table.getByText('Retired');
    expect(table.getAllByText('harbor: $2 / $3 (feed)')).toHaveLength(2);
    table.getByText('harbor: $2 / $3 (operator)');
    table.getByText('has moved');
  });

  it('issue 37 a price is set whole, with the windows and rates that nobody has typed', async () => {
    renderedAt('/o/org_1/admin/catalogue/models', <ModelsPage />);
    fireEvent.click(await screen.findByRole('button', { name: 'Set the price of acme/swift at harbor' }));
    fireEvent.change(await screen.findByLabelText('prompt per 1m'), { target: { value: ' 1.5 ' } });
    fireEvent.change(screen.getByLabelText('cache read input per 1m'), { target: { value: '' } });
    fireEvent.click(screen.getByRole('button', { name: 'Save' }));
    const price = {
      ...{ prompt_usd_per_1m: '1.5', completion_usd_per_1m: '3', cache_read_input_usd_per_1m: null },
      windows: [WINDOW],
    };
    await waitFor(() =>
      expect(asked).toHaveBeenCalledWith(
        'PATCH',
        '/v1/admin/models/{brand}/{name}',
        { path: { brand: 'acme', name: 'swift' } },
        { routes: [{ provider: 'harbor', upstream_model: 'swift', price }] },
      ),
    );
  });
});
