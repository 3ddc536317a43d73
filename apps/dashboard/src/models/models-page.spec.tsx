/** @jest-environment jsdom */
import { jest } from '@jest/globals';
import { cleanup, fireEvent, screen, waitFor } from '@testing-library/react';
import { renderedAt } from '../shell/rendered.fixture.js';
import type { Model } from './models.queries.js';

const MODEL = {
  ...{ id: 'openai/gpt-5.1', name: 'GPT-5.1', model_type: 'text', context_length: 1_000 },
  ...{ is_free: false, is_available: false, pricing: {} },
} as unknown as Model;
interface Asked {
  params: { query: Record<string, unknown> };
}
let found: Model[] = [];
const GET = jest.fn(async (_path: string, _asked: Asked) => ({
  data: { data: found, total: found.length, facets: {} },
}));
jest.unstable_mockModule('../api/call.js', () => ({
  api: { GET },
  bodyOf: async (call: Promise<{ data: unknown }>) => (await call).data,
}));
jest.unstable_mockModule('../api/session.js', () => ({ useSession: () => ({ state: 'out' }) }));
const { default: ModelsPage } = await import('./models-page.js');

const lastQuery = (): Record<string, unknown> | undefined =>
  GET.mock.calls.filter(([path]) => path === '/v1/models/search').at(-1)?.[1].params.query;

describe('the list of models', () => {
  afterEach(() => {
    cleanup();
    GET.mockClear();
  });

  it('has those that can be called, and says so; the others are shown when asked for', async () => {
    const { address } = renderedAt('/o/org_1/models', <ModelsPage />);
    await screen.findByText('The models that you can call now, at the price that you pay.');
    await screen.findByText('No model that is ready to call matches this filter.');
    expect(lastQuery()).toMatchObject({ available: true });
    found = [MODEL];
    fireEvent.click(screen.getByRole('button', { name: 'Show all models' }));
    await waitFor(() => expect(address()).toBe('/o/org_1/models?state=all'));
    const add = await screen.findByRole('link', { name: 'needs a provider key' });
    expect(add.getAttribute('href')).toBe('/o/org_1/provider-keys');
    expect(lastQuery()).not.toHaveProperty('available');
  });

  it('is sorted by the server, and by nothing that it does not know', async () => {
    found = [MODEL];
    const { address } = renderedAt('/o/org_1/models?sort=colour', <ModelsPage />);
    fireEvent.click(await screen.findByRole('button', { name: 'Context' }));
    await waitFor(() => expect(address()).toContain('sort=-context_length'));
    await waitFor(() => expect(lastQuery()).toMatchObject({ sort: '-context_length' }));
    expect(GET.mock.calls[0][1].params.query).not.toHaveProperty('sort');
  });
});
