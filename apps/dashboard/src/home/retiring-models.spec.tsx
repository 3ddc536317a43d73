/** @jest-environment jsdom */
import { jest } from '@jest/globals';
import { cleanup, screen, waitFor } from '@testing-library/react';
import { renderedAt } from '../shell/rendered.fixture.js';

const NOW = Date.parse('2026-12-01T10:00:00Z');
const pricing = (prompt: string, completion: string): object => ({
  prompt_usd_per_1m: prompt,
  completion_usd_per_1m: completion,
});
const MODELS = [
  { id: 'acme/later', retires_at: '2026-12-20', successor: null, pricing: pricing('1', '1') },
  { id: 'acme/old', retires_at: '2026-12-11', successor: 'acme/new', pricing: pricing('2', '10') },
  { id: 'acme/unused', retires_at: '2026-12-12', successor: null, pricing: pricing('1', '1') },
];
let used: Record<string, { requests: number }> = {};
const asked: { path: string; query?: unknown; body?: unknown }[] = [];

const GET = jest.fn((path: string, { params }: { params?: { query?: unknown } } = {}) => {
  asked.push({ path, query: params?.query });
  if (path === '/v1/orgs')
    return Promise.resolve({ data: { data: [{ id: 'org_1', name: 'Lumen Retail' }] } });
  if (path === '/v1/models/search') return Promise.resolve({ data: { data: MODELS } });
  if (path === '/v1/models/{brand}/{name}') return Promise.resolve({ data: { pricing: pricing('1', '15') } });
  return new Promise(() => undefined);
});
const POST = jest.fn((path: string, { body }: { body: unknown }) => {
  asked.push({ path, body });
  return Promise.resolve({ data: { totals: used } });
});
jest.unstable_mockModule('../api/call.js', () => ({
  api: { GET, POST },
  bodyOf: async (call: Promise<{ data: unknown }>) => (await call).data,
}));
jest.unstable_mockModule('../api/session.js', () => ({ useSession: () => ({ state: 'out' }) }));
const { RetiringModels } = await import('./retiring-models.js');

describe('issue 37 the banner of models that are retired', () => {
  beforeEach(() => {
    jest.spyOn(Date, 'now').mockReturnValue(NOW);
    asked.length = 0;
  });
  afterEach(cleanup);

  it('names those that were used, the next first, with successor and price difference', async () => {
    used = { 'acme/later': { requests: 1 }, 'acme/old': { requests: 3 } };
    renderedAt('/o/org_1/home', <RetiringModels org="org_1" />);
    await screen.findByText('2 models that you use are retired soon');
    await screen.findByText(/input costs 50% less, output costs 50% more/);
    const lines = [...document.querySelectorAll('.mantine-Alert-message p')].map((line) => line.textContent);
    expect(lines).toEqual([
      'acme/old: no provider serves it from 2026-12-11 on. Its maker names acme/new in its place: input costs 50% less, output costs 50% more.',
      'acme/later: no provider serves it from 2026-12-20 on. No successor is known.',
    ]);
    expect(asked).toContainEqual({
      path: '/v1/models/search',
      query: { retires_before: '2027-01-01', limit: 20 },
    });
    expect(asked).toContainEqual({
      path: '/v1/usage/series',
      body: {
        org_id: 'org_1',
        since: '2026-11-01T10:00:00.000Z',
        granularity: 'day',
        group_by: 'model',
        top: 20,
        model: MODELS.map(({ id }) => id),
        status: ['success'],
      },
    });
  });

  it('is not there where none of them was used', async () => {
    used = {};
    renderedAt('/o/org_1/home', <RetiringModels org="org_1" />);
    await waitFor(() => expect(asked.map(({ path }) => path)).toContain('/v1/usage/series'));
    expect(screen.queryByText(/retired/)).toBeNull();
  });
});
