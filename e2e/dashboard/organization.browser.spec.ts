import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { startAllInOne } from '../harness/all-in-one.js';
import type { Gateway } from '../harness/gateway.js';
import { axeFaults, signIn, startBrowser, type Browser } from './browser.js';

const START_MS = 180_000;
const TEST_MS = 240_000;

/** Pages of the organization by their path, and a text that stands there once its data does. */
const PAGES: readonly [path: string, heading: string, text: string][] = [
  ['members', 'Members', 'owner'],
  ['teams', 'Teams', 'There is no team yet.'],
  ['provider-keys', 'Provider keys', 'There is no provider key yet.'],
  ['models', 'Models', 'Context'],
  ['limits/simulate', 'Limits simulator', 'Tokens of the input'],
  ['alerts', 'Notifications', 'There is no channel yet'],
  ['alerts/deliveries', 'Deliveries', 'Nothing was sent'],
  ['audit', 'Audit log', 'org.create'],
];

describe('the pages of an organization', () => {
  let gateway: Gateway;
  let browser: Browser;
  let page: Page;
  let base: string;
  let hook: Server;
  let address: string;
  let arrived = 0;
  let seenTwice: () => void;
  const twice = new Promise<void>((resolve) => {
    seenTwice = resolve;
  });

  beforeAll(async () => {
    hook = createServer((request, answer) => {
      request.resume();
      answer.end();
      arrived += 1;
      if (arrived === 2) seenTwice();
    });
    await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve));
    address = `127.0.0.1:${(hook.address() as AddressInfo).port}`;
    gateway = await startAllInOne({ env: { ALERTS_ALLOW_PRIVATE: address } });
    browser = await startBrowser(gateway.url);
    page = await browser.context.newPage();
    await page.goto(`${gateway.url}/dashboard/`);
    await signIn(page, gateway.admin);
    base = await organizationPages(page, gateway);
  }, START_MS);
  afterAll(async () => {
    await browser?.close();
    await gateway?.stop();
    hook?.close();
  }, START_MS);

  it.each(PAGES)(
    '%s shows its data, and neither axe nor the console finds a fault',
    async (path, heading, text) => {
      await page.goto(`${base}/${path}`);
      await page.getByRole('heading', { name: heading, level: 1 }).waitFor();
      await page.getByText(text).first().waitFor();
      expect(await axeFaults(page)).toEqual([]);
      expect(browser.faults).toEqual([]);
    },
    TEST_MS,
  );

  it(
    'adds a webhook whose secret is shown once, sends a test to it and sends that again',
    async () => {
      await page.goto(`${base}/alerts`);
      await page.getByRole('button', { name: 'Add channel' }).first().click();
      await page.getByLabel('Address').fill(`http://${address}/hook`);
      await page.getByRole('dialog').getByRole('button', { name: 'Add channel' }).click();
      await page.getByTestId('secret').waitFor();
      await page.getByLabel('I have saved it').check();
      await page.getByRole('button', { name: 'Done' }).click();
      await page.getByRole('button', { name: /^Send a test/ }).click();
      await page.goto(`${base}/alerts/deliveries`);
      await page.getByRole('link', { name: 'channel.test' }).first().click();
      await page.getByRole('button', { name: 'Redeliver' }).click();
      await page.getByRole('link', { name: 'It is on its way: open it' }).waitFor();
      await twice;
      expect(await axeFaults(page)).toEqual([]);
      expect(browser.faults).toEqual([]);
    },
    TEST_MS,
  );
});

/** Makes an organization and answers where its pages are. */
async function organizationPages(page: Page, { url, admin }: Gateway): Promise<string> {
  const login = await fetch(`${url}/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(admin),
  });
  const { token } = (await login.json()) as { token: string };
  const created = await fetch(`${url}/v1/orgs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ name: 'Acme' }),
  });
  const { id } = (await created.json()) as { id: string };
  await page.reload();
  return `${url}/dashboard/o/${id}`;
}
