/** @jest-environment jsdom */
import { jest } from '@jest/globals';
import { QueryClientProvider } from '@tanstack/react-query';
import { cleanup, fireEvent, screen, waitFor } from '@testing-library/react';
import type { ReactNode } from 'react';
import { Problem } from '../api/problem.js';
import { newQueryClient } from '../api/query-client.js';
import { rendered } from '../shell/rendered.fixture.js';
import type { Lookup, Rejection } from './requests.queries.js';

type Answers = Record<string, () => unknown>;
let answers: Answers;
const call = jest.fn(async (path: string, _options?: { body?: unknown }) => ({
  data: await answers[path]?.(),
}));
jest.unstable_mockModule('../api/call.js', () => ({
  api: { GET: call, POST: call },
  bodyOf: async (answer: Promise<{ data: unknown }>) => (await answer).data,
}));
jest.unstable_mockModule('../api/session.js', () => ({ useSession: () => ({ state: 'in' }) }));
jest.unstable_mockModule('@tanstack/react-router', () => ({
  useParams: () => ({ org: 'org_1', id: 'req_1' }),
  // No address, and so no zone in it.
  useSearch: () => undefined,
  Link: ({ to, state, children }: { to: string; state?: object; children: ReactNode }) => (
    <a href={to} data-state={JSON.stringify(state)}>
      {children}
    </a>
  ),
}));
const { default: RequestPage } = await import('./request-page.js');

const lookup = {
  request_id: 'req_1',
  outcome: 'rejected',
  requested_model: 'swift',
  key_label: 'Batch jobs',
  request_tags: { env: 'prod' },
} as unknown as Lookup;
const rejection: Rejection = {
  request_id: 'req_1',
  created_at: '2026-03-07T10:20:30.400Z',
  endpoint: '/v1/chat/completions',
  model: 'acme/swift',
  status: 429,
  code: 'rate_limit_exceeded',
  message: 'The limit of 60 requests per minute of the key is used up.',
  scope: 'key',
  scope_id: 'key_1',
  team_id: null,
  key_id: 'key_1',
  limit_type: 'rpm',
  money: null,
  budget_id: null,
  count: 58,
};
const missing = (): never => {
  throw new Problem({ status: 404, code: 'not_found', message: 'There is no such request.' });
};
const open = (more: Answers): void => {
  answers = {
    '/auth/me': () => ({ user: { time_zone: null }, memberships: [] }),
    '/v1/errors': () => ({
      codes: {
        spend_limit_exceeded: { action: 'Raise the cap or add credit.', retryable: false },
        rate_limit_exceeded: { action: 'Wait for Retry-After, then send again.', retryable: true },
      },
    }),
    ...more,
  };
  // The application's own, which asks no second time for what there is not.
  rendered(
    <QueryClientProvider client={newQueryClient()}>
      <RequestPage />
    </QueryClientProvider>,
  );
};
const line = async (name: string): Promise<string | null | undefined> =>
  (await screen.findByText(name)).nextElementSibling?.textContent;

describe('the page of a request that was rejected before any model', () => {
  afterEach(() => {
    cleanup();
    call.mockClear();
  });

  it('a rejection by what running requests hold is open again when they have ended', async () => {
    const money = {
      ...{ limit_usd: '1', spent_usd: '0.31', available_usd: '0.69', held_usd: '0.7' },
      is_final: false,
    };
    const capped = { ...rejection, code: 'spend_limit_exceeded', limit_type: 'spend_cap', money };
    open({
      '/v1/usage/requests/{id}': () => lookup,
      '/v1/usage/rejections': () => ({ rejections: [capped] }),
      '/v1/keys/{id}/limits': () => ({ scopes: { key: { spent_usd: '0.31', spend_cap_usd: '1' } } }),
    });
    await screen.findByText(rejection.message);
    expect(await line('Open again')).toBe('when what was running has ended');
    expect(await line('Then')).toBe('$0.31 spent of $1.00, up to $0.70 held by what was running');
    // Nobody has to raise a cap for it.
    expect(screen.queryByText('What to do')).toBeNull();
  });

  it('READ-23 point 13 says in words what rejected it, when it is open again, whose it was, and what to do', async () => {
    const rate = { current: 3, limit: 60 };
    open({
      '/v1/usage/requests/{id}': () => lookup,
      '/v1/usage/rejections': () => ({ rejections: [rejection] }),
      '/v1/usage/rate-limits': () => ({ scopes: { key: { rpm: rate } } }),
    });
    await screen.findByText(rejection.message);
    expect(await line('Reason')).toBe('Rate limit exceeded (429)');
    expect(await line('Limit')).toBe('requests a minute of the key');
    expect(await line('Open again')).toContain('10:21:00');
    await screen.findByText('Wait for Retry-After, then send again.');
    await screen.findByText('3 of 60 requests this minute');
    expect(await line('Model')).toBe('swift');
    expect(await line('Tags')).toBe('env=prod');
    expect(await line('Times')).toBe('58 within a second, of which this is one');
    const links = screen
      .getAllByRole<HTMLAnchorElement>('link')
      .map((a) => [a.textContent, a.getAttribute('href')]);
    expect(links).toEqual([
      ['Open the limits of the key', '/o/org_1/keys/key_1'],
      ['All refusals of the key', '/o/org_1/requests?show=rejected&key_id=key_1'],
      ['Batch jobs', '/o/org_1/keys/key_1'],
    ]);
    const asked = call.mock.calls.filter(([path]) => path === '/v1/usage/rejections');
    expect(asked.map(([, options]) => options?.body)).toEqual([
      { org_id: 'org_1', request_id: 'req_1', limit: 1, refresh: true },
    ]);
  });

  it('READ-37 shows the rejection of a line that has no lookup, and a cap with what is spent of it', async () => {
    const capped = {
      ...rejection,
      code: 'spend_limit_exceeded',
      limit_type: 'spend_cap',
      scope: 'team',
      count: 1,
    };
    open({
      '/v1/usage/requests/{id}': missing,
      '/v1/usage/rejections': () => ({ rejections: [capped] }),
      '/v1/keys/{id}/limits': () => ({ scopes: { team: { spent_usd: '4.9', spend_cap_usd: '5' } } }),
    });
    await screen.findByText(/\$5\.00/);
    expect(await line('Limit')).toBe('spend cap of the team');
    expect(await line('Now')).toBe('$4.90 spent of $5.00 in 30 days');
    expect(screen.getByRole('link', { name: 'Open the limits' }).getAttribute('href')).toBe(
      '/o/org_1/limits',
    );
    expect(screen.queryByText('Times')).toBeNull();
  });

  it('READ-36 a 404 explains the 90 days where nothing was rejected either', async () => {
    open({ '/v1/usage/requests/{id}': missing, '/v1/usage/rejections': () => ({ rejections: [] }) });
    await screen.findByText(/^No request has this id\. Requests are kept for 90 days/);
  });
});

const offer = (provider: string, name: string, [prompt, completion]: [string, string]) => ({
  ...{ provider, name },
  pricing: { pricing_unit: 'per_1m_tokens', prompt_usd_per_1m: prompt, completion_usd_per_1m: completion },
});
const MESSAGES = [{ role: 'user', content: 'Hi' }];

describe('the page of a request that was served', () => {
  const served = {
    ...lookup,
    ...{ outcome: 'served', endpoint: '/v1/chat/completions', model: 'acme/swift', provider: 'harbor' },
    ...{ created_at: '2026-03-07T10:20:30.400Z', key_id: 'key_1', http_status: 200, error_code: null },
    ...{ cost_usd: '0.068160', latency_ms: 1_450, ttft_ms: null, prompt_tokens: 10, completion_tokens: 5 },
    ...{ attempts: [], limits_seen: null, request_tags: {}, byok_used: false },
    price_lines: [
      { line: 'fresh', quantity: '10', unit: '1M tokens', rate_usd: '2000', amount_usd: '0.02' },
      { line: 'completion', quantity: '5', unit: '1M tokens', rate_usd: '9632', amount_usd: '0.04816' },
    ],
  } as unknown as Lookup;
  const openServed = (): void =>
    open({
      '/v1/usage/requests/{id}': () => served,
      '/v1/usage/requests/{id}/content': () => ({
        contents: [
          {
            ...{
              unit: 0,
              request: { model: 'swift', messages: MESSAGES },
              request_bytes: 10,
              response: null,
            },
            ...{ response_bytes: 0, redactions: 0, expires_at: '2026-03-14T10:20:30.400Z' },
          },
        ],
      }),
      '/v1/models/search': () => ({ data: [] }),
      '/v1/models/{brand}/{name}/providers': () => ({
        data: [
          offer('harbor', 'Harbor', ['2000', '9632']),
          offer('northwind', 'Northwind', ['1000', '4816']),
          { ...offer('mist', 'Mist', ['1', '1']), pricing: { request_usd: '1' } },
        ],
      }),
      '/v1/keys/{id}': () => ({ created_by: 'usr_1' }),
      '/v1/keys/filter-options': () => ({ members: [{ id: 'usr_1', name: 'Mara Voss', email: '' }] }),
    });
  afterEach(() => {
    cleanup();
    call.mockClear();
  });

  it('says which key, which member and which provider', async () => {
    openServed();
    expect(await line('Key')).toBe('Batch jobs');
    await screen.findByText('Mara Voss');
    expect(await line('Member')).toBe('Mara Voss');
    expect(await line('Served by')).toBe('harbor');
    expect(screen.getByRole('link', { name: 'Batch jobs' }).getAttribute('href')).toBe('/o/org_1/keys/key_1');
    expect(screen.getByRole('link', { name: 'acme/swift' }).getAttribute('href')).toBe(
      '/o/org_1/models/acme/swift',
    );
    expect(screen.getByRole('link', { name: 'Try in the playground' }).getAttribute('href')).toBe(
      '/o/org_1/playground?models=acme/swift',
    );
  });

  it('is replayed in the playground with its conversation, once that was shown, and never in an address', async () => {
    openServed();
    fireEvent.click(await screen.findByRole('button', { name: 'Show prompt and answer' }));
    const link = await screen.findByRole('link', { name: 'Replay in the playground' });
    expect(link.getAttribute('href')).toBe('/o/org_1/playground?models=acme/swift');
    expect(JSON.parse(link.dataset.state ?? '')).toMatchObject({
      replay: { last: { role: 'user', text: 'Hi' }, past: [] },
    });
  });

  it('says what the same tokens cost at the other providers, exactly', async () => {
    openServed();
    const table = await screen.findByRole('table', { name: 'Cost elsewhere' });
    const rows = [...table.querySelectorAll('tbody tr')].map((row) => row.textContent);
    expect(rows).toEqual(['Harbor (served it)$0.068160%', 'Northwind$0.03408-50%']);
  });

  it('shows its record as JSON', async () => {
    openServed();
    fireEvent.click(await screen.findByRole('button', { name: 'Show the JSON' }));
    const shown = screen.getByRole('region', { name: 'the record' });
    expect(JSON.parse(shown.textContent ?? '')).toEqual(served);
  });

  it('is copied as code, with its own body once that was shown, and as its record', async () => {
    const copied: string[] = [];
    Object.assign(navigator, { clipboard: { writeText: async (text: string) => void copied.push(text) } });
    openServed();
    const copy = async (item: string): Promise<string> => {
      const before = copied.length;
      fireEvent.click(await screen.findByRole('button', { name: 'Copy' }));
      fireEvent.click(await screen.findByRole('menuitem', { name: item }));
      await waitFor(() => expect(copied).toHaveLength(before + 1));
      return copied[before];
    };
    expect(await copy('As curl')).toContain('"content": "…"');
    fireEvent.click(screen.getByRole('button', { name: 'Show prompt and answer' }));
    await screen.findByRole('region', { name: 'what was asked' });
    expect(await copy('As Python')).toContain('json={"model": "swift", "messages": [{"role": "user"');
    expect(await copy('As TypeScript')).toContain('"role": "user"');
    expect(JSON.parse(await copy('Record as JSON'))).toEqual(served);
  });
});
