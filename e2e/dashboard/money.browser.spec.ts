import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startUpstreamSim, type UpstreamSim } from '@gateway/simulator';
import { eventually, testPostgres, type TestDatabase } from '@gateway/testing';
import type { Locator, Page } from 'playwright-core';
import { startAllInOne } from '../harness/all-in-one.js';
import type { Gateway } from '../harness/gateway.js';
import { ask, pico } from '../harness/requests.js';
import type { PersonSession } from '../harness/session.js';
import { openSignedIn, type SignedIn } from './browser.js';
import { seedUsage } from './seeded-usage.js';

const START_MS = 900_000;
const TEST_MS = 900_000;
const ARRIVES = { timeoutMs: 60_000 };
const AMOUNTS = ['0.000001', '99999999999.123456789012'];
const SEEDED_AT = '2026-03-07T00:00:00Z';

/** A model of two providers: one that fails, and one that has read most of the prompt from its cache. */
const configOf = (url: string): string => `
providers:
  - { slug: failing, dialect: chat, base_url: '${url}/v1', api_key_env: ACME_KEY }
  - { slug: caching, dialect: chat, base_url: '${url}/v1', api_key_env: ACME_KEY }
models:
  - id: acme/cached
    context_length: 8192
    supports: [completions_api]
    routes:
      - provider: failing
        upstream_model: sim-chat:error=500
        prices: { prompt_usd_per_1m: '1', completion_usd_per_1m: '1' }
      - provider: caching
        upstream_model: sim-chat:prompt=1000;completion=50;cached=600
        prices: { prompt_usd_per_1m: '3', cache_read_input_usd_per_1m: '0.3', completion_usd_per_1m: '15' }
`;

describe('money in the dashboard', () => {
  const folder = mkdtempSync(join(tmpdir(), 'dashboard-money-'));
  let providers: UpstreamSim;
  let database: TestDatabase;
  let gateway: Gateway;
  let owner: PersonSession;
  let signedIn: SignedIn;
  let page: Page;
  let base: string;

  beforeAll(async () => {
    providers = await startUpstreamSim({});
    writeFileSync(join(folder, 'gateway.yaml'), configOf(providers.url));
    database = await testPostgres();
    const env = {
      DATABASE_URL: database.url,
      GATEWAY_CONFIG: join(folder, 'gateway.yaml'),
      ACME_KEY: 'sk-acme',
    };
    gateway = await startAllInOne({ env });
    signedIn = await openSignedIn(gateway);
    ({ owner, page, base } = signedIn);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: gateway.url });
  }, START_MS);
  afterAll(async () => {
    const faults = await signedIn?.end();
    await gateway?.stop();
    await database?.drop();
    await providers?.close();
    rmSync(folder, { recursive: true });
    expect(faults).toEqual([]);
  }, START_MS);

  it(
    'point 13 the price lines of a fallback with cache reads add up to its cost',
    async () => {
      const routing_policy = { provider_order: ['failing', 'caching'], max_retries: 0 };
      const { key } = await owner.createKey('Falls back', { routing_policy });
      const body = { model: 'acme/cached', messages: [{ role: 'user', content: 'Hello' }] };
      const { status, text, requestId } = await ask(gateway, 'POST', '/v1/chat/completions', { key, body });
      expect([status, text]).toEqual([200, expect.any(String)]);
      await eventually(async () => {
        const found = await owner.call('GET', `/v1/usage/requests/${requestId}?org_id=${owner.orgId}`);
        return found.ok || null;
      }, ARRIVES);

      await page.goto(`${base}/requests/${requestId}`);
      await page.getByText('served by a fallback').waitFor();
      const lines = page.getByRole('table', { name: 'Price lines' }).getByRole('row');
      await lines.nth(1).waitFor();
      const shown = (await lines.allInnerTexts()).slice(1).join('\n');
      for (const quantity of ['400', '600', '50']) expect(shown).toMatch(new RegExp(`\\b${quantity}\\b`));
      const amounts = await lines
        .getByRole('cell')
        .filter({ hasText: /^\$[\d.]+$/ })
        .allInnerTexts();
      expect(amounts.length).toBeGreaterThanOrEqual(3);
      const sum = amounts.reduce((total, text) => total + pico(text.slice(1)), 0n);
      // 400 at 3 USD, 600 at 0.30 USD and 50 at 15 USD a million.
      expect(sum).toBe(pico('0.00213'));
      await page.getByText('$0.00213', { exact: true }).first().waitFor();
    },
    TEST_MS,
  );

  it(
    'point 13 a rejection names its scope, the limit, and when it is open again',
    async () => {
      const { key } = await owner.createKey('One a minute', { rpm: 1 });
      const body = { model: 'simulator/chat', messages: [{ role: 'user', content: 'Hello' }] };
      // Two of a minute: the second is rejected.
      await eventually(async () => {
        const { status } = await ask(gateway, 'POST', '/v1/chat/completions', { key, body });
        return status === 429 || null;
      }, ARRIVES);
      await page.goto(`${base}/requests?show=rejected&live=yes`);
      const row = page.getByRole('row').filter({ hasText: 'Requests a minute of the key' }).first();
      await row.getByRole('link', { name: 'One a minute' }).waitFor();
      await row.getByText('The limit of 1 request per minute of the key is used up.').waitFor();
      await row.getByText('next minute').waitFor();
      await row.getByRole('link', { name: /^Requests a minute of the key/ }).click();
      await page.getByRole('heading', { name: 'Refused before any model was called' }).waitFor();
      await page.getByText('requests a minute of the key', { exact: true }).waitFor();
      await page.getByText(/^\d of 1 requests this minute$/).waitFor();
      await page.getByText('Wait for Retry-After').waitFor();
      const panel = page.getByRole('dialog', { name: 'Request' });
      await panel.getByRole('link', { name: 'One a minute' }).waitFor();
    },
    TEST_MS,
  );

  it(
    'point 6 the smallest and the largest amount are shown, and copied to the last decimal',
    async () => {
      const me = (await (await owner.call('GET', '/auth/me')).json()) as { user: { id: string } };
      const { id } = await owner.createKey('Dear');
      await seedUsage({
        databaseUrl: database.url,
        orgId: owner.orgId,
        memberId: me.user.id,
        keyIds: [id],
        events: AMOUNTS.length,
        costs: AMOUNTS,
        from: SEEDED_AT,
        secondsApart: 60,
      });
      await page.goto(`${base}/requests?from=2026-03-07&to=2026-03-07&key_id=${id}`);
      const table = page.getByRole('table', { name: 'Requests' });
      for (const [amount, shown] of [
        [AMOUNTS[0], '$0.000001'],
        [AMOUNTS[1], '$99,999,999,999.12'],
      ]) {
        const figure = table.getByText(shown, { exact: true });
        await figure.hover();
        await page
          .getByRole('tooltip')
          .filter({ hasText: `$${amount}` })
          .waitFor();
        await copies(figure, amount);
        await page.mouse.move(0, 0);
      }
      await page.goto(`${base}/usage?from=2026-03-07&to=2026-03-07&by=key`);
      const total = page.getByRole('table', { name: 'Sums of the range' }).getByRole('row').last();
      const sum = total.getByText('$99,999,999,999.12', { exact: true });
      await copies(sum, '99999999999.123457789012');
    },
    TEST_MS,
  );

  // The last of all: from here on the failing provider is left alone.
  it(
    'issue 16 D11 a provider that fails shows its breaker and its last error, and nothing that it wrote',
    async () => {
      const routing_policy = { provider_order: ['failing', 'caching'], max_retries: 0 };
      const { key } = await owner.createKey('Opens a breaker', { routing_policy });
      const body = { model: 'acme/cached', messages: [{ role: 'user', content: 'hello' }] };
      const asked = Array.from({ length: 20 }, () =>
        ask(gateway, 'POST', '/v1/chat/completions', { key, body }),
      );
      for (const { status } of await Promise.all(asked)) expect(status).toBe(200);
      const row = page.getByRole('row', { name: /failing/ });
      await eventually(
        async () => {
          await page.goto(`${base}/admin/providers`);
          await row.waitFor();
          return /\bopen\b/i.test(await row.innerText());
        },
        { ...ARRIVES, intervalMs: 1_000 },
      );
      expect(await row.innerText()).toMatch(/internal_provider_error\s+status 500, /);
      expect(await page.getByRole('row', { name: /caching/ }).innerText()).toMatch(/\bclosed\b/i);
    },
    TEST_MS,
  );

  /** A click selects the whole figure, and Ctrl C copies it as it is in the ledger; the clipboard takes a moment. */
  async function copies(figure: Locator, amount: string): Promise<void> {
    await figure.click();
    await page.keyboard.press('Control+C');
    const text = 'navigator.clipboard.readText()';
    await eventually(async () => (await page.evaluate<string>(text)) === amount || null, ARRIVES);
  }
});
