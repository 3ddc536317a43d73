/** @jest-environment jsdom */
import { jest } from '@jest/globals';
import { QueryClientProvider } from '@tanstack/react-query';
import { act, cleanup, fireEvent, screen, within } from '@testing-library/react';
import { Problem } from '../api/problem.js';
import { newQueryClient } from '../api/query-client.js';
import { renderedAt } from '../shell/rendered.fixture.js';

const HOURS = ['08', '09', '10', '11'];
const statusesOf = (served: number, failed: number) => ({
  ...(served > 0 && { success: { requests: served } }),
  ...(failed > 0 && { error: { requests: failed } }),
});
const SERIES = {
  granularity: 'hour',
  time_zone: 'UTC',
  since: '2026-11-22T08:20:00.000Z',
  until: '2026-11-22T11:40:00.001Z',
  groups: [
    { id: 'error', label: null },
    { id: 'success', label: null },
  ],
  buckets: HOURS.map((hour, at) => ({
    start: `2026-11-22T${hour}:00:00.000Z`,
    values: statusesOf(at * 1_000, at === 2 ? 5 : 0),
  })),
  as_of: '2026-11-22T11:40:00.000Z',
};
const EVENT = {
  id: 'use_1',
  request_id: 'req_1',
  model: 'acme/swift',
  status: 'success',
  prompt_tokens: 1,
  completion_tokens: 1,
  latency_ms: 1,
  cost_usd: '0.1',
  created_at: '2026-11-22T11:30:00.000Z',
  request_tags: {},
};
const REJECTION = {
  ...{ request_id: 'req_9', created_at: '2026-11-22T11:30:00.000Z', endpoint: '/v1/chat/completions' },
  ...{ model: 'acme/swift', status: 403, code: 'model_excluded', message: 'Atlas 4 is not allowed.' },
  ...{ scope: null, scope_id: null, team_id: null, key_id: 'key_9', limit_type: null, money: null },
  ...{ budget_id: null, count: 2 },
};
const REJECTIONS = {
  ...{ total: 2, limit: 100, offset: 0 },
  rejections: [REJECTION, { ...REJECTION, request_id: 'req_8', count: 3 }],
};
const EVENTS = { events: [EVENT], total: 1, limit: 100, offset: 0, next_cursor: null };

let series: () => unknown;
let listed: object;
const POST = jest.fn(async (path: string, _call: { body: object }) => ({
  data: path === '/v1/usage/events' ? listed : path === '/v1/usage/rejections' ? { ...REJECTIONS } : series(),
}));
const GET = jest.fn((path: string) =>
  path === '/v1/keys/{id}'
    ? Promise.resolve({ data: { label: 'eval-suite' } })
    : new Promise(() => undefined),
);
jest.unstable_mockModule('../api/call.js', () => ({
  api: { GET, POST },
  bodyOf: async (call: Promise<{ data: unknown }>) => (await call).data,
}));
jest.unstable_mockModule('../api/session.js', () => ({ useSession: () => ({ state: 'out' }) }));
const { default: RequestsPage } = await import('./requests-page.js');
// Lazy: it is there before the clock stands still.
await import('../chart/count-bars.js');

const CHART = 'Requests by status over time; shown as a table, too';
const asked = (path: string): object[] =>
  POST.mock.calls.filter(([called]) => called === path).map(([, { body }]) => body);
const pass = (ms: number): Promise<void> => act(() => jest.advanceTimersByTimeAsync(ms));

describe('the page of requests', () => {
  beforeEach(() => {
    jest.useFakeTimers({ now: Date.parse(SERIES.as_of) });
    series = () => SERIES;
    listed = EVENTS;
    // Rows are drawn as far as the table's box is high.
    Object.defineProperty(Element.prototype, 'clientHeight', { value: 600, configurable: true });
    Element.prototype.setPointerCapture = () => undefined;
  });
  afterEach(() => {
    cleanup();
    POST.mockClear();
    jest.useRealTimers();
  });

  async function open(query: string): Promise<() => string> {
    const page = (
      <QueryClientProvider client={newQueryClient()}>
        <RequestsPage />
      </QueryClientProvider>
    );
    const { address } = renderedAt(`/o/org_1/requests${query}`, page);
    for (let step = 0; step < 5; step += 1) await pass(100);
    return address;
  }

  /** The bars, of which each is 100 px wide. */
  function plot(): Element {
    const bars = screen.getByRole('figure', { name: CHART }).querySelector('[aria-hidden]:has(> * > *)');
    if (bars === null) throw new Error('There are no bars.');
    const box = { left: 50, width: HOURS.length * 100 } as DOMRect;
    bars.getBoundingClientRect = () => box;
    return bars;
  }
  /** jsdom has no pointers; a mouse is one. */
  const point = (on: Element, type: string, clientX: number, button = 0): void => {
    fireEvent(on, new MouseEvent(type, { bubbles: true, clientX, button }));
  };
  const drag = async (from: number, to: number, button?: number): Promise<void> => {
    const bars = plot();
    point(bars, 'pointerdown', from, button);
    point(bars, 'pointermove', to);
    point(bars, 'pointerup', to);
    await pass(100);
  };

  it('issue 41 sorts on the server by the head of a column, and pages on by offset', async () => {
    listed = { ...EVENTS, total: 150 };
    const address = await open('?sort=-cost_usd&min_latency_ms=2500&live=yes');
    expect(asked('/v1/usage/events').at(-1)).toMatchObject({ sort: '-cost_usd', min_latency_ms: 2_500 });
    // Sums know no latency of one request.
    expect(asked('/v1/usage/series')).toEqual([]);
    expect(screen.queryByRole('button', { name: /Export/ })).toBeNull();
    expect(screen.getByRole('columnheader', { name: 'Cost' }).getAttribute('aria-sort')).toBe('descending');
    fireEvent.click(screen.getByRole('button', { name: 'Show more' }));
    await pass(100);
    expect(asked('/v1/usage/events').at(-1)).toMatchObject({ sort: '-cost_usd', offset: 100 });
    fireEvent.click(screen.getByRole('button', { name: 'Latency' }));
    await pass(100);
    expect(address()).toContain('sort=-latency_ms');
    fireEvent.click(screen.getByRole('button', { name: /^Latency from: 2.5 s/ }));
    await pass(100);
    expect(address()).not.toContain('min_latency_ms');
  });

  it('counts what its filter lists by status, what failed above what was served', async () => {
    await open('?model=acme%2Fswift&key_id=key_1&show=failed');
    const of = { org_id: 'org_1', model: ['acme/swift'], status: ['error'], key_id: 'key_1' };
    expect(asked('/v1/usage/series')).toEqual([
      { ...of, since: '2026-11-21T11:40:00.000Z', granularity: 'hour', time_zone: 'UTC', group_by: 'status' },
    ]);
    const chart = within(screen.getByRole('figure', { name: CHART }));
    chart.getByText('Served 6,000');
    chart.getByText('Failed 5');
    const pieces = [...plot().children].map(({ children }) => children.length);
    expect(pieces).toEqual([0, 1, 2, 1]);
  });

  it.each([
    ['from left to right', 190, 320, 'from=2026-11-22T09%3A00Z&to=2026-11-22T11%3A00Z&zone=UTC'],
    ['from right to left', 320, 190, 'from=2026-11-22T09%3A00Z&to=2026-11-22T11%3A00Z&zone=UTC'],
    ['over one hour', 260, 260, 'from=2026-11-22T10%3A00Z&to=2026-11-22T11%3A00Z&zone=UTC'],
    [
      'past the edge, into the cut hour',
      160,
      -40,
      'from=2026-11-22T08%3A20Z&to=2026-11-22T10%3A00Z&zone=UTC',
    ],
  ])(
    'point 4 a drag %s is the range in the address, with the filter as it was',
    async (_way, from, to, range) => {
      const address = await open('?model=acme&range=7d');
      await drag(from, to);
      expect(address()).toBe(`/o/org_1/requests?model=acme&${range}`);
    },
  );

  it('a drag over all of it leaves the range as it is, and another button picks nothing', async () => {
    const address = await open('?range=7d');
    await drag(60, 440);
    await drag(190, 320, 2);
    expect(address()).toBe('/o/org_1/requests?range=7d');
  });

  it('says the same in its table, which picks by the keyboard', async () => {
    const address = await open('');
    fireEvent.click(screen.getByRole('button', { name: 'The chart as a table' }));
    for (let step = 0; step < 3; step += 1) await pass(100);
    const rows = within(screen.getByRole('table', { name: 'Requests by status and hour' })).getAllByRole(
      'row',
    );
    expect(rows.map((row) => [...row.children].map((cell) => cell.textContent))).toEqual([
      ['Hour', 'Served', 'Failed'],
      ['22 Nov, 11:00', '3,000', '0'],
      ['22 Nov, 10:00', '2,000', '5'],
      ['22 Nov, 09:00', '1,000', '0'],
      ['22 Nov, 08:00', '0', '0'],
    ]);
    fireEvent.click(within(rows[2]).getByRole('link'));
    await pass(100);
    expect(address()).toBe(
      '/o/org_1/requests?table=yes&from=2026-11-22T10%3A00Z&to=2026-11-22T11%3A00Z&zone=UTC',
    );
  });

  it('is asked for once while the list is live, after the list, and where it fails the list stands', async () => {
    series = () => {
      throw new Problem({
        status: 422,
        code: 'validation_error',
        message: 'The range has too many buckets.',
      });
    };
    await open('?live=yes');
    await pass(10_000);
    expect(asked('/v1/usage/events').length).toBeGreaterThan(3);
    expect(asked('/v1/usage/series')).toHaveLength(1);
    expect(POST.mock.calls[0][0]).toBe('/v1/usage/events');
    screen.getByText('The range has too many buckets.');
    screen.getByRole('table', { name: 'Requests' });
    cleanup();
    POST.mockClear();
    series = () => SERIES;
    await open('?live=yes');
    await pass(10_000);
    expect([asked('/v1/usage/events').length > 3, asked('/v1/usage/series').length]).toEqual([true, 1]);
  });

  it('is filtered by all that the address names, each with its chip', async () => {
    const named = 'key_id=key_9&team_id=team_1&member_id=usr_1&endpoint=%2Fv1%2Fmessages&tag=env%3Dprod';
    const address = await open(`?${named}&show=served`);
    expect(asked('/v1/usage/events')[0]).toMatchObject({
      ...{ key_id: 'key_9', team_id: 'team_1', member_id: 'usr_1', endpoint: '/v1/messages' },
      ...{ tag: 'env=prod', status: ['success'] },
    });
    const chip = screen.getByRole('button', { name: /^Key: eval-suite/ });
    screen.getByRole('button', { name: /^Endpoint: \/v1\/messages/ });
    fireEvent.click(chip);
    await pass(100);
    expect(address()).not.toContain('key_id');
    expect(address()).toContain('tag=env%3Dprod');
  });

  it('opens a request beside the list by a press on its row, and closes it by Escape', async () => {
    await import('./request-panel.js');
    const address = await open('?model=acme');
    const table = screen.getByRole('table', { name: 'Requests' });
    fireEvent.click(within(table).getByText('served'));
    for (let step = 0; step < 5; step += 1) await pass(100);
    expect(address()).toBe('/o/org_1/requests?model=acme&open=req_1');
    const panel = screen.getByRole('dialog', { name: 'Request' });
    expect(within(panel).getByRole('link', { name: 'Open as a page' }).getAttribute('href')).toBe(
      '/o/org_1/requests/req_1',
    );
    expect(within(panel).getByRole<HTMLButtonElement>('button', { name: 'Older' }).disabled).toBe(true);
    fireEvent.keyDown(panel, { key: 'Escape' });
    await pass(100);
    expect(address()).toBe('/o/org_1/requests?model=acme');
  });

  it('says of equal rejections once whose key they were, why, and how many', async () => {
    await import('./rejection-list.js');
    await open('?show=rejected&status=error');
    const table = screen.getByRole('table', { name: 'Refused requests' });
    const rows = within(table).getAllByRole('row').slice(1);
    expect(rows.map((row) => [...row.children].slice(0, 4).map((cell) => cell.textContent))).toEqual([
      ['Model excludedAtlas 4 is not allowed.', '5', 'eval-suite', 'acme/swift'],
    ]);
    expect(asked('/v1/usage/rejections')[0]).not.toHaveProperty('status');
  });
});
