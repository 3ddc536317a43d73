import { readFile } from 'node:fs/promises';
import { eventually } from '@gateway/testing';
import type { Page } from 'playwright-core';
import { ownOrganization, type OwnOrganization } from '../harness/own-organization.js';
import { ask, pico } from '../harness/requests.js';
import { logIn, type PersonSession } from '../harness/session.js';
import { axeFaults, openSignedIn, type SignedIn } from './browser.js';
import { seedUsage } from './seeded-usage.js';

const START_MS = 900_000;
const TEST_MS = 900_000;
const HOURS = 72;
const HOUR_S = 3_600;
/** Los Angeles puts its clock forward on 8 March 2026. */
/** Kolkata begins its days on the half hour: an event stands on the first instant of each. */
const FIRST_EVENT = '2026-03-07T00:30:00Z';
const DAYS = ['2026-03-06', '2026-03-07', '2026-03-08', '2026-03-09', '2026-03-10'];
const NO_REQUEST = 'No request in this range';
const ROWS_A_READ_MAX = 200;
const ARRIVES = { timeoutMs: 60_000 };

describe('figures of the dashboard', () => {
  let gateway: OwnOrganization;
  let owner: PersonSession;
  let signedIn: SignedIn;
  let page: Page;
  let base: string;

  beforeAll(async () => {
    gateway = await ownOrganization('all-in-one');
    owner = await logIn(gateway);
    const me = (await (await owner.call('GET', '/auth/me')).json()) as { user: { id: string } };
    const { id: keyId } = await owner.createKey('=cmd|calc');
    await seedUsage({
      databaseUrl: gateway.databaseUrl,
      orgId: owner.orgId,
      memberId: me.user.id,
      keyIds: [keyId],
      events: HOURS,
      from: FIRST_EVENT,
      secondsApart: HOUR_S,
    });
    signedIn = await openSignedIn(gateway, owner);
    ({ page, base } = signedIn);
  }, START_MS);
  afterAll(async () => {
    const faults = await signedIn?.end();
    // Others of the run sign in as this person, too.
    await owner?.call('PATCH', '/auth/me', { time_zone: null });
    expect(faults).toEqual([]);
  }, START_MS);

  /** Dollars of the range, all digits of what the page shows. */
  async function spendOf(from: string, to: string): Promise<bigint> {
    await page.goto(`${base}/usage?from=${from}&to=${to}`);
    const sums = page.getByRole('table', { name: 'Sums of the range' });
    const total = sums.getByRole('row').last().locator('[data-exact]').first();
    const empty = page.getByText(NO_REQUEST);
    await total.or(empty).first().waitFor();
    if (await empty.isVisible()) return 0n;
    return pico((await total.getAttribute('data-exact')) ?? '');
  }

  it.each(['UTC', 'Asia/Kolkata', 'America/Los_Angeles'])(
    'point 5 the days of a range add up to it and to the ledger, over a clock change, in %s',
    async (zone) => {
      expect((await owner.call('PATCH', '/auth/me', { time_zone: zone })).status).toBe(200);
      const days: bigint[] = [];
      for (const day of DAYS) days.push(await spendOf(day, day));
      const sum = days.reduce((total, amount) => total + amount, 0n);
      expect(sum).toBeGreaterThan(0n);
      expect(await spendOf(DAYS[0], DAYS[DAYS.length - 1])).toBe(sum);
      await page.goto(`${base}/billing/ledger`);
      const charges = page.getByRole('row').filter({ hasText: 'usage' });
      await charges.first().waitFor();
      const amounts = await charges.getByText(/^-?\$[\d.,]+$/).allInnerTexts();
      // Each row has the amount and the balance after it.
      const ledger = amounts
        .filter((_, index) => index % 2 === 0)
        .map((text) => pico(text.replace(/[$,-]/g, '')));
      expect(ledger.reduce((total, amount) => total + amount, 0n)).toBe(sum);
    },
    TEST_MS,
  );

  it(
    'point 4 a bar leads to the requests that it shows, by the mouse and from its table by the keyboard',
    async () => {
      await page.goto(`${base}/usage?from=${DAYS[1]}&to=${DAYS[3]}`);
      const bar = page.locator('figure a').first();
      const address = (await bar.getAttribute('href')) ?? '';
      expect(address).toMatch(
        /\/requests\?from=2026-03-\d\d&to=2026-03-\d\d&zone=[\w%]+&model=simulator%2F\w+$/,
      );
      const arrive = async (): Promise<void> => {
        const rows = page.getByRole('table', { name: 'Requests' });
        await rows.waitFor();
        expect(page.url()).toBe(`${gateway.url}${address}`);
        expect(await rows.getAttribute('aria-rowcount')).toBe('9');
      };
      await bar.click();
      await arrive();
      await page.goBack();
      await page.getByRole('button', { name: 'The chart as a table' }).press('Enter');
      const table = page.getByRole('table', { name: 'Spend by day' });
      await table.locator(`a[href="${address}"]`).focus();
      expect(await axeFaults(page)).toEqual([]);
      await page.keyboard.press('Enter');
      await arrive();
    },
    TEST_MS,
  );

  it(
    'point 4 a drag over the counts by status picks its hours, which back and a reload restore',
    async () => {
      const day = `${base}/requests?from=${DAYS[1]}&to=${DAYS[1]}`;
      await page.goto(day);
      const rows = page.getByRole('table', { name: 'Requests' });
      const lists = (count: number): Promise<void> =>
        eventually(
          async () => (await rows.getAttribute('aria-rowcount')) === String(count + 1) || null,
          ARRIVES,
        ).then();
      await lists(24);
      const bars = page
        .getByRole('figure', { name: /^Requests by status/ })
        .locator(':scope > [aria-hidden]')
        .first();
      const box = await bars.boundingBox();
      if (box === null) throw new Error('The bars are not drawn.');
      const middleOf = (hour: number): [number, number] => [
        box.x + ((hour + 0.5) / 24) * box.width,
        box.y + box.height / 2,
      ];
      await page.mouse.move(...middleOf(2));
      await page.mouse.down();
      await page.mouse.move(...middleOf(3));
      await page.mouse.move(...middleOf(4));
      await page.mouse.up();
      await lists(3);
      expect(page.url()).toMatch(
        /\/requests\?from=2026-03-\d\dT\d\d%3A\d\dZ&to=2026-03-\d\dT\d\d%3A\d\dZ&zone=[\w%]+$/,
      );
      expect(await axeFaults(page)).toEqual([]);
      await page.reload();
      await lists(3);
      await page.goBack();
      await lists(24);
      expect(page.url()).toBe(day);
    },
    TEST_MS,
  );

  it(
    'point 9 of 10,000 rows 60 are in the document, and no read asks for more than a page',
    async () => {
      const limits: number[] = [];
      page.on('request', (request) => {
        const { limit } = (request.postDataJSON() ?? {}) as { limit?: number };
        if (request.url().includes('/v1/usage/events') && limit !== undefined) limits.push(limit);
      });
      await page.route('**/v1/usage/events', async (route) => {
        await route.fulfill({
          json: { events: rowsOf(10_000), total: 10_000, limit: 100, offset: 0, next_cursor: null },
        });
      });
      await page.goto(`${base}/requests`);
      const table = page.getByRole('table', { name: 'Requests' });
      await table.getByRole('row').nth(1).waitFor();
      expect(await table.getByRole('row').count()).toBeLessThanOrEqual(60);
      await table.press('End');
      await table.getByRole('link', { name: /open req_9999$/ }).waitFor();
      expect(await table.getByRole('row').count()).toBeLessThanOrEqual(60);
      await page.unroute('**/v1/usage/events');
      expect(limits.length).toBeGreaterThan(0);
      expect(Math.max(...limits)).toBeLessThanOrEqual(ROWS_A_READ_MAX);
    },
    TEST_MS,
  );

  it(
    'point 11 usage says how old it is, and reads a request that was made just now',
    async () => {
      await page.goto(`${base}/usage?metric=requests&range=24h`);
      await page
        .getByText(/^As of /)
        .or(page.getByText(NO_REQUEST))
        .first()
        .waitFor();
      const answer = await ask(gateway, 'POST', '/v1/chat/completions', {
        body: { model: 'simulator/chat', messages: [{ role: 'user', content: 'Hello' }] },
      });
      expect(answer.status).toBe(200);
      const total = page.getByRole('heading', { name: 'Requests: 1' });
      await eventually(
        async () => {
          await page.getByRole('button', { name: 'Refresh' }).click();
          return (await total.isVisible()) ? true : null;
        },
        { timeoutMs: 60_000 },
      );
      await page.getByText(/^As of /).waitFor();
    },
    TEST_MS,
  );

  it(
    'point 12 the export has the rows of the filter and no others, announces them, and starts no formula',
    async () => {
      await page.goto(`${base}/requests?from=${DAYS[0]}&to=${DAYS[4]}&model=simulator%2Fclaude`);
      await page.getByRole('table', { name: 'Requests' }).waitFor();
      const coming = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Export CSV' }).click();
      const download = await coming;
      const lines = (await readFile(await download.path(), 'utf8')).trim().split(/\r?\n/);
      const rows = lines.slice(1);
      expect(rows).toHaveLength(HOURS / 3);
      await page.getByText(`${rows.length} rows`, { exact: true }).waitFor();
      expect(rows.filter((row) => !row.includes('simulator/claude'))).toEqual([]);
      expect(rows.filter((row) => /(?:^|,)"?=/.test(row))).toEqual([]);
      const rejected = await ask(gateway, 'GET', `/v1/usage/events/export?org_id=${owner.orgId}`);
      expect([401, 403]).toContain(rejected.status);
    },
    TEST_MS,
  );
});

function rowsOf(count: number): object[] {
  return Array.from({ length: count }, (_, n) => ({
    id: `use_${n}`,
    request_id: `req_${n}`,
    model: 'simulator/chat',
    prompt_tokens: n,
    completion_tokens: 1,
    total_tokens: n + 1,
    cost_usd: '0.000001',
    latency_ms: 12,
    status: 'success',
    created_at: '2026-03-07T00:00:00.000Z',
    routing_fallback: false,
    request_tags: {},
    key_id: 'key_1',
    key_label: null,
    user_id: 'usr_1',
    endpoint: '/v1/chat/completions',
    ttft_ms: null,
    cached_tokens: 0,
  }));
}
