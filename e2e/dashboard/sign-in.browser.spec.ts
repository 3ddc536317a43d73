import { eventually } from '@gateway/testing';
import type { Page } from 'playwright-core';
import { startAllInOne } from '../harness/all-in-one.js';
import type { Gateway } from '../harness/gateway.js';
import { logIn, type PersonSession } from '../harness/session.js';
import { axeFaults, settled, signIn, startBrowser, type Browser } from './browser.js';

const START_MS = 900_000;
const TEST_MS = 900_000;

describe('the dashboard of npm start', () => {
  let gateway: Gateway;
  let owner: PersonSession;
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    gateway = await startAllInOne();
    // The form is tried once the gateway takes logins.
    owner = await logIn(gateway);
    browser = await startBrowser(gateway.url);
    page = await browser.context.newPage();
  }, START_MS);
  afterAll(async () => {
    await browser?.close();
    await gateway?.stop();
  }, START_MS);

  it(
    'point 1 point 10 takes the first login, keeps it over a reload and a second tab, and shows no fault in either scheme',
    async () => {
      await page.goto(`${gateway.url}/dashboard/`);
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
      expect(await axeFaults(page)).toEqual([]);

      await page.getByLabel('Email').fill(gateway.admin.email);
      await page.getByRole('textbox', { name: 'Password' }).fill('not the password');
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await page.getByRole('alert').waitFor();

      await signIn(page, gateway.admin);
      await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
      expect(new URL(page.url()).pathname).toMatch(/^\/dashboard\/o\/[^/]+$/);

      await page.reload();
      await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
      const second = await browser.context.newPage();
      await second.goto(`${gateway.url}/dashboard/`);
      await second.getByRole('heading', { name: 'Home', level: 1 }).waitFor();

      expect(await axeFaults(page)).toEqual([]);
      await page.getByRole('button', { name: 'Use the dark scheme' }).click();
      await page.getByRole('button', { name: 'Use the light scheme' }).waitFor();
      expect(await axeFaults(page)).toEqual([]);

      // Signing out in one tab signs out the other.
      await second.getByRole('button', { name: 'Your account' }).click();
      await second.getByRole('menuitem', { name: 'Sign out' }).click();
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
      expect(await page.evaluate('JSON.stringify({ ...localStorage, ...sessionStorage })')).not.toContain(
        'eyJ',
      );
      expect(browser.faults).toEqual([]);
    },
    TEST_MS,
  );

  it(
    'point 10 503 a file of the dashboard that cannot be loaded once is loaded by a reload of the page',
    async () => {
      const fresh = await startBrowser(gateway.url);
      const one = await fresh.context.newPage();
      const failed: string[] = [];
      await one.route('**/dashboard/assets/table-file-*.css', async (route) => {
        if (failed.length > 0) return route.continue();
        failed.push(route.request().url());
        await route.fulfill({
          status: 503,
          contentType: 'application/json',
          body: '{}',
          headers: { 'x-content-type-options': 'nosniff' },
        });
      });
      // The reload may come after the first page has shown its heading: only this file distinguishes the two pages.
      const loaded = one.waitForResponse(
        (response) => /table-file-.*\.css$/.test(response.url()) && response.ok(),
      );
      await one.goto(`${gateway.url}/dashboard/o/${owner.orgId}/keys`);
      await signIn(one, gateway.admin);
      await loaded;
      await one.getByRole('heading', { name: 'API keys', level: 1 }).waitFor();
      await settled(one);
      expect(failed).toHaveLength(1);
      await fresh.close();
    },
    TEST_MS,
  );

  it(
    'point 10 401 a session that was revoked opens sign-in above the form, which keeps what was typed',
    async () => {
      const keys = `${gateway.url}/dashboard/o/${owner.orgId}/keys`;
      await page.goto(keys);
      const asked = page.waitForRequest((request) => request.url().includes('/v1/keys'));
      await signIn(page, gateway.admin);
      const headers = { authorization: (await asked).headers()['authorization'] };
      await page.getByRole('button', { name: 'Create key' }).click();
      const form = page.getByRole('dialog', { name: 'Create an API key' });
      const label = form.getByLabel('Label');
      await label.fill('Half written');

      expect((await owner.call('DELETE', '/auth/sessions')).status).toBeLessThan(300);
      const me = `${gateway.url}/auth/me`;
      await eventually(async () => (await fetch(me, { headers })).status === 401, { timeoutMs: 60_000 });
      const again = page.getByRole('dialog', { name: 'Your session has ended' });
      const button = form.getByRole('button', { name: 'Create key', includeHidden: true });
      // Within five seconds of sign-in its token is taken for new, and the rejection stands in the form.
      await eventually(
        async () => {
          await button.dispatchEvent('click');
          return again.isVisible();
        },
        { timeoutMs: 60_000, intervalMs: 1_000 },
      );
      await page.keyboard.press('Escape');
      await again.getByRole('textbox', { name: 'Password' }).fill(gateway.admin.password);
      await again.getByRole('button', { name: 'Sign in', exact: true }).click();
      await again.waitFor({ state: 'detached' });
      expect(page.url()).toContain(keys);
      expect(await label.inputValue()).toBe('Half written');
      await form.getByRole('button', { name: 'Create key' }).click();
      await page.getByRole('dialog', { name: 'Your new API key' }).waitFor();
      expect(browser.faults).toEqual([]);
    },
    TEST_MS,
  );
});
