import { ownOrganization, type OwnOrganization } from '../harness/own-organization.js';
import { startBrowser, type Browser } from '../dashboard/browser.js';

const START_MS = 900_000;
const TEST_MS = 900_000;

describe('the reference at /docs', () => {
  let gateway: OwnOrganization;
  let browser: Browser;

  beforeAll(async () => {
    gateway = await ownOrganization('all-in-one');
    browser = await startBrowser(gateway.url);
  }, START_MS);
  afterAll(async () => {
    await browser?.close();
  }, START_MS);

  it(
    'renders operations from our own origin, without a fault of the policy',
    async () => {
      const page = await browser.context.newPage();
      await page.goto(`${gateway.url}/docs`);
      const first = page.locator('.opblock').first();
      await first.waitFor();
      await first.getByRole('button').first().click();
      await first.locator('.opblock-body').waitFor();
      expect(browser.faults).toEqual([]);
    },
    TEST_MS,
  );
});
