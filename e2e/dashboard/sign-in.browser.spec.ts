import type { Page } from 'playwright-core';
import { startAllInOne } from '../harness/all-in-one.js';
import type { Gateway } from '../harness/gateway.js';
import { logIn } from '../harness/session.js';
import { axeFaults, signIn, startBrowser, type Browser } from './browser.js';

const START_MS = 180_000;
const TEST_MS = 240_000;

describe('the dashboard of npm start', () => {
  let gateway: Gateway;
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    gateway = await startAllInOne();
    // The form is tried once the gateway takes logins.
    await logIn(gateway);
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
});
