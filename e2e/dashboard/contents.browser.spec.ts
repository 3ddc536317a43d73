import { eventually } from '@gateway/testing';
import type { Page } from 'playwright-core';
import { ownOrganization, type OwnOrganization } from '../harness/own-organization.js';
import { ask } from '../harness/requests.js';
import type { PersonSession } from '../harness/session.js';
import { axeFaults, openSignedIn, type SignedIn } from './browser.js';

const START_MS = 900_000;
const TEST_MS = 900_000;
const ARRIVES = { timeoutMs: 60_000 };

describe('prompts and answers in the dashboard', () => {
  let gateway: OwnOrganization;
  let owner: PersonSession;
  let signedIn: SignedIn;
  let page: Page;
  let base: string;

  beforeAll(async () => {
    gateway = await ownOrganization('all-in-one');
    signedIn = await openSignedIn(gateway);
    ({ owner, page, base } = signedIn);
  }, START_MS);
  afterAll(async () => {
    const faults = await signedIn?.end();
    expect(faults).toEqual([]);
  }, START_MS);

  /** A request that can be looked up. */
  async function asked(text: string): Promise<string> {
    const body = { model: 'simulator/chat', messages: [{ role: 'user', content: text }] };
    const { status, requestId } = await ask(gateway, 'POST', '/v1/chat/completions', { body });
    expect(status).toBe(200);
    await eventually(async () => {
      const found = await owner.call('GET', `/v1/usage/requests/${requestId}?org_id=${owner.orgId}`);
      return found.ok || null;
    }, ARRIVES);
    return requestId;
  }

  it(
    'are kept once the settings say so, shown by hand, audited, and removed',
    async () => {
      const before = await asked('Of before');
      await page.goto(`${base}/requests/${before}`);
      await page.getByRole('button', { name: 'Show prompt and answer' }).click();
      await page.getByText('Nothing is kept of it').waitFor();

      await page.goto(`${base}/settings`);
      await page.getByLabel('Keep prompts and answers').check();
      await page.getByLabel('Days to keep them').fill('7');
      await page.getByRole('button', { name: 'Save logging' }).click();
      await eventually(async () => {
        const org = (await (await owner.call('GET', `/v1/orgs/${owner.orgId}`)).json()) as {
          request_logging: { enabled: boolean; retention_days: number };
        };
        return org.request_logging.enabled && org.request_logging.retention_days === 7;
      }, ARRIVES);
      expect(await axeFaults(page)).toEqual([]);

      const logged = await asked('A sentence about rain');
      await eventually(async () => {
        const found = await owner.call('GET', `/v1/usage/requests/${logged}/content`);
        return found.ok || null;
      }, ARRIVES);
      await page.goto(`${base}/requests/${logged}`);
      await page.getByRole('button', { name: 'Show prompt and answer' }).click();
      await page
        .getByRole('region', { name: 'what was asked' })
        .filter({ hasText: 'A sentence about rain' })
        .waitFor();
      expect(await axeFaults(page)).toEqual([]);

      await page.goto(`${base}/settings`);
      await page.getByRole('button', { name: 'Remove what was kept' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
      await page.getByRole('button', { name: 'Removed' }).waitFor();
      await page.goto(`${base}/requests/${logged}`);
      await page.getByRole('button', { name: 'Show prompt and answer' }).click();
      await page.getByText('Nothing is kept of it').waitFor();
      await page.goto(`${base}/audit?action=request_content.read`);
      await page.getByRole('cell', { name: 'Read logged prompt and answer' }).first().waitFor();
    },
    TEST_MS,
  );
});
