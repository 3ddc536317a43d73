/** @jest-environment jsdom */
import { jest } from '@jest/globals';
import { cleanup, fireEvent, screen, within } from '@testing-library/react';
import { renderedAt } from '../shell/rendered.fixture.js';
import type { Statement } from './billing.queries.js';

const STATEMENT: Statement = {
  month: '2026-10',
  since: '2026-10-01T00:00:00.000Z',
  until: '2026-11-01T00:00:00.000Z',
  is_over: true,
  opening_usd: '5',
  credits_usd: '10',
  usage_usd: '2.000000000001',
  closing_usd: '12.999999999999',
  credits: [{ kind: 'admin_grant', amount_usd: '10', entries: 1 }],
  usage: [
    { team_id: 'team_1', team_name: 'Search', model: 'acme/swift', requests: 3, amount_usd: '2' },
    { team_id: null, team_name: null, model: null, requests: 1, amount_usd: '0.000000000001' },
  ],
  days: [{ day: '2026-10-07', requests: 4, usage_usd: '2.000000000001', credits_usd: '0' }],
  as_of: '2026-11-22T10:00:00.000Z',
};
const answers: Record<string, unknown> = {
  '/auth/me': { user: { time_zone: null }, memberships: [], is_super_admin: false },
  '/v1/orgs': { data: [{ id: 'org_1', name: 'Lumen Retail' }] },
  '/v1/billing/statement': STATEMENT,
};
const GET = jest.fn(async (path: string, _asked?: unknown) => ({ data: answers[path] }));
jest.unstable_mockModule('../api/call.js', () => ({
  api: { GET },
  bodyOf: async (call: Promise<{ data: unknown }>) => (await call).data,
}));
jest.unstable_mockModule('../api/session.js', () => ({ useSession: () => ({ state: 'out' }) }));
const download = jest.fn<(name: string, text: string) => void>();
jest.unstable_mockModule('../table/download.js', () => ({ download }));
const { default: StatementPage } = await import('./statement-page.js');

const amountsOf = (table: string): (string | null | undefined)[] =>
  within(screen.getByRole('table', { name: table }))
    .getAllByRole('row')
    .slice(1)
    .map((row) => within(row).getAllByRole('cell').at(-1)?.textContent);

describe('the statement of a month', () => {
  beforeEach(() => {
    jest.useFakeTimers({ now: Date.parse('2026-11-22T10:00:00Z'), doNotFake: ['setTimeout', 'setInterval'] });
  });
  afterEach(() => {
    cleanup();
    jest.useRealTimers();
  });

  it('shows opening, credits, usage and closing of the month of its address; teams and days lead to their usage', async () => {
    renderedAt('/o/org_1/billing/statement?month=2026-10', <StatementPage />);
    const usage = await screen.findByRole('table', { name: 'Usage by team and model' });
    expect(GET.mock.calls).toContainEqual([
      '/v1/billing/statement',
      { params: { query: { org_id: 'org_1', month: '2026-10' } } },
    ]);
    expect(within(usage).getByRole('link', { name: 'Search' }).getAttribute('href')).toBe(
      '/o/org_1/usage?from=2026-10-01&to=2026-10-31&zone=UTC&team_id=team_1',
    );
    expect(within(usage).getAllByRole('row').at(-2)?.textContent).toMatch(/^No teamOthers1/);
    expect(within(usage).getAllByRole('row').at(-1)?.textContent).toMatch(/^Total4/);
    expect(screen.getByRole('link', { name: '2026-10-07' }).getAttribute('href')).toBe(
      '/o/org_1/usage?from=2026-10-07&to=2026-10-07&zone=UTC&by=key',
    );
    screen.getByText('Credit from the operator');
    screen.getByText('Closing balance');
    expect(amountsOf('Balance of the month')).toEqual([
      '$5.000000000000',
      '$10.000000000000',
      '-$2.000000000001',
      '$12.999999999999',
    ]);
    expect(amountsOf('Usage by team and model')).toEqual([
      '$2.000000000000',
      '$0.000000000001',
      '$2.000000000001',
    ]);
  });

  it('is printed under the name of its month, which the page has back afterwards', async () => {
    const printed: string[] = [];
    window.print = () => void printed.push(document.title);
    renderedAt('/o/org_1/billing/statement?month=2026-10', <StatementPage />);
    fireEvent.click(await screen.findByRole('button', { name: 'Print or save as PDF' }));
    window.dispatchEvent(new Event('afterprint'));
    expect([...printed, document.title]).toEqual(['statement-2026-10', 'Statement · Model Gateway']);
  });

  it('is written to a file whose lines add up', async () => {
    renderedAt('/o/org_1/billing/statement?month=2026-10', <StatementPage />);
    fireEvent.click(await screen.findByRole('button', { name: 'Download CSV' }));
    expect(download).toHaveBeenCalledWith(
      'statement-2026-10.csv',
      [
        'line,team,model,requests,amount_usd',
        'Opening balance,,,,5',
        'Credit from the operator,,,,10',
        'Usage,Search,acme/swift,3,-2',
        'Usage,No team,Others,1,-0.000000000001',
        'Closing balance,,,,12.999999999999',
        '',
      ].join('\r\n'),
    );
  });
});
