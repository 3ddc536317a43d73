import type { Locator, Page } from 'playwright-core';
import { startAllInOne } from '../harness/all-in-one.js';
import type { Gateway } from '../harness/gateway.js';
import { ask } from '../harness/requests.js';
import { openSignedIn, settled, type SignedIn } from './browser.js';
import { linksOf } from './visits.js';

const START_MS = 900_000;
const TEST_MS = 600_000;
/** Words of a wallet. `credentials`, `balanced` and units that are billed are none. */
const WALLET = /.*(?:\b(?:balances?|credit|credits|wallet|coupons?|top up)\b|recharge|payment|billing).*/gi;

describe('a deployment that bills nobody, from its first start', () => {
  let gateway: Gateway;
  let signedIn: SignedIn;
  let page: Page;
  let base: string;

  beforeAll(async () => {
    gateway = await startAllInOne({ env: { BILLING: 'off' } });
    signedIn = await openSignedIn(gateway);
    ({ page, base } = signedIn);
  }, START_MS);
  afterAll(async () => {
    const faults = await signedIn?.end();
    await gateway?.stop();
    expect(faults).toEqual([]);
  }, START_MS);

  it('issue 38 serves without credit, and no read speaks of a wallet', async () => {
    const body = { model: 'simulator/chat', messages: [{ role: 'user', content: 'Hello' }] };
    expect((await ask(gateway, 'POST', '/v1/chat/completions', { body })).status).toBe(200);
    const balance = await ask(gateway, 'GET', '/v1/balance');
    expect(balance.body).toMatchObject({ billing: 'off', balance_usd: '0', available_usd: '0' });
    for (const path of ['/v1/billing/ledger', '/v1/billing/payments', '/v1/admin/coupons'])
      expect([path, (await signedIn.owner.call('GET', path)).status]).toEqual([path, 404]);
    const { text } = await ask(gateway, 'GET', '/openapi.json');
    expect(text).not.toMatch(
      /v1\/billing|v1\/admin\/c(redits|oupons)|Coupon|Payment|AutoRecharge|LedgerEntry/,
    );
  });

  /** Lines of a page or a dialog that speak of a wallet. */
  async function spoken(where: Locator): Promise<string[]> {
    await settled(page);
    return (await where.innerText()).match(WALLET) ?? [];
  }

  it(
    'issue 38 no page and no tab of the organization, of the platform or of one’s own account speaks of a wallet',
    async () => {
      const own = `${gateway.url}/dashboard/o/me`;
      const found: string[] = [];
      for (const [root, start] of [
        [base, base],
        [base, `${base}/admin/providers`],
        [own, own],
      ]) {
        await page.goto(start);
        await page.getByRole('heading', { level: 1 }).first().waitFor();
        for (const path of await linksOf(page, root)) {
          await page.goto(`${root}${path}`);
          await page.getByRole('heading', { level: 1 }).first().waitFor();
          found.push(...(await spoken(page.locator('body'))).map((line) => `${path}: ${line}`));
        }
      }
      expect(found).toEqual([]);
      await page.goto(`${base}/billing`);
      await page.getByText('There is no page at this address').waitFor();
    },
    TEST_MS,
  );

  it.each([
    ['/provider-keys', 'Add key'],
    ['/admin-keys', 'Create admin key'],
    ['/admin/orgs', /^Terms of /],
  ])(
    'issue 38 nor does the dialog of %s',
    async (path, name) => {
      await page.goto(`${base}${path}`);
      await page.getByRole('button', { name }).first().click();
      expect(await spoken(page.getByRole('dialog'))).toEqual([]);
      if (path !== '/admin/orgs') return;
      // Terms are saved without the limit of a balance that nobody sees.
      await page.getByRole('dialog').getByLabel('Tier').first().click();
      await page.getByRole('option', { name: 'platform' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    },
    TEST_MS,
  );

  it(
    'issue 38 nor do the events that a channel can be told of, nor the shortcuts of the keyboard',
    async () => {
      const channel = { channel_type: 'email', destination: 'team@example.com', is_enabled: true };
      expect((await signedIn.owner.call('POST', '/alerts/channels', channel)).status).toBe(201);
      await page.goto(`${base}/alerts?add=policy`);
      await page.getByRole('dialog').getByLabel('Event').first().click();
      const events = page.getByRole('listbox', { name: 'Event' });
      await events.getByText('Spend cap is reached').waitFor();
      expect(await spoken(events)).toEqual([]);
      await page.goto(`${base}/usage`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.keyboard.press('Shift+?');
      expect(await spoken(page.getByRole('dialog', { name: 'Keyboard' }))).toEqual([]);
    },
    TEST_MS,
  );
});
