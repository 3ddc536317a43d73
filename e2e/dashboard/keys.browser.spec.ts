import type { Page } from 'playwright-core';
import { ownOrganization, type OwnOrganization } from '../harness/own-organization.js';
import { axeFaults, openSignedIn, type SignedIn } from './browser.js';

const START_MS = 900_000;
const TEST_MS = 900_000;

describe('keys and the first request in the dashboard', () => {
  let gateway: OwnOrganization;
  let signedIn: SignedIn;
  let page: Page;
  let home: string;

  beforeAll(async () => {
    gateway = await ownOrganization('all-in-one');
    signedIn = await openSignedIn(gateway);
    ({ page, base: home } = signedIn);
  }, START_MS);
  afterAll(async () => {
    const faults = await signedIn?.end();
    expect(faults).toEqual([]);
  }, START_MS);

  const chat = (key: string): Promise<Response> =>
    fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'simulator/chat', messages: [{ role: 'user', content: 'Hello' }] }),
    });

  it(
    'point 1 the first request of a new key appears by itself, and opens',
    async () => {
      await page.getByRole('button', { name: 'Help' }).click();
      await page.getByRole('menuitem', { name: 'First request' }).click();
      await page.getByRole('button', { name: 'Create a key' }).click();
      const secret = await page.getByRole('region', { name: /the key/ }).textContent();
      expect(secret).toMatch(/^rsk_[0-9A-Za-z]{49}$/);
      expect(await page.getByRole('region', { name: 'the call in curl' }).textContent()).toContain(secret);
      expect(await axeFaults(page)).toEqual([]);
      expect((await chat(secret ?? '')).status).toBe(200);
      await page.getByText('Your request has arrived').waitFor();
      await page.getByRole('link', { name: 'Open request' }).click();
      await page.getByText('without a fallback').waitFor();
      expect(await axeFaults(page)).toEqual([]);
    },
    TEST_MS,
  );

  it(
    'point 7 a secret that comes after its form was closed is shown all the same',
    async () => {
      await page.goto(`${home}/keys?create=yes`);
      const form = page.getByRole('dialog', { name: 'Create an API key' });
      await form.getByLabel('Label').fill('Closed too soon');
      let answer = (): void => undefined;
      const closed = new Promise<void>((resolve) => (answer = resolve));
      await page.route('**/v1/keys', async (route) => {
        await closed;
        await route.continue();
      });
      await form.getByRole('button', { name: 'Create key' }).click();
      await page.keyboard.press('Escape');
      await form.waitFor({ state: 'detached' });
      answer();
      const shown = page.getByRole('dialog', { name: 'Your new API key' });
      expect(await shown.getByTestId('secret').textContent()).toMatch(/^rsk_/);
      await page.unroute('**/v1/keys');
      await shown.getByLabel('I have saved it').check();
      await shown.getByRole('button', { name: 'Done' }).click();
      await page.getByRole('link', { name: 'Closed too soon' }).waitFor();
    },
    TEST_MS,
  );

  it(
    'KEY-05 point 7 point 8 a key is created, shown once, listed by its label, limited, rotated and suspended',
    async () => {
      await page.goto(`${home}/keys`);
      await page.getByRole('button', { name: 'Create key' }).click();
      const form = page.getByRole('dialog', { name: 'Create an API key' });
      await form.getByLabel('Label').fill('Batch jobs');
      await form.getByLabel('Spend cap, USD').fill('12.345678901234567');
      await form.getByRole('button', { name: 'Create key' }).dblclick();
      await form
        .getByText(/^Enter an amount/)
        .first()
        .waitFor();
      await form.getByLabel('Spend cap, USD').fill('12.50');
      await form.getByRole('button', { name: 'Create key' }).dblclick();
      const shown = page.getByRole('dialog', { name: 'Your new API key' });
      const secret = (await shown.getByTestId('secret').textContent()) ?? '';
      expect(secret).toMatch(/^rsk_/);
      await page.keyboard.press('Escape');
      expect(await shown.isVisible()).toBe(true);
      await shown.getByLabel('I have saved it').check();
      await shown.getByRole('button', { name: 'Done' }).click();
      await page.getByRole('link', { name: 'Batch jobs' }).waitFor();
      // Pressed twice, made once.
      expect(await page.getByRole('link', { name: 'Batch jobs' }).count()).toBe(1);
      expect(await page.content()).not.toContain(secret);
      expect(await axeFaults(page)).toEqual([]);

      await page.getByRole('link', { name: 'Batch jobs' }).click();
      await page.getByRole('heading', { name: 'Batch jobs' }).waitFor();
      await page.getByLabel('Requests a minute').fill('1');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText('effective').first().waitFor();
      expect(await axeFaults(page)).toEqual([]);
      await page.reload();
      expect(await page.getByLabel('Requests a minute').inputValue()).toBe('1');

      await page.getByRole('button', { name: 'Rotate' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click();
      const rotated = page.getByRole('dialog', { name: 'The new secret' });
      expect(await rotated.getByTestId('secret').textContent()).not.toBe(secret);
      await rotated.getByLabel('I have saved it').check();
      await rotated.getByRole('button', { name: 'Done' }).click();

      await page.getByRole('button', { name: 'Suspend' }).click();
      await page.getByRole('button', { name: 'Suspend the key' }).click();
      await page.getByRole('button', { name: 'Reactivate' }).waitFor();
      expect((await chat(secret)).status).toBe(403);
    },
    TEST_MS,
  );

  it(
    'point 14 a prompt streams beside another model’s, runs no markup, and names its cost',
    async () => {
      await page.goto(`${home}/playground?models=simulator%2Fchat,simulator%2Fclaude`);
      await page
        .getByRole('textbox', { name: 'Message', exact: true })
        .fill('<img src=x onerror=alert(1)> ![a](https://example.com/a.png)');
      await page.keyboard.press('Enter');
      const lane = page.getByRole('region', { name: 'simulator/claude' });
      await lane.getByRole('link', { name: 'Its request' }).waitFor();
      await lane.getByText(/^[<$][$\d.]+$/).waitFor();
      expect(await page.locator('img').count()).toBe(0);
      expect(await axeFaults(page)).toEqual([]);
      await page.getByRole('button', { name: 'Show code' }).click();
      const code = await page.getByRole('region', { name: 'the call in curl' }).textContent();
      expect(code).toContain('/v1/chat/completions');
      expect(code).not.toMatch(/rsk_\w/);
    },
    TEST_MS,
  );

  it(
    'point 4 a range, a filter and a page survive a reload',
    async () => {
      await page.goto(`${home}/requests?range=7d&model=simulator%2Fchat`);
      await page.getByRole('table', { name: 'Requests' }).waitFor();
      await page.reload();
      await page.getByRole('table', { name: 'Requests' }).waitFor();
      expect(await page.getByLabel('Model or request id').inputValue()).toBe('simulator/chat');
      expect(await page.getByLabel('7 d').isChecked()).toBe(true);
      expect(await axeFaults(page)).toEqual([]);
    },
    TEST_MS,
  );
});
