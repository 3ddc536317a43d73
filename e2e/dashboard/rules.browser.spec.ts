import { eventually, type ReceivedHook } from '@gateway/testing';
import type { Page } from 'playwright-core';
import { hookOf, ownOrganization, type Hook, type OwnOrganization } from '../harness/own-organization.js';
import { ask } from '../harness/requests.js';
import type { PersonSession } from '../harness/session.js';
import { openSignedIn, type SignedIn } from './browser.js';

const START_MS = 900_000;
const TEST_MS = 900_000;
const ARRIVES = { timeoutMs: 60_000 };

describe('rules that the dashboard shows', () => {
  let hook: Hook;
  let gateway: OwnOrganization;
  let owner: PersonSession;
  let signedIn: SignedIn;
  let page: Page;
  let base: string;

  beforeAll(async () => {
    gateway = await ownOrganization('all-in-one');
    hook = hookOf(gateway);
    signedIn = await openSignedIn(gateway);
    ({ owner, page, base } = signedIn);
  }, START_MS);
  afterAll(async () => {
    const faults = await signedIn?.end();
    expect(faults).toEqual([]);
  }, START_MS);

  const chat = async (key: string): Promise<number> =>
    (
      await ask(gateway, 'POST', '/v1/chat/completions', {
        key,
        body: { model: 'simulator/chat', max_tokens: 5, messages: [{ role: 'user', content: 'Hello' }] },
      })
    ).status;

  it(
    'point 15 the scope that binds is named on the key, in the simulator and in the rejection',
    async () => {
      const { id, key } = await owner.createKey('Nearly nothing', { spend_cap_usd: '0.000001' });
      await page.goto(`${base}/keys/${id}`);
      const row = page
        .getByRole('table', { name: 'Limits by scope' })
        .getByRole('row', { name: /Spend cap/ });
      await row.getByText('effective').waitFor();
      expect(await row.getByRole('cell').nth(1).innerText()).toContain('effective');

      // A cap lets a request in until it is spent.
      await simulates('Nearly nothing', 'Allowed');
      await eventually(async () => (await chat(key)) !== 200 || null, ARRIVES);
      await simulates('Nearly nothing', 'Blocked');
      const rejecting = page.getByRole('row').filter({ hasText: 'blocks' });
      expect(await rejecting.getByRole('cell').first().innerText()).toBe('Key');
      await page.goto(`${base}/requests?show=rejected&live=yes`);
      await page.getByRole('row').filter({ hasText: 'Spend cap of the key' }).first().waitFor();

      await page.goto(`${base}/keys/${id}`);
      await page.getByLabel('Spend cap, USD').fill('5');
      await page.getByRole('button', { name: 'Save' }).click();
      await page
        .getByText('Saved.')
        .or(page.getByRole('cell', { name: /\$5\.00/ }))
        .first()
        .waitFor();
      await simulates('Nearly nothing', 'Allowed');
      await eventually(async () => (await chat(key)) === 200 || null, ARRIVES);
    },
    TEST_MS,
  );

  /** An edge takes a moment to know of a limit that was changed. */
  async function simulates(label: string, verdict: string): Promise<void> {
    await eventually(async () => (await simulated(label)) === verdict || null, ARRIVES);
  }

  async function simulated(label: string): Promise<string> {
    await page.goto(`${base}/limits/simulate`);
    await page.getByRole('combobox', { name: 'Key' }).fill(label);
    await page.getByRole('option', { name: label }).click();
    await page.getByRole('textbox', { name: 'Model' }).fill('simulator/chat');
    await page.getByRole('button', { name: 'Simulate' }).click();
    const verdict = page.getByText(/^(?:Allowed|Blocked)$/);
    await verdict.waitFor();
    return verdict.innerText();
  }

  it(
    'point 16 each rung of a ladder is delivered, redelivery arrives, and the verifier takes both terms of a rotation',
    async () => {
      await page.goto(`${base}/alerts?add=channel`);
      await page.getByLabel('Address').fill(hook.destination);
      await page.getByLabel('at 80% of a cap').uncheck();
      await page.getByRole('dialog').getByRole('button', { name: 'Add channel' }).click();
      const oldSecret = await savedSecret('The signing secret');
      for (const percent of ['1', '2', '3']) await addRung(page, percent);

      // One request crosses all three.
      const { key } = await owner.createKey('Reported', { spend_cap_usd: '0.0002' });
      expect(await chat(key)).toBe(200);
      const events = await eventually(async () => {
        const found = new Map((await hook.arrived()).map(({ body }) => eventOf(body)));
        return found.size >= 3 ? [...found.values()] : null;
      }, ARRIVES);
      expect(events).toEqual(['spend_cap.approaching', 'spend_cap.approaching', 'spend_cap.approaching']);

      await page.goto(`${base}/alerts`);
      await page.getByRole('button', { name: `Change ${hook.destination}` }).click();
      await page.getByRole('menuitem', { name: 'Rotate secret' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click();
      const newSecret = await savedSecret('The new signing secret');
      expect(newSecret).not.toBe(oldSecret);

      const before = (await hook.arrived()).length;
      await page.goto(`${base}/alerts/deliveries`);
      await page.getByRole('link', { name: 'Spend nears a cap' }).first().click();
      await page.getByRole('button', { name: 'Redeliver' }).click();
      await page.getByRole('link', { name: 'It is on its way: open it' }).waitFor();
      // What was sent before the rotation may come again as well.
      const again = await eventually(
        async () => (await hook.arrived()).slice(before).find(hasTwoTerms) ?? null,
        ARRIVES,
      );

      await page.goto(`${base}/alerts/verify`);
      for (const secret of [oldSecret, newSecret]) {
        await verify(again, secret);
        await page.getByText('The signature is valid', { exact: true }).waitFor();
      }
      await verify({ ...again, body: again.body.replace('spend_cap', 'spend-cap') }, newSecret);
      await page.getByText('The signature is not valid').waitFor();
    },
    TEST_MS,
  );

  async function savedSecret(title: string): Promise<string> {
    const dialog = page.getByRole('dialog', { name: title });
    const secret = (await dialog.getByTestId('secret').textContent()) ?? '';
    await dialog.getByLabel('I have saved it').check();
    await dialog.getByRole('button', { name: 'Done' }).click();
    return secret;
  }

  async function verify({ headers, body }: ReceivedHook, secret: string): Promise<void> {
    await page.getByLabel('Signing secret').fill(secret);
    await page.getByLabel('Service-Webhook-Timestamp').fill(String(headers['service-webhook-timestamp']));
    await page.getByLabel('Service-Webhook-Signature').fill(String(headers['service-webhook-signature']));
    await page.getByLabel('Body').fill(body);
    await page.getByRole('button', { name: 'Verify' }).click();
  }

  it(
    'point 17 what was changed by hand is in the audit log, with who did it',
    async () => {
      await page.goto(`${base}/routing?edit=new`);
      await page.getByLabel('Name').fill('cheap');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByRole('cell', { name: 'cheap', exact: true }).waitFor();
      await page.goto(`${base}/prompts?create=yes`);
      await page.getByRole('dialog').getByLabel('Name').fill('greeting');
      await page.getByRole('dialog').getByRole('button', { name: 'Create prompt' }).click();
      await page.getByLabel('Text of message 2').fill('Greet {{name}}.');
      await page.getByRole('button', { name: 'Save as a new version' }).click();
      await page.getByRole('button', { name: 'Publish version 1' }).click();
      await page.getByText('published').first().waitFor();
      await page.goto(`${base}/settings`);
      await page.getByRole('textbox', { name: 'Name' }).fill('Acme');
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await page.getByRole('button', { name: 'Save', exact: true }).and(page.locator(':disabled')).waitFor();
      // What other services keep: notifications and usage.
      const { orgId } = owner;
      const channel = {
        channel_type: 'webhook',
        destination: `${hook.destination}/audited`,
        is_enabled: false,
      };
      expect((await owner.call('POST', '/alerts/channels', { org_id: orgId, ...channel })).status).toBe(201);
      const credit = { org_id: orgId, amount_usd: '1', reason: 'Welcome' };
      expect((await owner.call('POST', '/v1/admin/credits', credit)).status).toBe(201);
      await page.goto(`${base}/usage`);
      await page.getByRole('button', { name: 'Export CSV' }).click();
      await page.getByText(/^\d+ rows$/).waitFor();
      const wanted = [
        'Created notification channel',
        'Credited balance',
        'Exported usage',
        'Created routing policy',
        'Created prompt',
        'Added a version to prompt',
        'Published prompt',
        'Changed organization',
        'Created API key',
      ];
      await eventually(async () => {
        await page.goto(`${base}/audit`);
        const table = page.getByRole('table', { name: 'Changes' });
        await table.waitFor();
        const actions = new Set(await table.getByRole('cell').allInnerTexts());
        return wanted.every((action) => actions.has(action)) || null;
      }, ARRIVES);
      expect(await page.getByRole('table', { name: 'Changes' }).innerText()).toContain(gateway.admin.email);
    },
    TEST_MS,
  );

  it.each([
    [402, 'insufficient_quota', 'The request was refused', 'Add credit.'],
    [403, 'forbidden', 'Not allowed', 'Use a credential with the right.'],
    [404, 'not_found', 'Not found', 'Check the id.'],
    [429, 'rate_limit_exceeded', 'Too many requests', 'Wait for Retry-After'],
    [500, 'internal_error', 'This part of the gateway is unavailable', 'Report the request_id'],
    [
      503,
      'service_unavailable',
      'This part of the gateway is unavailable',
      'Send it again after Retry-After',
    ],
  ])(
    'point 18 a %i keeps the frame, and shows code, request id and what to do',
    async (status, code, title, action) => {
      await page.route('**/v1/keys?**', (route) =>
        route.fulfill({
          status,
          headers: { 'x-request-id': 'req_of_the_failure', 'retry-after': '3600' },
          json: { error: { code, message: 'It was not to be.' } },
        }),
      );
      await page.goto(`${base}/keys`);
      const card = page.getByRole('alert');
      await card.getByText(title).waitFor();
      await card.getByText(code).waitFor();
      await card.getByText(action).waitFor();
      await card.getByText('req_of_the_failure').waitFor();
      expect(await page.getByRole('link', { name: 'Requests', exact: true }).isVisible()).toBe(true);
      // Only where the table of errors says so; a 500 is reported.
      expect(await card.getByRole('button', { name: /^Retry/ }).count()).toBe(
        status === 429 || status === 503 ? 1 : 0,
      );
      await page.unroute('**/v1/keys?**');
    },
    TEST_MS,
  );

  it(
    'point 18 a server that is away, then slow, then back, is shown without a reload',
    async () => {
      await page.route('**/v1/keys?**', (route) => route.abort('connectionrefused'));
      await page.goto(`${base}/keys`);
      await page.getByRole('alert').getByText('The gateway cannot be reached').waitFor();
      let release: () => void = () => undefined;
      const held = new Promise<void>((resolve) => (release = resolve));
      await page.unroute('**/v1/keys?**');
      await page.route('**/v1/keys?**', async (route) => {
        await held;
        await route.continue();
      });
      await page.getByRole('button', { name: 'Retry' }).click();
      await page.getByRole('button', { name: 'Retry' }).or(page.getByLabel('Loading')).first().waitFor();
      await page.getByRole('heading', { name: 'API keys', level: 1 }).waitFor();
      release();
      await page.getByRole('link', { name: 'e2e' }).waitFor();
      await page.unroute('**/v1/keys?**');
    },
    TEST_MS,
  );
});

/** A policy of spend that comes near a cap. */
async function addRung(page: Page, percent: string): Promise<void> {
  await page.getByRole('button', { name: 'Add policy' }).first().click();
  const dialog = page.getByRole('dialog', { name: 'Add a policy' });
  await dialog.getByRole('combobox', { name: 'Event' }).click();
  await page.getByRole('option', { name: 'Spend nears a cap' }).click();
  await dialog.getByLabel('From, percent').fill(percent);
  await dialog.getByRole('button', { name: 'Add policy' }).click();
  await page.getByRole('cell', { name: `at ${percent}% of the limit`, exact: true }).waitFor();
}

function hasTwoTerms({ headers }: ReceivedHook): boolean {
  return String(headers['service-webhook-signature']).split(',').length === 2;
}

/** A webhook may come twice: events differ by their id. */
function eventOf(body: string): [id: string, type: string] {
  const { id, type } = JSON.parse(body) as { id: string; type: string };
  return [id, type];
}
