import type { FleetApp } from '@gateway/testing';
import type { Locator, Page } from 'playwright-core';
import { startFleet, type Fleet } from '../harness/fleet.js';
import { openPage, pagesOfMenu, axeFaults, openSignedIn, type SignedIn } from './browser.js';

const START_MS = 900_000;
const TEST_MS = 900_000;

interface Stopped {
  app: FleetApp;
  /** The page of the menu whose card needs the service; what the card says; what stands there otherwise. */
  page: string;
  says: string;
  content: (page: Page) => Locator;
}

const STOPPED: readonly Stopped[] = [
  {
    app: 'catalogue',
    page: 'Models',
    says: 'Models and their prices are unavailable for the moment.',
    content: (page) => page.getByRole('table', { name: 'Models' }),
  },
  {
    app: 'keys',
    page: 'API keys',
    says: 'Sign-in, API keys and organizations are unavailable for the moment.',
    content: (page) => page.getByRole('link', { name: 'e2e', exact: true }),
  },
  {
    app: 'usage',
    page: 'Billing',
    says: 'Usage, limits in use and billing are unavailable for the moment.',
    content: (page) => page.getByText('$100.00').first(),
  },
  {
    app: 'notifications',
    page: 'Notifications',
    says: 'Alerts are unavailable for the moment.',
    content: (page) => page.getByText('No alerts yet'),
  },
];

describe('the dashboard while a service is stopped', () => {
  let fleet: Fleet;
  let signedIn: SignedIn;
  let page: Page;

  beforeAll(async () => {
    fleet = await startFleet();
    signedIn = await openSignedIn(fleet);
    ({ page } = signedIn);
    // A reload would begin with a window that lacks it.
    await page.evaluate('window.isTheSame = true');
  }, START_MS);
  afterAll(async () => {
    const faults = await signedIn?.end();
    await fleet?.stop();
    expect(faults).toEqual([]);
  }, START_MS);

  const open = async (name: string): Promise<void> => {
    await openPage(page, name);
  };
  const startAgain = async (app: FleetApp): Promise<void> => {
    await fleet.process(app).start();
    await fleet.process(app).untilReady();
  };

  it.each(STOPPED)(
    'point 18 $app: the frame stands, the card says what is away, and it is back without a reload',
    async ({ app, page: name, says, content }) => {
      await fleet.process(app).end();
      await open(name);
      const card = page.getByRole('alert').filter({ hasText: says }).first();
      await card.waitFor();
      await card.getByText('This part of the gateway is unavailable').waitFor();
      await card.getByText('service_unavailable', { exact: true }).waitFor();
      await card.getByText(/^req_/).waitFor();
      // The menu, and a page that needs nothing of it.
      expect(await page.getByRole('link', { name: 'Requests', exact: true }).isVisible()).toBe(true);

      await startAgain(app);
      await content(page).waitFor();
      await page.getByRole('alert').first().waitFor({ state: 'detached' });
      expect(await page.evaluate('window.isTheSame')).toBe(true);
    },
    TEST_MS,
  );

  it(
    'point 18 keys: a reload says what is away, asks nobody to sign in, and the page comes by itself',
    async () => {
      await open('API keys');
      await fleet.process('keys').end();
      await page.reload();
      const card = page
        .getByRole('alert')
        .filter({ hasText: 'Sign-in, API keys and organizations are unavailable for the moment.' });
      await card.waitFor();
      await card.getByText('service_unavailable', { exact: true }).waitFor();
      await card.getByText(/^req_/).waitFor();
      expect(await axeFaults(page)).toEqual([]);
      expect(await page.getByLabel('Email').count()).toBe(0);
      await page.evaluate('window.isTheSame = true');

      await startAgain('keys');
      await page.getByRole('link', { name: 'e2e', exact: true }).waitFor();
      expect(await page.evaluate('window.isTheSame')).toBe(true);
    },
    TEST_MS,
  );

  it(
    'point 18 workers: no page needs it',
    async () => {
      await fleet.process('workers').end();
      const names = await pagesOfMenu(page);
      expect(names.length).toBeGreaterThan(15);
      for (const name of names) {
        await open(name);
        await page.locator('[aria-label=Loading]').first().waitFor({ state: 'detached' });
        // What a machine that stands still was late with comes by itself, too.
        await page.getByRole('alert').first().waitFor({ state: 'detached' });
      }
      await startAgain('workers');
      expect(await page.evaluate('window.isTheSame')).toBe(true);
    },
    TEST_MS,
  );
});
