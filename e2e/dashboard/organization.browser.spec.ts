import { eventually } from '@gateway/testing';
import type { Page } from 'playwright-core';
import { hookOf, ownOrganization, type Hook, type OwnOrganization } from '../harness/own-organization.js';
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
  ['limits/simulate', 'Limits simulator', 'Input tokens'],
  ['alerts', 'Notifications', 'No alerts yet'],
  ['alerts/deliveries', 'Deliveries', 'Nothing was sent'],
  ['audit', 'Audit log', 'Created organization'],
];

describe('the pages of an organization', () => {
  let gateway: OwnOrganization;
  let signedIn: SignedIn;
  let page: Page;
  let base: string;
  let hook: Hook;

  beforeAll(async () => {
    gateway = await ownOrganization('all-in-one');
    hook = hookOf(gateway);
    signedIn = await openSignedIn(gateway);
    ({ page, base } = signedIn);
  }, START_MS);
  afterAll(async () => {
    await signedIn?.end();
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
      await page.getByLabel('Address').fill(hook.destination);
      await page.getByRole('dialog').getByRole('button', { name: 'Add channel' }).click();
      await page.getByTestId('secret').waitFor();
      await page.getByLabel('I have saved it').check();
      await page.getByRole('button', { name: 'Done' }).click();
      await page.getByRole('button', { name: /^Send a test/ }).click();
      await page.getByText(/^Delivered, status 2/).waitFor();
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
      await eventually(async () => (await hook.arrived()).length >= 2, ARRIVES);
      expect(await axeFaults(page)).toEqual([]);
      expect(signedIn.browser.faults).toEqual([]);
    },
    TEST_MS,
  );
});
