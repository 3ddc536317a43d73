/** @jest-environment jsdom */
import { jest } from '@jest/globals';
import { cleanup, fireEvent, screen, waitFor } from '@testing-library/react';
import { renderedAt } from '../shell/rendered.fixture.js';

const NOW = Date.parse('2026-11-22T10:00:30Z');
const SINCE = '2026-11-15T10:00:00.000Z';
const VALUES = {
  requests: 30,
  errors: 3,
  prompt_tokens: 10,
  completion_tokens: 5,
  cached_tokens: 0,
  cost_usd: '6',
  latency_p50_ms: 120,
  latency_p95_ms: 120,
  ttft_p50_ms: null,
};
const MODELS = ['openai/gpt-5.1', 'other'];
const BEFORE = { ...VALUES, requests: 40, errors: 1 };
const DAYS = ['15', '16', '17', '18', '19', '20', '21', '22'];
const WEEK = {
  granularity: 'day',
  time_zone: 'UTC',
  since: SINCE,
  until: '2026-11-22T10:00:30.001Z',
  groups: [{ id: 'all', label: null }],
  buckets: DAYS.map((day) => ({ start: `2026-11-${day}T00:00:00.000Z`, values: { all: VALUES } })),
  totals: { all: VALUES },
  total: VALUES,
  as_of: '2026-11-22T10:00:30.000Z',
};
const BY_MODEL = {
  ...WEEK,
  groups: MODELS.map((id) => ({ id, label: null })),
  buckets: WEEK.buckets.map(({ start }) => ({
    start,
    values: Object.fromEntries(MODELS.map((id) => [id, VALUES])),
  })),
  totals: Object.fromEntries(MODELS.map((id) => [id, VALUES])),
};
const keyed = (spent: Record<string, string>, total: string): unknown => ({
  ...WEEK,
  groups: Object.keys(spent).map((id) => ({ id, label: `of ${id}` })),
  buckets: [],
  totals: Object.fromEntries(Object.entries(spent).map(([id, cost_usd]) => [id, { ...VALUES, cost_usd }])),
  total: { ...VALUES, cost_usd: total },
});
// A part of 21 days, 10 hours and half a minute of 30 days is over.
const BY_KEY = keyed({ key_1: '6', key_2: '1' }, '7');
const BY_KEY_BEFORE = keyed({ key_1: '2', key_2: '1', key_3: '1' }, '4');
const BUDGETS = {
  data: [
    {
      scope: 'team',
      id: 'team_1',
      team_id: null,
      name: 'Search',
      spend_cap_usd: '9',
      spent_usd: '7.1',
      used: 0.789,
    },
  ],
  total: 1,
  is_partial: false,
};
const AVERAGE = { spend_usd: '1', requests: 1, moving_average_usd: '0.5' };
const TREND = { buckets: [{ start: '2026-11-21T00:00:00.000Z', ...AVERAGE }], total_usd: '1' };

let role = 'owner';
let isSuper = false;
const me = (): unknown => ({
  user: { time_zone: null },
  memberships: [{ org_id: 'org_1', teams: [], role }],
  is_super_admin: isSuper,
});

const LISTS: Record<string, unknown[]> = {
  '/v1/keys': [],
  '/v1/provider-keys': [],
  '/v1/orgs/{id}/members': [{ id: 'usr_1' }],
  '/v1/orgs/{id}/invitations': [],
};
const alerts = { channels: [] as unknown[], policies: [] };

interface Asked {
  path: string;
  body: Record<string, unknown>;
}
const PROVIDERS = [
  { slug: 'north', name: 'Northwind', is_enabled: true, breaker: 'open', uptime_30m: 0.2 },
  { slug: 'harbor', name: 'Harbor', is_enabled: true, breaker: 'closed', uptime_30m: 1 },
];
const REJECTED = {
  code: 'model_excluded',
  key_id: 'key_1',
  scope: null,
  limit_type: null,
  model: 'acme/slow',
  count: 1,
};
const OPENING = { kind: 'admin_grant', reason: null, source: 'opening/acct_1' };
let periodBudgets: unknown[] = [];
let rejections: unknown[] = [];
const asked: Asked[] = [];
let isAnswered = true;
let isUsed = true;
const answer = (data: unknown): Promise<unknown> =>
  isAnswered ? Promise.resolve({ data }) : new Promise(() => undefined);

const GET = jest.fn((path: string) => {
  asked.push({ path, body: {} });
  if (path === '/auth/me') return answer(me());
  if (path === '/v1/orgs') return answer({ data: [{ id: 'org_1', name: 'Lumen Retail' }] });
  if (path === '/v1/balance') return answer({ available_usd: '10' });
  if (path === '/v1/usage/spend-trend') return answer(isUsed ? TREND : { buckets: [] });
  if (path === '/v1/billing/ledger') return answer({ data: [OPENING] });
  if (path === '/v1/budgets') return answer({ data: periodBudgets });
  if (path === '/alerts') return answer(alerts);
  if (path === '/v1/orgs/{id}/budgets') return answer(BUDGETS);
  if (path === '/v1/admin/providers') return answer({ data: PROVIDERS });
  return path in LISTS ? answer({ data: LISTS[path] }) : new Promise(() => undefined);
});
const POST = jest.fn((path: string, { body }: { body: Record<string, unknown> }) => {
  asked.push({ path, body });
  if (path === '/v1/usage/rejections') return answer({ rejections });
  if (body.group_by === 'key') return answer(body.until === undefined ? BY_KEY : BY_KEY_BEFORE);
  if (body.group_by === 'model') return answer(isUsed ? BY_MODEL : { ...BY_MODEL, groups: [] });
  return answer(body.until === undefined ? WEEK : { ...WEEK, total: BEFORE });
});
jest.unstable_mockModule('../api/call.js', () => ({
  api: { GET, POST },
  bodyOf: async (call: Promise<{ data: unknown }>) => (await call).data,
}));
jest.unstable_mockModule('../api/session.js', () => ({ useSession: () => ({ state: 'out' }) }));
jest.unstable_mockModule('../chart/stacked-bars.js', () => import('../chart/bars-alone.fixture.js'));
const { default: HomePage } = await import('./home-page.js');

const hrefsIn = (element: Element): (string | null)[] =>
  [...element.querySelectorAll('a')].map((link) => link.getAttribute('href'));

describe('the home of an organization', () => {
  beforeAll(() => {
    // Rows are drawn as far as the table's box is high.
    Object.defineProperty(Element.prototype, 'clientHeight', { value: 600 });
  });
  beforeEach(() => {
    jest.spyOn(Date, 'now').mockReturnValue(NOW);
    asked.length = 0;
    isAnswered = true;
    isUsed = true;
    role = 'owner';
  });
  afterEach(cleanup);

  it('each card says its change in words; what is drawn of it is hidden from screen readers', async () => {
    renderedAt('/o/org_1/home', <HomePage />);
    await screen.findByText('75% more than by this day of last month');
    await screen.findByText('At the pace of this month so far');
    await screen.findByText('$9.81');
    await screen.findByText('3 of 30 requests; 2.5% the week before');
    await screen.findByText('About 20 days left at the 3-day average');
    const drawn = [...document.querySelectorAll('svg path[fill=none][stroke-linecap=round]')];
    const lines = drawn
      .map((path) => path.closest('svg'))
      .filter((svg) => svg?.getAttribute('height') === '28');
    expect(lines.map((svg) => svg?.getAttribute('aria-hidden'))).toEqual(['true', 'true']);
  });

  it.each([
    ['owner', 'Lumen Retail'],
    ['member', 'You'],
  ])(
    'every card and panel says whose it is: to an %s the balance is of the organization, usage of %s',
    async (as, usage) => {
      role = as;
      renderedAt('/o/org_1/home', <HomePage />);
      const scopeOf = (name: string): string | null | undefined =>
        screen.getByText(name).nextElementSibling?.textContent;
      await screen.findByText('75% more than by this day of last month');
      await screen.findByText('About 20 days left at the 3-day average');
      await screen.findByTestId('bars');
      const names = [
        'Spend this month',
        'Forecast of the month',
        'Failed, 7 days',
        'Spend by model',
        'Keys used last',
        'Newest refusals',
      ];
      await waitFor(() => expect(names.map(scopeOf)).toEqual(names.map(() => usage)));
      expect(scopeOf('Available balance')).toBe('Lumen Retail');
    },
  );

  it('says where the credit of a new account comes from', async () => {
    isUsed = false;
    renderedAt('/o/org_1/home', <HomePage />);
    await screen.findByText('Credit that a new account begins with');
  });

  it('shows the forecast of the month beside the budget of the organization', async () => {
    periodBudgets = [{ period: 'month', effective_amount_usd: '400' }];
    renderedAt('/o/org_1/home', <HomePage />);
    await screen.findByText('Of a budget of $400.00, at the pace of this month so far');
    periodBudgets = [];
  });

  it('the card of the balance has no line of the spend, which would climb while the balance falls', async () => {
    renderedAt('/o/org_1/home', <HomePage />);
    const card = (await screen.findByText('Available balance')).closest('[class*=Card]');
    await screen.findByText('About 20 days left at the 3-day average');
    expect(card?.querySelector('svg')).toBeNull();
  });

  it('asks for the week, that by model, the one before it, two months by key, caps and the trend, once each', async () => {
    renderedAt('/o/org_1/home', <HomePage />);
    await screen.findByText('75% more than by this day of last month');
    const ofFrame = ['/auth/me', '/auth/options', '/v1/orgs'];
    const reads = () => asked.filter(({ path }) => !ofFrame.includes(path));
    await waitFor(() => expect(asked.map(({ path }) => path)).toContain('/alerts'));
    expect(
      reads()
        .map(({ path }) => path)
        .sort(),
    ).toEqual([
      '/alerts',
      '/v1/balance',
      '/v1/budgets',
      '/v1/keys',
      '/v1/models/search',
      '/v1/orgs/{id}/budgets',
      '/v1/orgs/{id}/invitations',
      '/v1/orgs/{id}/members',
      '/v1/provider-keys',
      '/v1/usage/rejections',
      '/v1/usage/series',
      '/v1/usage/series',
      '/v1/usage/series',
      '/v1/usage/series',
      '/v1/usage/series',
      '/v1/usage/spend-trend',
    ]);
    expect(reads().find(({ body }) => body.granularity === 'week')?.body).toEqual({
      org_id: 'org_1',
      since: '2026-11-08T10:00:00.000Z',
      until: '2026-11-15T09:59:59.999Z',
      granularity: 'week',
    });
  });

  it('names caps that are used most, keys whose spend changed most, and providers that fail', async () => {
    isSuper = true;
    renderedAt('/o/org_1/home', <HomePage />);
    await screen.findByRole('progressbar', { name: '78% of the cap of Search' });
    const movers = (await screen.findByText('Largest changes')).closest('[class*=Card]');
    expect(hrefsIn(movers!)).toEqual([
      '/o/org_1/usage?range=month&compare=before&key_id=key_1',
      '/o/org_1/usage?range=month&compare=before&key_id=key_3',
    ]);
    expect(movers?.textContent).toMatch(/of key_1\$6\.00\+200%of key_3\$0\.00-100%$/);
    await screen.findByText(/^Northwind: 20% of the last 30 minutes answered/);
    expect(screen.queryByText(/^Harbor/)).toBeNull();
    isSuper = false;
  });

  it('says once for a key and a reason how often it was rejected', async () => {
    const at = { created_at: '2026-11-22T09:00:00.000Z' };
    rejections = [
      { ...REJECTED, ...at, request_id: 'req_3', message: 'The key may not use acme/slow.' },
      { ...REJECTED, ...at, request_id: 'req_2', message: 'Another', code: 'rate_limit_exceeded' },
      { ...REJECTED, ...at, request_id: 'req_1', message: 'The key may not use acme/slow.', count: 4 },
    ];
    renderedAt('/o/org_1/home', <HomePage />);
    const newest = await screen.findByRole('link', { name: 'The key may not use acme/slow.' });
    expect(newest.getAttribute('href')).toBe('/o/org_1/requests/req_3');
    expect(newest.parentElement?.textContent).toMatch(/^5 times: /);
    expect(document.body.textContent).not.toContain('model_excluded');
    rejections = [];
  });

  it('four cards have their place before anything is known', async () => {
    isAnswered = false;
    renderedAt('/o/org_1/home', <HomePage />);
    await screen.findByRole('heading', { name: 'Home' });
    const places = [...document.querySelectorAll<HTMLElement>('[class*=Skeleton]')].map(({ style }) =>
      style.getPropertyValue('--skeleton-height'),
    );
    const ofCards = places.slice(0, 4);
    expect(new Set(ofCards).size).toBe(1);
    expect(ofCards[0]).toMatch(/^calc\(10\.125rem/);
  });

  it('a part of a bar leads to the requests of its model and day, Other to the usage of its day; the table has the same', async () => {
    renderedAt('/o/org_1/home', <HomePage />);
    const links = hrefsIn(await screen.findByTestId('bars'));
    expect(links).toHaveLength(16);
    const model = '&model=openai%2Fgpt-5.1';
    const cut = 'from=2026-11-15T10%3A00Z&to=2026-11-16T00%3A00Z&zone=UTC';
    expect(links[0]).toBe(`/o/org_1/requests?${cut}${model}`);
    expect(links[7]).toBe(`/o/org_1/requests?from=2026-11-22&to=2026-11-22&zone=UTC${model}`);
    expect(links[8]).toBe(`/o/org_1/usage?${cut}`);
    fireEvent.click(screen.getByRole('button', { name: 'The chart as a table' }));
    const table = await screen.findByRole('table', { name: 'Spend by day' });
    await waitFor(() => expect(hrefsIn(table)).toEqual(expect.arrayContaining(links)));
  });

  it('below the chart stands what each colour is and came to, with its requests of the week', async () => {
    renderedAt('/o/org_1/home', <HomePage />);
    const sums = await screen.findByRole('list', { name: 'Sums of the week' });
    expect([...sums.children].map(({ textContent }) => textContent)).toEqual([
      'openai/gpt-5.1$6.00',
      'Other$6.00',
    ]);
    expect(hrefsIn(sums)).toEqual(['/o/org_1/requests?range=7d&model=openai%2Fgpt-5.1', '/o/org_1/usage']);
  });

  it('a week without a request draws no chart and says so', async () => {
    isUsed = false;
    renderedAt('/o/org_1/home', <HomePage />);
    await screen.findByText('No request in the last 7 days.');
    expect(screen.queryByTestId('bars')).toBeNull();
  });
});

describe('the first steps on Home', () => {
  const LABELS = [
    ['Create a key', '/o/org_1/start'],
    ['Add a key of a provider', '/o/org_1/provider-keys'],
    ['Invite a colleague', '/o/org_1/members'],
    ['Add a webhook or an e-mail address for alerts', '/o/org_1/alerts'],
  ];
  beforeEach(() => {
    jest.spyOn(Date, 'now').mockReturnValue(NOW);
    localStorage.clear();
    [isAnswered, isUsed, role] = [true, true, 'owner'];
  });
  afterEach(() => {
    cleanup();
    alerts.channels = [];
    LISTS['/v1/keys'] = LISTS['/v1/provider-keys'] = LISTS['/v1/orgs/{id}/invitations'] = [];
  });

  it('say what is done and lead to what is not', async () => {
    renderedAt('/o/org_1/home', <HomePage />);
    await screen.findByRole('heading', { name: 'First steps: 1 of 5 done' });
    expect(screen.getByText('Send the first request: done')).toBeTruthy();
    for (const [name, href] of LABELS)
      expect(screen.getByRole('link', { name }).getAttribute('href')).toBe(href);
  });

  it('are gone once all are done', async () => {
    LISTS['/v1/keys'] = [
      {
        id: 'key_1',
        label: 'staging',
        masked_key: 'rsk_1',
        last_used_at: null,
        spent_usd: '0',
        spend_cap_usd: null,
      },
    ];
    LISTS['/v1/provider-keys'] = [{ id: 'pk_1' }];
    LISTS['/v1/orgs/{id}/invitations'] = [{ id: 'inv_1' }];
    renderedAt('/o/org_1/home', <HomePage />);
    await screen.findByRole('heading', { name: 'First steps: 4 of 5 done' });
    cleanup();
    alerts.channels = [{ id: 'chn_1' }];
    asked.length = 0;
    renderedAt('/o/org_1/home', <HomePage />);
    await waitFor(() => expect(asked.map(({ path }) => path)).toContain('/alerts'));
    await screen.findByRole('link', { name: 'staging' });
    expect(screen.queryByRole('heading', { name: /First steps/ })).toBeNull();
  });

  it('stay hidden in this browser once somebody hid them, and are not read again', async () => {
    renderedAt('/o/org_1/home', <HomePage />);
    fireEvent.click(await screen.findByRole('button', { name: 'Hide the first steps' }));
    expect(screen.queryByRole('heading', { name: /First steps/ })).toBeNull();
    cleanup();
    asked.length = 0;
    renderedAt('/o/org_1/home', <HomePage />);
    await screen.findByText('75% more than by this day of last month');
    expect(asked.map(({ path }) => path)).not.toContain('/alerts');
  });

  it('are not for members, who may take few of them', async () => {
    role = 'member';
    asked.length = 0;
    renderedAt('/o/org_1/home', <HomePage />);
    await screen.findByText('75% more than by this day of last month');
    expect(asked.map(({ path }) => path)).not.toContain('/alerts');
  });
});
