/** @jest-environment jsdom */
import { jest } from '@jest/globals';
import { cleanup, fireEvent, screen, waitFor } from '@testing-library/react';
import { PagesContext, type Page } from '../shell/pages.js';
import { renderedAt } from '../shell/rendered.fixture.js';

const VALUES = {
  requests: 2,
  errors: 1,
  prompt_tokens: 10,
  completion_tokens: 5,
  cached_tokens: 0,
  cost_usd: '0.000001',
  latency_p50_ms: 12,
  latency_p95_ms: 12,
  ttft_p50_ms: null,
};
const GROUPS = ['openai/gpt-5.1', 'xai/grok-4', 'other'];
const SERIES = {
  granularity: 'day',
  time_zone: 'UTC',
  since: '2026-11-20T10:00:00.000Z',
  until: '2026-11-22T10:00:00.001Z',
  groups: GROUPS.map((id) => ({ id, label: null })),
  buckets: ['20', '21', '22'].map((day) => ({
    start: `2026-11-${day}T00:00:00.000Z`,
    values: Object.fromEntries(GROUPS.map((id) => [id, VALUES])),
  })),
  totals: Object.fromEntries(GROUPS.map((id) => [id, VALUES])),
  total: VALUES,
  as_of: '2026-11-22T10:00:00.000Z',
};

const POST = jest.fn(async (_path: string, _call: { body: object }) => ({ data: SERIES }));
const OPTIONS = { members: [{ id: 'usr_1', name: 'Mara Voss' }], teams: [{ id: 'team_1', name: 'Search' }] };
const GET = jest.fn((path: string) => {
  if (path === '/v1/keys/filter-options') return Promise.resolve({ data: OPTIONS });
  if (path === '/v1/keys/{id}') return Promise.resolve({ data: { label: 'staging' } });
  return new Promise(() => undefined);
});
jest.unstable_mockModule('../api/call.js', () => ({
  api: { GET, POST },
  bodyOf: async (call: Promise<{ data: unknown }>) => (await call).data,
}));
jest.unstable_mockModule('../api/session.js', () => ({ useSession: () => ({ state: 'out' }) }));
jest.unstable_mockModule('../chart/stacked-bars.js', () => import('../chart/bars-alone.fixture.js'));
jest.unstable_mockModule('../chart/lines.js', () => import('../chart/lines-alone.fixture.js'));
const { default: UsagePage } = await import('./usage-page.js');
const { totalsCsv } = await import('./totals-csv.js');
const { Navigation } = await import('../shell/navigation.js');

const PAGES = (['usage', 'requests', 'keys'] as const).map((section): Page => ({
  path: `/${section}`,
  title: `To /${section}`,
  who: ['member'],
  nav: { section, order: 0 },
  load: () => Promise.reject(new Error('Nobody goes there.')),
}));

const hrefsIn = (element: Element): (string | null)[] =>
  [...element.querySelectorAll('a')].map((link) => link.getAttribute('href'));

describe('the page of usage', () => {
  beforeAll(() => {
    // Rows are drawn as far as the table's box is high.
    Object.defineProperty(Element.prototype, 'clientHeight', { value: 600 });
  });
  afterEach(cleanup);

  it('every mark is a link: each bar, and in the table of the chart the same for the keyboard', async () => {
    const { address } = renderedAt('/o/org_1/usage?range=30d', <UsagePage />);
    const bars = await screen.findByTestId('bars');
    const links = hrefsIn(bars);
    expect(links).toHaveLength(9);
    expect(links).toContain(
      '/o/org_1/requests?from=2026-11-21&to=2026-11-21&zone=UTC&model=openai%2Fgpt-5.1',
    );
    expect([...bars.querySelectorAll('a')].every(({ tabIndex }) => tabIndex === -1)).toBe(true);
    const show = screen.getByRole('button', { name: 'The chart as a table' });
    expect(show.getAttribute('aria-expanded')).toBe('false');
    fireEvent.click(show);
    const table = await screen.findByRole('table', { name: 'Spend by day' });
    expect(address()).toBe('/o/org_1/usage?range=30d&table=yes');
    await waitFor(() => expect(hrefsIn(table)).toEqual(expect.arrayContaining(links)));
    expect([...table.querySelectorAll('a')].every(({ tabIndex }) => tabIndex === 0)).toBe(true);
    expect(hrefsIn(screen.getByRole('table', { name: 'Sums of the range' }))).toEqual([
      '/o/org_1/requests?range=30d&model=openai%2Fgpt-5.1',
      '/o/org_1/requests?range=30d&model=xai%2Fgrok-4',
      '/o/org_1/usage?range=30d',
      '/o/org_1/requests?range=30d',
    ]);
  });

  it('a median is a line for each group and one of all, whose points are links; it is never stacked', async () => {
    const all = { ...VALUES, latency_p50_ms: 9 };
    const buckets = SERIES.buckets.map(({ start }) => ({ start, values: { all } }));
    const whole = { ...SERIES, groups: [{ id: 'all', label: null }], buckets };
    POST.mockImplementation(async (_path, { body }) => ({ data: 'group_by' in body ? SERIES : whole }));
    renderedAt('/o/org_1/usage?metric=latency', <UsagePage />);
    const lines = await screen.findByTestId('lines');
    await waitFor(() => expect(screen.getByTestId('lines').dataset.whole).toBe('9,9,9'));
    expect(hrefsIn(lines)).toHaveLength(9);
    expect(screen.queryByTestId('bars')).toBeNull();
    POST.mockImplementation(async () => ({ data: SERIES }));
  });

  it.each([
    ['errors', 'No request failed in this range.'],
    ['cache', 'No input token came from a cache in this range.'],
  ])('a range without %s has words and no axis', async (metric, words) => {
    const none = { ...VALUES, errors: 0 };
    const buckets = SERIES.buckets.map(({ start }) => ({ start, values: { 'openai/gpt-5.1': none } }));
    POST.mockImplementation(async () => ({ data: { ...SERIES, buckets } }));
    renderedAt(`/o/org_1/usage?metric=${metric}`, <UsagePage />);
    await screen.findByText(words);
    expect(screen.queryByTestId('bars')).toBeNull();
    expect(screen.queryByTestId('lines')).toBeNull();
    POST.mockImplementation(async () => ({ data: SERIES }));
  });

  it('asks for what the address filters by, says so, and forgets it again', async () => {
    const { address } = renderedAt('/o/org_1/usage?member_id=usr_1&status=error', <UsagePage />);
    fireEvent.click(await screen.findByRole('button', { name: 'Member: Mara Voss · remove the filter' }));
    await waitFor(() => expect(address()).toBe('/o/org_1/usage?status=error'));
    await screen.findByRole('button', { name: 'Errors · remove the filter' });
    const asked = POST.mock.calls.map(([, { body }]) => body);
    expect(asked).toContainEqual(expect.objectContaining({ member_id: 'usr_1', status: ['error'] }));
    await waitFor(() => expect(POST.mock.lastCall?.[1].body).not.toHaveProperty('member_id'));
  });

  it('each group says its share of the spend', async () => {
    const total = { ...VALUES, cost_usd: '0.000003' };
    POST.mockImplementation(async () => ({ data: { ...SERIES, total } }));
    renderedAt('/o/org_1/usage', <UsagePage />);
    const table = await screen.findByRole('table', { name: 'Sums of the range' });
    const shares = [...table.querySelectorAll('[data-label=Share]')].map(({ textContent }) => textContent);
    expect(shares).toEqual(['33.3%', '33.3%', '33.3%', '100%']);
    POST.mockImplementation(async () => ({ data: SERIES }));
  });

  it('groups by the tag that is named, and a value leads to its requests alone', async () => {
    const groups = [
      { id: 'search', label: null },
      { id: 'none', label: null },
    ];
    const values = { search: VALUES, none: VALUES };
    const buckets = SERIES.buckets.map(({ start }) => ({ start, values }));
    POST.mockImplementation(async () => ({ data: { ...SERIES, groups, buckets, totals: values } }));
    const before = POST.mock.calls.length;
    const { address } = renderedAt('/o/org_1/usage?by=tag', <UsagePage />);
    await screen.findByText(/^Name the tag/);
    expect(POST.mock.calls.length).toBe(before);
    const field = screen.getByRole('textbox', { name: 'Name of the tag' });
    fireEvent.change(field, { target: { value: 'feature' } });
    fireEvent.submit(field);
    await waitFor(() => expect(address()).toBe('/o/org_1/usage?by=tag%3Afeature'));
    const table = await screen.findByRole('table', { name: 'Sums of the range' });
    expect(POST.mock.lastCall?.[1].body).toMatchObject({ group_by: 'tag:feature' });
    expect(hrefsIn(table)[0]).toBe('/o/org_1/usage?tag=feature%3Dsearch');
    cleanup();
    renderedAt('/o/org_1/usage?tag=feature%3Dsearch', <UsagePage />);
    await screen.findByRole('button', { name: 'Tag: feature=search · remove the filter' });
    await waitFor(() => expect(POST.mock.lastCall?.[1].body).toMatchObject({ tag: 'feature=search' }));
    POST.mockImplementation(async () => ({ data: SERIES }));
  });

  it('beside the period before each group says its change, and a dash where that is not known', async () => {
    const cost = (usd: string) => ({ ...VALUES, cost_usd: usd });
    const former = {
      ...SERIES,
      groups: ['openai/gpt-5.1', 'xai/grok-4'].map((id) => ({ id, label: null })),
      totals: { 'openai/gpt-5.1': cost('0.0000008'), 'xai/grok-4': cost('0') },
      total: cost('0.0000008'),
    };
    POST.mockImplementation(async (_path, { body }) => ({
      data: 'top' in body && body.top === 20 ? former : SERIES,
    }));
    const changes = (): (string | null)[] =>
      [
        ...screen.getByRole('table', { name: 'Sums of the range' }).querySelectorAll('[data-label=Change]'),
      ].map(({ textContent }) => textContent);
    const { address } = renderedAt('/o/org_1/usage', <UsagePage />);
    fireEvent.click(await screen.findByRole('switch', { name: 'Compare with the period before' }));
    await waitFor(() => expect(changes()).toEqual(['+25%', 'new', '–', '+25%']));
    expect(address()).toBe('/o/org_1/usage?compare=before');
    former.groups.push({ id: 'other', label: null });
    Reflect.deleteProperty(former.totals, 'xai/grok-4');
    cleanup();
    renderedAt('/o/org_1/usage?compare=before', <UsagePage />);
    await waitFor(() => expect(changes()).toEqual(['+25%', '–', '–', '+25%']));
    POST.mockImplementation(async () => ({ data: SERIES }));
  });

  it('a group is opened into those of a second group, whose marks lead to just that part', async () => {
    const { address } = renderedAt('/o/org_1/usage?by=team', <UsagePage />);
    fireEvent.click(await screen.findByRole('combobox', { name: 'Second group' }));
    fireEvent.click(await screen.findByRole('option', { name: 'then by key' }));
    await waitFor(() => expect(address()).toBe('/o/org_1/usage?by=team&then=key'));
    fireEvent.click(await screen.findByRole('button', { name: 'openai/gpt-5.1 by key' }));
    await waitFor(() =>
      expect(POST.mock.lastCall?.[1].body).toMatchObject({
        ...{ team_id: 'openai/gpt-5.1', group_by: 'key', granularity: 'month' },
      }),
    );
    const table = screen.getByRole('table', { name: 'Sums of the range' });
    await waitFor(() => expect(table.querySelectorAll('tbody tr')).toHaveLength(7));
    expect(hrefsIn(table)).toContain('/o/org_1/usage?team_id=openai%2Fgpt-5.1&key_id=xai%2Fgrok-4');
    // What no filter has is not opened.
    expect(screen.queryByRole('button', { name: 'Other by key' })).toBeNull();
  });

  it('any filter is added by its kind and value', async () => {
    const { address } = renderedAt('/o/org_1/usage', <UsagePage />);
    fireEvent.click(await screen.findByRole('button', { name: 'Filter' }));
    fireEvent.click(await screen.findByRole('combobox', { name: 'Filter by' }));
    fireEvent.click(await screen.findByRole('option', { name: 'Team' }));
    fireEvent.click(await screen.findByRole('combobox', { name: 'Value' }));
    fireEvent.click(await screen.findByRole('option', { name: 'Search' }));
    await waitFor(() => expect(address()).toBe('/o/org_1/usage?team_id=team_1'));
    fireEvent.click(screen.getByRole('button', { name: 'Filter' }));
    fireEvent.click(await screen.findByRole('combobox', { name: 'Filter by' }));
    fireEvent.click(await screen.findByRole('option', { name: 'Tag' }));
    const value = await screen.findByRole('textbox', { name: 'Value' });
    fireEvent.change(value, { target: { value: 'feature=chat' } });
    fireEvent.submit(value.closest('form') as HTMLFormElement);
    await waitFor(() => expect(address()).toBe('/o/org_1/usage?team_id=team_1&tag=feature%3Dchat'));
  });

  it('the table on the screen is a file: each group with its exact spend, and the sum of all', async () => {
    const files: Blob[] = [];
    Object.assign(URL, {
      createObjectURL: (file: Blob) => (files.push(file), 'blob:1'),
      revokeObjectURL: () => undefined,
    });
    renderedAt('/o/org_1/usage?by=team', <UsagePage />);
    fireEvent.click(await screen.findByRole('button', { name: 'Download this table' }));
    const text = await new Promise<string>((resolve) => {
      const reader = new FileReader();
      reader.onload = () => resolve(String(reader.result));
      reader.readAsText(files[0]);
    });
    expect(text.split('\r\n').slice(1)).toEqual([
      'openai/gpt-5.1,openai/gpt-5.1,0.000001,2,1,10,5,12,12,',
      'xai/grok-4,xai/grok-4,0.000001,2,1,10,5,12,12,',
      'Other,other,0.000001,2,1,10,5,12,12,',
      'Total,,0.000001,2,1,10,5,12,12,',
      '',
    ]);
  });

  it('a comparison is in the file too, and says nothing of groups that differ', () => {
    const before = { ...SERIES, totals: { 'xai/grok-4': { ...VALUES, cost_usd: '0.5' } }, groups: [] };
    const spend = totalsCsv(SERIES as never, before as never).split('\r\n');
    expect(spend.map((line) => line.split(',').slice(2, 4))).toEqual([
      ['spend_usd', 'spend_before_usd'],
      // Not among the groups of before, which has no others: nothing was spent.
      ['0.000001', '0'],
      ['0.000001', '0.5'],
      ['0.000001', ''],
      ['0.000001', '0.000001'],
      [],
    ]);
  });

  it('a page of one key and one team says their names', async () => {
    renderedAt('/o/org_1/usage?key_id=key_1&team_id=team_1', <UsagePage />);
    await screen.findByRole('button', { name: /^Key: staging/ });
    await screen.findByRole('button', { name: /^Team: Search/ });
  });

  it('point 4 a range picked by hand is in the links of the organization; an address says all it shows', async () => {
    localStorage.clear();
    const page = (
      <PagesContext value={PAGES}>
        <Navigation roles={['member']} />
        <UsagePage />
      </PagesContext>
    );
    const menu = (): (string | null)[] =>
      ['/usage', '/requests', '/keys'].map((path) =>
        screen.getByRole('link', { name: `To ${path}` }).getAttribute('href'),
      );
    const { address } = renderedAt('/o/org_1/usage', page);
    fireEvent.click(await screen.findByRole('radio', { name: '30 d' }));
    await waitFor(() => expect(address()).toBe('/o/org_1/usage?range=30d'));
    await waitFor(() =>
      expect(menu()).toEqual(['/o/org_1/usage?range=30d', '/o/org_1/requests?range=30d', '/o/org_1/keys']),
    );
    fireEvent.click(screen.getByRole('radio', { name: '7 d' }));
    await waitFor(() => expect(address()).toBe('/o/org_1/usage'));
    expect(menu()).toEqual(['/o/org_1/usage', '/o/org_1/requests?range=7d', '/o/org_1/keys']);
    cleanup();
    localStorage.setItem('ranges', JSON.stringify({ org_1: '?range=30d' }));
    const copied = renderedAt('/o/org_1/usage', page);
    expect(await screen.findByRole<HTMLInputElement>('radio', { name: '7 d' })).toHaveProperty(
      'checked',
      true,
    );
    expect(copied.address()).toBe('/o/org_1/usage');
    cleanup();
    renderedAt('/o/org_2/usage', page);
    await screen.findByRole('radio', { name: '7 d' });
    expect(menu()).toEqual(['/o/org_2/usage', '/o/org_2/requests', '/o/org_2/keys']);
  });

  it.each([
    ['?zone=Asia%2FKolkata', 'Asia/Kolkata'],
    ['?zone=Nowhere%2FAt_all', 'UTC'],
    ['?zone=%2B05%3A30', 'UTC'],
    ['', 'UTC'],
  ])(
    'point 4 days and hours are of the zone of the address, where there is one: %s',
    async (search, zone) => {
      renderedAt(`/o/org_1/usage${search}`, <UsagePage />);
      await screen.findByText(`Days and hours of ${zone}`);
      await waitFor(() => expect(POST.mock.lastCall?.[1].body).toMatchObject({ time_zone: zone }));
    },
  );
});
