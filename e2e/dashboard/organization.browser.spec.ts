import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually } from '@gateway/testing';
import type { Page } from 'playwright-core';
import { startAllInOne } from '../harness/all-in-one.js';
import type { Gateway } from '../harness/gateway.js';
import { axeFaults, openSignedIn, settled, type SignedIn } from './browser.js';

const START_MS = 900_000;
const TEST_MS = 900_000;
const ARRIVES = { timeoutMs: 60_000 };

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
  let signedIn: SignedIn;
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
    signedIn = await openSignedIn(gateway);
    ({ page } = signedIn);
    base = await newOrganization(signedIn, gateway);
  }, START_MS);
  afterAll(async () => {
    await signedIn?.end();
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
      expect(signedIn.browser.faults).toEqual([]);
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
      await page.getByText('Test sent').waitFor();
      const sent = page.getByRole('link', { name: 'channel.test' }).first();
      await eventually(async () => {
        await page.goto(`${base}/alerts/deliveries`);
        await page.getByRole('heading', { name: 'Deliveries', level: 1 }).waitFor();
        await settled(page);
        return sent.isVisible();
      }, ARRIVES);
      await sent.click();
      await page.getByRole('button', { name: 'Redeliver' }).click();
      await page.getByRole('link', { name: 'It is on its way: open it' }).waitFor();
      await twice;
      expect(await axeFaults(page)).toEqual([]);
      expect(signedIn.browser.faults).toEqual([]);
    },
    TEST_MS,
  );
});

/** Returns the address of the pages of an organization in which nothing has happened yet. */
async function newOrganization({ owner, page }: SignedIn, { url }: Gateway): Promise<string> {
  const created = await owner.call('POST', '/v1/orgs', { name: 'Acme' });
  expect(created.status).toBe(201);
  const { id } = (await created.json()) as { id: string };
  // The session that the page has does not know it yet.
  await page.reload();
  return `${url}/dashboard/o/${id}`;
}
