import { readFile } from 'node:fs/promises';
import { eventually } from '@gateway/testing';
import type { Locator, Page } from 'playwright-core';
import { hookOf, ownOrganization, type Hook, type OwnOrganization } from '../harness/own-organization.js';
import { openPage, openSignedIn, type SignedIn } from './browser.js';

const START_MS = 900_000;
const TEST_MS = 480_000;
/** Number of clicks from the page of the menu where one would look; typing does not count. */
const CLICKS_MAX = 3;
/** Interval below the requests a minute that a key has by itself. */
const CALL_EVERY_MS = 1_000;

describe('a newcomer', () => {
  let hook: Hook;
  let gateway: OwnOrganization;
  let signedIn: SignedIn;
  let page: Page;

  beforeAll(async () => {
    gateway = await ownOrganization('all-in-one');
    hook = hookOf(gateway);
    signedIn = await openSignedIn(gateway);
    ({ page } = signedIn);
  }, START_MS);
  afterAll(async () => {
    const faults = await signedIn?.end();
    expect(faults).toEqual([]);
  }, START_MS);

  let clicks = 0;
  const clicked = async (target: Locator): Promise<void> => {
    clicks += 1;
    await target.click();
  };
  /** A switch is drawn over its input, which Playwright would wait for. */
  const goLive = async (): Promise<void> => {
    clicks += 1;
    await page.getByRole('switch', { name: 'Live' }).click({ force: true });
  };
  const button = (name: string): Locator => page.getByRole('button', { name, exact: true });
  /** Opens a page of the menu. */
  const lookIn = async (name: string): Promise<void> => {
    await openPage(page, name);
    clicks = 0;
  };
  /** Reads a secret that is shown once; the dialog is closed or, with a page's name, left for that page. */
  const savedSecret = async (title: string, next?: string): Promise<string> => {
    const dialog = page.getByRole('dialog', { name: title });
    const secret = (await dialog.getByTestId('secret').textContent()) ?? '';
    await dialog.getByLabel('I have saved it').check();
    if (next === undefined) await dialog.getByRole('button', { name: 'Done' }).click();
    else await clicked(dialog.getByRole('link', { name: next }));
    return secret;
  };

  /** Returns the call that the page shows, with the key in its place. */
  async function callOf(key: string): Promise<() => Promise<number>> {
    const code = (await page.getByRole('region', { name: 'the call in curl' }).textContent()) ?? '';
    const url = /^curl (\S+)/.exec(code)?.[1] ?? '';
    const body = /-d '(.*)'/s.exec(code)?.[1];
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    return async () => {
      const answer = await fetch(url, { method: 'POST', headers, body });
      await answer.arrayBuffer();
      return answer.status;
    };
  }

  it(
    'finds each thing within three clicks: key, call, request, cap, rejection and why, webhook, redelivery, export',
    async () => {
      const needed: Record<string, number> = {};
      await lookIn('API keys');
      await clicked(button('Create key'));
      const form = page.getByRole('dialog', { name: 'Create an API key' });
      await form.getByLabel('Label').fill('My program');
      await clicked(form.getByRole('button', { name: 'Create key' }));
      needed.key = clicks;

      const key = await savedSecret('Your new API key', 'First request');
      const call = await callOf(key);
      // A machine that stands still may answer 503.
      const served = async (): Promise<boolean> => (await call()) === 200;
      await eventually(served, { timeoutMs: 60_000, intervalMs: CALL_EVERY_MS });
      needed.call = clicks;

      await lookIn('Requests');
      await goLive();
      await clicked(
        page
          .getByRole('table', { name: 'Requests' })
          .getByRole('link', { name: /open req_/ })
          .first(),
      );
      await page.getByText('without a fallback').waitFor();
      needed.request = clicks;
      await page.keyboard.press('Escape');

      await lookIn('API keys');
      await clicked(page.getByRole('link', { name: 'My program' }));
      await page.getByLabel('Spend cap, USD').fill('0.000001');
      await clicked(button('Save'));
      await page.getByText('Saved. It holds for the next request.').waitFor();
      needed.cap = clicks;

      const rejected = async (): Promise<boolean> => (await call()) === 402;
      await eventually(rejected, { timeoutMs: 60_000, intervalMs: CALL_EVERY_MS });
      await lookIn('Requests');
      await clicked(page.getByText('Refused', { exact: true }));
      await goLive();
      const rejection = page.getByRole('row').filter({ hasText: 'Spend cap of the key' }).first();
      await rejection.getByText('when raised').waitFor();
      needed.why = clicks;

      await lookIn('Notifications');
      await clicked(button('Add channel'));
      const channel = page.getByRole('dialog');
      await channel.getByLabel('Address').fill(hook.destination);
      await clicked(channel.getByRole('button', { name: 'Add channel' }));
      await savedSecret('The signing secret');
      needed.webhook = clicks;

      await page.getByRole('button', { name: /^Send a test to/ }).click();
      await eventually(async () => (await hook.arrived()).length > 0, { timeoutMs: 60_000 });
      await lookIn('Notifications');
      await clicked(page.getByRole('link', { name: 'Deliveries' }));
      await clicked(page.getByRole('table', { name: 'Deliveries' }).getByRole('link').first());
      const before = (await hook.arrived()).length;
      await clicked(button('Redeliver'));
      await page.getByRole('link', { name: 'It is on its way: open it' }).waitFor();
      await eventually(async () => (await hook.arrived()).length > before, { timeoutMs: 60_000 });
      needed.redelivery = clicks;

      await lookIn('Usage');
      const coming = page.waitForEvent('download');
      await clicked(button('Export CSV'));
      const lines = (await readFile(await (await coming).path(), 'utf8')).trim().split(/\r?\n/);
      expect(lines.slice(1).filter((line) => line.includes('simulator/chat'))).not.toEqual([]);
      needed.export = clicks;

      expect(Object.entries(needed).filter(([, count]) => count > CLICKS_MAX)).toEqual([]);
    },
    TEST_MS,
  );
});
