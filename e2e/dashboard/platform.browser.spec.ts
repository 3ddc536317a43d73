import { eventually } from '@gateway/testing';
import type { Page } from 'playwright-core';
import { ownOrganization, type OwnOrganization } from '../harness/own-organization.js';
import { ask } from '../harness/requests.js';
import type { PersonSession } from '../harness/session.js';
import { openPage, pagesOfMenu, axeFaults, openSignedIn, settled, type SignedIn } from './browser.js';

const START_MS = 900_000;
const TEST_MS = 900_000;
/** A catalogue of one model, in place of all that are there. */
const CATALOGUE = {
  models: [
    {
      id: 'acme/one',
      name: 'One',
      model_type: 'text',
      context_length: 8192,
      input_modalities: ['text'],
      output_modalities: ['text'],
      supports: ['completions_api'],
      routes: [
        {
          provider: 'simulated',
          upstream_model: 'sim-chat',
          dialect: 'chat',
          price: { prompt_usd_per_1m: '1', completion_usd_per_1m: '2' },
        },
      ],
    },
  ],
};

describe('pages of the platform, and choices that a page keeps', () => {
  let gateway: OwnOrganization;
  let owner: PersonSession;
  let signedIn: SignedIn;
  let page: Page;
  let base: string;

  beforeAll(async () => {
    gateway = await ownOrganization('all-in-one');
    signedIn = await openSignedIn(gateway);
    ({ owner, page, base } = signedIn);
  }, START_MS);
  afterAll(async () => {
    const faults = await signedIn?.end();
    for (const restore of changed) await restore();
    expect(faults).toEqual([]);
  }, START_MS);

  /** Puts back what others of the run see. */
  const changed: (() => Promise<unknown>)[] = [];

  const ledgerOf = async (kind: string): Promise<{ amount_usd: string }[]> => {
    const answer = await owner.call('GET', `/v1/billing/ledger?org_id=${owner.orgId}`);
    const { data } = (await answer.json()) as { data: { kind: string; amount_usd: string }[] };
    return data.filter((entry) => entry.kind === kind);
  };

  it(
    'point 8 a credit, a coupon and its redemption that are pressed twice are one each',
    async () => {
      const granted = (await ledgerOf('admin_grant')).length;
      await page.goto(`${base}/admin/orgs`);
      await page.getByRole('button', { name: `Credit of ${gateway.orgName}`, exact: true }).click();
      const credit = page.getByRole('dialog');
      await credit.getByLabel('Amount, USD').fill('7.25');
      await credit.getByLabel('Reason').fill('Sorry for the outage');
      await credit.getByRole('button', { name: 'Give credit' }).dblclick();
      await credit.getByText(/^\$7\.25 credited/).waitFor();
      expect((await ledgerOf('admin_grant')).length).toBe(granted + 1);

      await page.goto(`${base}/admin/coupons?create=yes`);
      const form = page.getByRole('dialog', { name: 'Create a coupon' });
      await form.getByLabel('Code').fill('WELCOME-1');
      await form.getByLabel('Amount, USD').fill('3.50');
      await form.getByRole('button', { name: 'Create coupon' }).dblclick();
      const row = page.getByRole('row').filter({ hasText: 'WELCOME-1' });
      await row.waitFor();
      expect(await row.count()).toBe(1);

      await page.goto(`${base}/billing`);
      await page.getByRole('button', { name: 'Add credit' }).click();
      await page.getByText('By coupon', { exact: true }).click();
      await page.getByLabel('Coupon code').fill('WELCOME-1');
      await page.getByRole('button', { name: 'Redeem' }).dblclick();
      await page.getByText(/^\$3\.50 were credited/).waitFor();
      expect((await ledgerOf('coupon')).map(({ amount_usd: usd }) => usd)).toEqual(['3.5']);
    },
    TEST_MS,
  );

  it(
    'a catalogue file shows what it would change, and is not loaded over a rejection without a word typed',
    async () => {
      await page.goto(`${base}/admin/catalogue`);
      await page.locator('input[type=file]').setInputFiles({
        name: 'one.json',
        mimeType: 'application/json',
        buffer: Buffer.from(JSON.stringify(CATALOGUE)),
      });
      await page.getByText('Added: 1').waitFor();
      await page.getByText(/^Removed: \d+/).waitFor();
      await page.getByText('It would be refused').waitFor();
      expect(await page.getByRole('button', { name: 'Load it' }).isDisabled()).toBe(true);
      await page.locator('input[type=file]').setInputFiles({
        name: 'text.json',
        mimeType: 'application/json',
        buffer: Buffer.from('no json'),
      });
      await page.getByText('It is no JSON.').waitFor();
    },
    TEST_MS,
  );

  it(
    'issue 38 a budget of a provider is made, raised and deleted, and axe finds nothing in its table and its form',
    async () => {
      await page.goto(`${base}/admin/providers`);
      await page.getByRole('navigation', { name: 'Section' }).getByText('Provider budgets').click();
      await page.getByRole('button', { name: 'Create budget' }).click();
      const form = page.getByRole('dialog', { name: 'Create a budget' });
      await form.getByLabel('Name').fill('Simulated a month');
      await form.getByLabel('Amount, USD').fill('9000000');
      await form.getByLabel('Warn at, percent').fill('50, 80');
      // Others of the run use the provider.
      await form.getByRole('switch', { name: 'Send the provider no requests above it' }).uncheck();
      await form.getByRole('combobox', { name: 'Provider' }).click();
      await page.getByRole('option').first().click();
      expect(await axeFaults(page)).toEqual([]);
      await form.getByRole('button', { name: 'Create budget' }).dblclick();
      const row = page.getByRole('row').filter({ hasText: 'Simulated a month' });
      await row.getByText('warns only').waitFor();
      expect(await row.count()).toBe(1);
      await row.getByText('warns at 50%, 80%').waitFor();
      const choose = async (item: string): Promise<void> => {
        await row.getByRole('button', { name: 'Change Simulated a month' }).click();
        await page.getByRole('menuitem', { name: item }).click();
      };
      await choose('Raise for a time');
      await page.getByLabel('Add, USD').fill('500');
      const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
      await page.getByLabel('Last day').fill(tomorrow);
      await page.getByRole('button', { name: 'Raise', exact: true }).click();
      await row.getByText('$9,000,500.00').waitFor();
      expect(await axeFaults(page)).toEqual([]);
      await choose('Delete');
      await page.getByRole('button', { name: 'Delete', exact: true }).click();
      await row.waitFor({ state: 'detached' });
    },
    TEST_MS,
  );

  it(
    'point 4 columns, a saved view and the models that are compared come back',
    async () => {
      await page.goto(`${base}/requests?range=7d`);
      await page.getByRole('button', { name: 'Columns' }).click();
      await page.getByRole('checkbox', { name: 'Tags' }).check();
      await page.waitForURL(/columns=/);
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'Views' }).click();
      await page.getByLabel('Keep what is shown as').fill('With tags');
      await page.getByRole('button', { name: 'Keep', exact: true }).click();
      await page.getByRole('button', { name: 'With tags', exact: true }).waitFor();
      await page.evaluate('localStorage.clear()');
      await page.goto(`${base}/requests`);
      await page.getByRole('button', { name: 'Views' }).click();
      await page.getByRole('button', { name: 'With tags', exact: true }).click();
      await page.waitForURL(/columns=.*Tags/);
      expect(await page.getByLabel('7 d').isChecked()).toBe(true);

      await page.goto(`${base}/models?q=simulator`);
      // On a phone a row is a card, whose first line says what its box is for.
      await page.setViewportSize({ width: 390, height: 844 });
      await page
        .getByRole('checkbox', { name: /^Compare / })
        .first()
        .waitFor();
      const before = `getComputedStyle(document.querySelector('td:has(input[type=checkbox])'), '::before')`;
      const shown = await page.evaluate(`[${before}.content, ${before}.display]`);
      expect(shown).toEqual(['"Compare"', 'block']);
      await page.setViewportSize({ width: 1280, height: 800 });
      await page
        .getByRole('checkbox', { name: /^Compare / })
        .first()
        .check();
      await page
        .getByRole('checkbox', { name: /^Compare / })
        .nth(1)
        .check();
      await page.getByRole('button', { name: 'Compare 2' }).click();
      const table = page.getByRole('table', { name: 'Models side by side' });
      await table.waitFor();
      expect(await table.getByRole('columnheader').count()).toBe(3);
      await page.reload();
      await table.waitFor();
    },
    TEST_MS,
  );

  it(
    'the limits of a key stand below those above it, with what is used of them',
    async () => {
      await owner.call('PATCH', `/v1/orgs/${owner.orgId}`, { rpm_limit: 500, spend_cap_usd: '80' });
      const { id } = await owner.createKey('Below', { rpm: 20 });
      await page.goto(`${base}/limits?key_id=${id}`);
      const table = page.getByRole('table', { name: 'Limits from the organization to the key' });
      const org = table.getByRole('row').filter({ hasText: 'Organization' });
      await org.getByText('0 of 500').waitFor();
      await org.getByText('$80.00').waitFor();
      const key = table.getByRole('row').filter({ has: page.getByText('0 of 20', { exact: true }) });
      await key.getByText('effective').first().waitFor();
      await page
        .getByRole('progressbar', { name: 'Requests this minute, Key' })
        .waitFor({ state: 'attached' });
    },
    TEST_MS,
  );

  it(
    'the whole tree of limits opens from the organization down to a key, and finds one by its label',
    async () => {
      await owner.call('PATCH', `/v1/orgs/${owner.orgId}`, { rpd_limit: 70_000 });
      const team = await owner.call('POST', `/v1/orgs/${owner.orgId}/teams`, { name: 'Night shift' });
      expect(team.status).toBe(201);
      const { id: team_id } = (await team.json()) as { id: string };
      const me = (await (await owner.call('GET', '/auth/me')).json()) as {
        user: { id: string; name: string };
      };
      expect((await owner.call('PUT', `/v1/teams/${team_id}/members/${me.user.id}`, {})).status).toBe(200);
      await owner.createKey('Of the night', { team_id, rpm: 7 });

      await page.goto(`${base}/limits`);
      await page
        .getByRole('region', { name: 'Organization' })
        .getByText(/^[\d,]+ of 70,000$/)
        .waitFor();
      const teams = page.getByRole('region', { name: 'Teams' });
      await teams.getByRole('button', { name: 'Open Night shift' }).click();
      await teams.getByRole('button', { name: `Open ${me.user.name}` }).click();
      await teams.getByRole('link', { name: 'Of the night' }).waitFor();
      await teams.getByText('7', { exact: true }).waitFor();
      expect(await axeFaults(page)).toEqual([]);
      await page.getByLabel('Search teams, people and keys').fill('of the night');
      await page.getByText('No team is called that.').waitFor();
      await page.getByRole('region', { name: 'Keys' }).getByRole('link', { name: 'Of the night' }).click();
      await page.getByRole('table', { name: 'Limits from the organization to the key' }).waitFor();
      await page.getByRole('button', { name: 'All limits' }).click();
      await page.getByRole('region', { name: 'Keys' }).waitFor();
    },
    TEST_MS,
  );

  it(
    'point 4 by keyboard alone: a search, the row that it finds, back and forward, and the whole list again',
    async () => {
      await owner.createKey('Needle');
      await page.goto(`${base}/keys`);
      const field = page.getByLabel('Search labels');
      await field.waitFor();
      await page.keyboard.press('/');
      await page.keyboard.type('needle');
      await page.waitForURL(/label=needle/);
      await page.getByText('1 to 1 of 1').waitFor();
      const focused = (): Promise<unknown> => page.evaluate('document.activeElement.textContent');
      for (let n = 0; n < 10 && (await focused()) !== 'Needle'; n += 1) await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      const heading = (name: string): Promise<void> =>
        page.getByRole('heading', { name, level: 1, exact: true }).waitFor();
      await heading('Needle');
      await eventually(async () => (await focused()) === 'Needle');
      await page.goBack();
      await heading('API keys');
      expect(await field.inputValue()).toBe('needle');
      await page.goForward();
      await heading('Needle');
      await page.goBack();
      await heading('API keys');
      // Two letters count together only within a moment.
      await eventually(
        async () => {
          await page.keyboard.press('g');
          await page.keyboard.press('k');
          return page.url() === `${base}/keys`;
        },
        { timeoutMs: 60_000, intervalMs: 500 },
      );
      await page.getByRole('link', { name: 'e2e', exact: true }).waitFor();
      expect(await field.inputValue()).toBe('');
    },
    TEST_MS,
  );

  it(
    'point 2 names that hold markup stand as text on every page of the menu, and nothing in them is run',
    async () => {
      const markup = '<img src=x onerror="window.ran=1"><a href="javascript:window.ran=2">go</a>';
      const write = async (method: string, path: string, body: object): Promise<void> => {
        const { status } = await owner.call(method, path, body);
        expect([path, status < 300]).toEqual([path, true]);
      };
      const read = async <T>(path: string): Promise<T> => (await (await owner.call('GET', path)).json()) as T;
      const org = { org_id: owner.orgId };
      const { key } = await owner.createKey(markup);
      await write('PATCH', `/v1/orgs/${owner.orgId}`, { name: markup });
      const { user } = await read<{ user: { name: string } }>('/auth/me');
      changed.push(() => write('PATCH', '/auth/me', { name: user.name }));
      await write('PATCH', '/auth/me', { name: markup });
      await write('POST', `/v1/orgs/${owner.orgId}/teams`, { name: markup });
      await write('POST', '/v1/templates', { ...org, name: 'hostile', description: markup });
      const { data } = await read<{ data: { slug: string; name: string }[] }>('/v1/admin/providers');
      const path = '/v1/admin/providers/simulated-messages';
      const former = data.find(({ slug }) => path.endsWith(`/${slug}`))?.name;
      expect(former).toBeDefined();
      changed.push(() => write('PUT', path, { name: former }));
      await write('PUT', path, { name: markup });
      const call = { messages: [{ role: 'user', content: markup }] };
      for (const model of ['simulator/chat', markup])
        await ask(gateway, 'POST', '/v1/chat/completions', { key, body: { ...call, model } });

      await page.goto(base);
      await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
      const names = await pagesOfMenu(page);
      expect(names.length).toBeGreaterThan(15);
      for (const name of names) {
        await openPage(page, name);
        await settled(page);
        const made = "document.querySelectorAll('img[src=x], a[href^=javascript]').length";
        expect([name, await page.evaluate(`[${made}, window.ran]`)]).toEqual([name, [0, undefined]]);
      }
      await openPage(page, 'API keys');
      await page.getByRole('link', { name: markup, exact: true }).click();
      await page.getByRole('heading', { name: markup, level: 1, exact: true }).waitFor();
      expect(await page.evaluate('window.ran')).toBeUndefined();
    },
    TEST_MS,
  );
});
