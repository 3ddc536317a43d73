import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@gateway/testing';
import type { Page } from 'playwright-core';
import { startAllInOne } from '../harness/all-in-one.js';
import type { Gateway } from '../harness/gateway.js';
import { logIn, type PersonSession } from '../harness/session.js';
import { signIn, startBrowser, type Browser } from './browser.js';
import { visitAll } from './visits.js';

const START_MS = 180_000;
const TEST_MS = 300_000;
const MODELS = ['simulator/chat', 'simulator/claude'];
const REQUESTS = 24;

describe('every page of the dashboard', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'dashboard-pages-'));
  let gateway: Gateway;
  let owner: PersonSession;
  let browser: Browser;
  let page: Page;
  let details: string[];

  beforeAll(async () => {
    gateway = await startAllInOne({ dataDir });
    owner = await logIn(gateway);
    details = await seed(gateway, owner);
    browser = await startBrowser(gateway.url);
    page = await browser.context.newPage();
    await page.goto(`${gateway.url}/dashboard/`);
    await signIn(page, gateway.admin);
    await page.getByRole('link', { name: 'Requests', exact: true }).waitFor();
  }, START_MS);
  afterAll(async () => {
    await browser?.close();
    await gateway?.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }, START_MS);

  const base = (): string => `${gateway.url}/dashboard/o/${owner.orgId}`;

  it(
    'AUTH-06 shows no fault to its owner, in both schemes and at 390 px',
    async () => {
      const paths = [...(await linksOf(page, base())), '/account', ...details];
      expect(paths).toEqual(expect.arrayContaining(['', '/keys', '/usage', '/requests', '/admin-keys']));
      const faults = await visitAll(page, base(), paths, { scheme: 'light', width: 1280, withAxe: true });
      faults.push(...(await visitAll(page, base(), paths, { scheme: 'dark', width: 1280, withAxe: true })));
      faults.push(...(await visitAll(page, base(), paths, { scheme: 'light', width: 390, withAxe: false })));
      if (process.env.DASHBOARD_SHOTS !== undefined) {
        faults.push(...(await visitAll(page, base(), paths, { scheme: 'dark', width: 390, withAxe: false })));
      }
      expect(faults).toEqual([]);
      expect(browser.faults).toEqual([]);
    },
    TEST_MS,
  );

  it(
    'lets a member join by the mail, and see no page that answers them 403',
    async () => {
      const email = 'member@example.com';
      const invited = await owner.call('POST', `/v1/orgs/${owner.orgId}/invitations`, {
        email,
        role: 'member',
      });
      expect(invited.status).toBe(201);
      const token = await eventually(async () => tokenOfMail(join(dataDir, 'mail')), { timeoutMs: 30_000 });
      const other = await startBrowser(gateway.url);
      try {
        const member = await other.context.newPage();
        await member.setViewportSize({ width: 1280, height: 900 });
        await member.goto(`${gateway.url}/dashboard/invite#token=${token}`);
        await member.getByLabel('Your name').fill('Grace');
        await member.getByRole('textbox', { name: 'Password' }).fill('a long and quiet sentence 42');
        await member.getByRole('button', { name: 'Join' }).click();
        await member.getByRole('link', { name: 'Requests', exact: true }).waitFor();
        const paths = await linksOf(member, base());
        expect(paths).not.toContain('/settings');
        const faults = await visitAll(member, base(), paths, {
          scheme: 'light',
          width: 1280,
          withAxe: false,
          keepsShots: false,
        });
        expect(faults).toEqual([]);
        await member.goto(`${base()}/settings`);
        await member.getByText('it is for its owner and its admins').waitFor();
        expect(other.faults).toEqual([]);
      } finally {
        await other.close();
      }
    },
    TEST_MS,
  );
});

/** Keys, requests and refusals; the paths of one of each. */
async function seed(gateway: Gateway, owner: PersonSession): Promise<string[]> {
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
  return [`/keys/${key.id}`, `/requests/${last}`, '/requests?show=rejected'];
}

/** Pages that the menu links to, below the organization. */
async function linksOf(page: Page, base: string): Promise<string[]> {
  const hrefs = await page.evaluate<string[]>(
    "[...document.querySelectorAll('nav a')].map(({ href }) => href)",
  );
  return [...new Set(hrefs.filter((href) => href.startsWith(base)).map((href) => href.slice(base.length)))];
}

/** The token of the invitation's link; null while no mail has come. */
function tokenOfMail(folder: string): string | null {
  try {
    const mails = readdirSync(folder).filter((name) => name.endsWith('.eml'));
    const text = mails.map((name) => readFileSync(join(folder, name), 'utf8')).join('\n');
    return /invite#token=(?:3D)?([\w.-]+)/.exec(text.replace(/=\r?\n/g, ''))?.[1] ?? null;
  } catch {
    return null;
  }
}
