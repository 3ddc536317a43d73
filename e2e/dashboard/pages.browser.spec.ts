import { eventually } from '@gateway/testing';
import type { Page } from 'playwright-core';
import { mailedToken, ownOrganization, type OwnOrganization } from '../harness/own-organization.js';
import { ask } from '../harness/requests.js';
import { logIn, type PersonSession } from '../harness/session.js';
import { axeFaults, openSignedIn, startBrowser, type SignedIn } from './browser.js';
import { linksOf, LOOKS, visitAll } from './visits.js';

const START_MS = 900_000;
const TEST_MS = 600_000;
const MODELS = ['simulator/chat', 'simulator/claude'];
const REQUESTS = 24;
/** Nothing in it lets a line be broken: no page becomes wider for it. */
const LONG_NAME = 'Search'.repeat(16);
/** Pages of a member that no link of the menu leads to. */
const MEMBERS_OWN = ['/account', '/alerts/deliveries', '/alerts/verify'];

/** Colours are the same for everyone: the owner's pages are looked at in both schemes. */
const ONCE = LOOKS.slice(0, 1);

describe('every page of the dashboard', () => {
  let gateway: OwnOrganization;
  let owner: PersonSession;
  let signedIn: SignedIn;
  let page: Page;
  let base: string;
  let details: string[];

  beforeAll(async () => {
    gateway = await ownOrganization('all-in-one');
    owner = await logIn(gateway);
    details = await seed(gateway, owner);
    signedIn = await openSignedIn(gateway, owner);
    ({ page, base } = signedIn);
  }, START_MS);
  afterAll(async () => {
    await signedIn?.end();
  }, START_MS);

  it(
    'point 2 point 3 no page shows its owner a fault, in both schemes, at 1280 and at 390 px',
    async () => {
      const paths = [...(await linksOf(page, base)), '/account', ...details];
      expect(paths).toEqual(
        expect.arrayContaining(['', '/keys', '/usage', '/limits', '/admin-keys', '/prompts', '/admin/orgs']),
      );
      expect(await visitAll(page, { base, paths, looks: LOOKS, keepsShots: true })).toEqual([]);
      expect(signedIn.browser.faults).toEqual([]);
    },
    TEST_MS,
  );

  it(
    'point 2 point 3 nor does the account of a person without their organization',
    async () => {
      const own = `${gateway.url}/dashboard/o/me`;
      await page.goto(own);
      await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
      await page.getByRole('button', { name: 'Create an organization' }).waitFor();
      const paths = await linksOf(page, own);
      expect(paths).toEqual(expect.arrayContaining(['', '/keys', '/limits', '/billing']));
      // What is read of organizations alone is not offered.
      expect(paths.filter((path) => ['/usage', '/requests', '/members'].includes(path))).toEqual([]);
      expect(await visitAll(page, { base: own, paths, looks: ONCE, byMenu: true })).toEqual([]);
      expect(signedIn.browser.faults).toEqual([]);
    },
    TEST_MS,
  );

  it(
    'AUTH-06 an admin key is created under admin keys, does what it may and no more, and ends when it is deleted',
    async () => {
      await page.setViewportSize({ width: 1280, height: 900 });
      await page.goto(`${base}/admin-keys`);
      await page.getByRole('button', { name: 'Create admin key' }).click();
      const form = page.getByRole('dialog', { name: 'Create an admin key' });
      await form.getByLabel('Label').fill('Provisioning');
      await form.getByLabel('Create and change keys').check();
      await form.getByRole('button', { name: 'Create admin key' }).dblclick();
      const shown = page.getByRole('dialog', { name: 'Your new admin key' });
      const key = (await shown.getByTestId('secret').textContent()) ?? '';
      await shown.getByLabel('I have saved it').check();
      await shown.getByRole('button', { name: 'Done' }).click();
      const row = page.getByRole('row').filter({ hasText: 'Provisioning' });
      await row.waitFor();
      // Pressed twice, made once; and the secret is nowhere.
      expect(await row.count()).toBe(1);
      expect(await page.content()).not.toContain(key);

      const create = { key, body: { label: 'Made by a program', org_id: owner.orgId } };
      expect((await ask(gateway, 'POST', '/v1/keys', create)).status).toBe(201);
      expect((await ask(gateway, 'GET', `/v1/orgs/${owner.orgId}/members`, { key })).status).toBe(403);
      const chat = { model: 'simulator/chat', messages: [{ role: 'user', content: 'Hello' }] };
      expect((await ask(gateway, 'POST', '/v1/chat/completions', { key, body: chat })).status).toBe(403);

      await row.getByRole('button', { name: 'Delete Provisioning' }).click();
      await page.getByRole('button', { name: 'Delete the key' }).click();
      await row.waitFor({ state: 'detached' });
      expect((await ask(gateway, 'POST', '/v1/keys', create)).status).toBe(401);
    },
    TEST_MS,
  );

  it.each(['member', 'admin'] as const)(
    'point 2 point 3 a %s joins by the mail, meets no fault, and a page that is not theirs says whose it is',
    async (role) => {
      const token = await invited(role);
      const other = await startBrowser(gateway.url);
      try {
        const person = await other.context.newPage();
        await person.goto(`${gateway.url}/dashboard/invite#token=${token}`);
        await person.getByLabel('Your name').fill('Grace');
        await person.getByRole('textbox', { name: 'Password' }).fill('a long and quiet sentence 42');
        await person.getByRole('button', { name: 'Join' }).click();
        await person.getByRole('link', { name: 'Requests', exact: true }).waitFor();
        const paths = await linksOf(person, base);
        expect(paths.filter((path) => path.startsWith('/admin/'))).toEqual([]);
        await person.goto(`${base}/admin/orgs`);
        await person.getByText('it is for super admins').waitFor();
        const hidden = ['/settings', '/admin-keys', '/audit'];
        expect(hidden.filter((path) => paths.includes(path))).toEqual(role === 'admin' ? hidden : []);
        // An admin's pages are the owner's.
        const looks = role === 'admin' ? [{ ...LOOKS[0], withAxe: false }] : ONCE;
        const seen = [...paths, ...(role === 'admin' ? [] : MEMBERS_OWN)];
        expect(await visitAll(person, { base, paths: seen, looks, byMenu: true })).toEqual([]);
        for (const path of role === 'admin' ? [] : hidden) {
          await person.goto(`${base}${path}`);
          await person.getByText('it is for its owner and its admins').waitFor();
        }
        expect(other.faults).toEqual([]);
      } finally {
        await other.close();
      }
    },
    TEST_MS,
  );

  it(
    'ST-06 LIM-14 an address is confirmed by the link in its mail, without a session, once',
    async () => {
      const destination = `duty-${owner.orgId}@example.com`;
      const channel = { org_id: owner.orgId, channel_type: 'email', destination };
      expect((await owner.call('POST', '/alerts/channels', channel)).status).toBe(201);
      const token = await mailedToken(gateway, destination, 'confirm');
      const other = await startBrowser(gateway.url);
      try {
        const recipient = await other.context.newPage();
        const open = async (link: string): Promise<void> => {
          // The same address with another fragment would only scroll.
          await recipient.goto('about:blank');
          await recipient.goto(`${gateway.url}/dashboard/confirm${link}`);
        };
        const press = (): Promise<void> =>
          recipient.getByRole('button', { name: 'Confirm', exact: true }).click();
        await open(`#token=${token}`);
        await recipient.getByRole('heading', { name: 'Confirm this address', level: 1 }).waitFor();
        expect(recipient.url()).not.toContain(token);
        expect(await axeFaults(recipient)).toEqual([]);
        await press();
        await recipient.getByRole('heading', { name: 'The address is confirmed', level: 1 }).waitFor();
        const alerts = (await (await owner.call('GET', `/alerts?org_id=${owner.orgId}`)).json()) as {
          channels: { destination: string; verified_at: string | null }[];
        };
        expect(alerts.channels).toEqual([
          expect.objectContaining({ destination, verified_at: expect.any(String) }),
        ]);

        await open(`#token=${token}`);
        await press();
        await recipient.getByText('This address is confirmed already').waitFor();
        expect(await axeFaults(recipient)).toEqual([]);
        await open('#token=made-up');
        await press();
        await recipient.getByText('No such link was mailed').waitFor();
        await open('');
        await recipient.getByText('This link is incomplete').waitFor();
        expect(other.faults).toEqual([]);
      } finally {
        await other.close();
      }
    },
    TEST_MS,
  );

  async function invited(role: 'member' | 'admin'): Promise<string> {
    const email = `${role}-${owner.orgId}@example.com`;
    expect((await owner.call('POST', `/v1/orgs/${owner.orgId}/invitations`, { email, role })).status).toBe(
      201,
    );
    return mailedToken(gateway, email, 'invite');
  }
});

/** Keys, requests and rejections; the paths of one of each. */
async function seed(gateway: OwnOrganization, owner: PersonSession): Promise<string[]> {
  const key = await owner.createKey('Batch jobs', { spend_cap_usd: '25' });
  const narrow = await owner.createKey('One a minute', { rpm: 1 });
  const chat = (secret: string, model: string): Promise<Response> =>
    fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${secret}`,
        'content-type': 'application/json',
        'x-request-tags': 'feature=search',
      },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Say something about rain' }] }),
    });
  let last = '';
  for (let n = 0; n < REQUESTS; n += 1) {
    const answer = await chat(n % 3 === 0 ? gateway.key : key.key, MODELS[n % MODELS.length]);
    last = answer.headers.get('x-request-id') ?? last;
    await answer.arrayBuffer();
  }
  for (let n = 0; n < 3; n += 1) await (await chat(narrow.key, 'simulator/chat')).arrayBuffer();
  await eventually(
    async () => {
      const found = await owner.call('GET', `/v1/usage/requests/${last}?org_id=${owner.orgId}`);
      return found.ok ? last : null;
    },
    { timeoutMs: 60_000 },
  );
  return [
    `/keys/${key.id}`,
    `/requests/${last}`,
    '/requests?show=rejected',
    '/models/simulator/chat',
    `/models/compare?ids=${MODELS.join(',')}`,
    '/requests?columns=Time,Request,Key,Tags,Cost',
    '/alerts/deliveries',
    '/alerts/verify',
    '/billing/ledger',
    ...(await seedBuilt(owner)),
  ];
}

/** A prompt with two versions, a routing policy and a team; the paths of those that have a page. */
async function seedBuilt(owner: PersonSession): Promise<string[]> {
  const made = async (path: string, body: object): Promise<string> => {
    const answer = await owner.call('POST', path, body);
    expect([path, answer.status]).toEqual([path, 201]);
    return ((await answer.json()) as { id: string }).id;
  };
  const org = { org_id: owner.orgId };
  const prompt = await made('/v1/templates', { ...org, name: 'greeting', description: 'First words' });
  for (const tone of ['warm', 'short']) {
    const messages = [
      { role: 'system', content: `You greet people.\nBe ${tone}.` },
      { role: 'user', content: 'Greet {{name}}.' },
    ];
    const variables = [{ name: 'name', type: 'string', required: true }];
    await made(`/v1/templates/${prompt}/versions`, { messages, variables, notes: `${tone} words` });
  }
  await made('/v1/routing-policy-templates', { ...org, name: 'cheap', routing_policy: { sort: 'price' } });
  const team = await made(`/v1/orgs/${owner.orgId}/teams`, { name: LONG_NAME });
  return [`/prompts/${prompt}`, `/teams/${team}`];
}
