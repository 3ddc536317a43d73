import { writeFileSync } from 'node:fs';
import { testPostgres, type TestDatabase } from '@gateway/testing';
import type { Page } from 'playwright-core';
import { startAllInOne } from '../harness/all-in-one.js';
import type { Gateway } from '../harness/gateway.js';
import { logIn, type PersonSession } from '../harness/session.js';
import { openSignedIn, type SignedIn } from './browser.js';
import { seedPeople, seedUsage } from './seeded-usage.js';

const START_MS = 600_000;
const TEST_MS = 900_000;
const PEOPLE = 40;
const KEYS = 200;
/** The long form: EVENTS=1000000 DASHBOARD_FIGURES=figures.json, which takes how long each page took to its head, by the browser's clock, and until nothing loads. */
const EVENTS = Number(process.env['EVENTS'] ?? 20_000);
const FIGURES = process.env['DASHBOARD_FIGURES'];
const DAYS = 29;
const DAY_S = 86_400;
const ANSWER_BYTES_MAX = 1_000_000;
const ROWS_A_READ_MAX = 200;

const PATHS = [
  '',
  '/usage?range=30d',
  '/usage?range=30d&by=key',
  '/usage?range=30d&by=member&metric=tokens',
  '/requests?range=30d',
  '/requests?range=30d&show=failed',
  '/requests?range=30d&key_id=key_seed_7',
  '/keys',
  '/keys?label=Service%20199',
  '/keys/key_seed_7',
  '/members',
  '/teams',
  '/billing',
  '/billing/ledger',
  '/models',
  '/limits',
  '/limits/simulate',
  '/alerts',
  '/audit',
  '/settings',
  '/playground',
  '/prompts',
  '/routing',
];

/** Script for each page, before its own code. */
const NOTE_HEAD = `new MutationObserver((_, notes) => {
  if (document.querySelector('h1') === null) return;
  window.headMs = performance.now();
  notes.disconnect();
}).observe(document, { childList: true, subtree: true })`;

interface Reads {
  /** Answers above the bound, and reads that ask for more than a page. */
  faults: string[];
  largest: number;
}

describe('an organization of 40 members, 200 keys and many events', () => {
  let database: TestDatabase;
  let gateway: Gateway;
  let owner: PersonSession;
  let signedIn: SignedIn;
  let page: Page;

  beforeAll(async () => {
    database = await testPostgres();
    gateway = await startAllInOne({ env: { DATABASE_URL: database.url } });
    owner = await logIn(gateway);
    const { orgId } = owner;
    const keyIds = await seedPeople(database.url, { orgId, people: PEOPLE, keys: KEYS });
    await seedUsage({
      databaseUrl: database.url,
      orgId,
      memberId: 'usr_seed_1',
      keyIds,
      events: EVENTS,
      from: new Date(Date.now() - DAYS * DAY_S * 1_000).toISOString(),
      secondsApart: (DAYS * DAY_S) / EVENTS,
    });
    signedIn = await openSignedIn(gateway, owner);
    ({ page } = signedIn);
  }, START_MS);
  afterAll(async () => {
    const faults = await signedIn?.end();
    await gateway?.stop();
    await database?.drop();
    expect(faults).toEqual([]);
  }, START_MS);

  it(
    'point 9 reads no more than a page at a time, and no answer is above 1 MB',
    async () => {
      const reads = watchReads(page, gateway.url);
      await page.addInitScript(NOTE_HEAD);
      const figures: Record<string, { firstMs: number; allMs: number }> = {};
      for (const path of PATHS) {
        const began = Date.now();
        await page.goto(`${signedIn.base}${path}`);
        await page.getByRole('heading', { level: 1 }).first().waitFor();
        const firstMs = Math.round(Number(await page.evaluate('window.headMs')));
        await page.locator('[aria-label=Loading]').first().waitFor({ state: 'detached' });
        figures[path || '/'] = { firstMs, allMs: Date.now() - began };
        expect([path, await page.getByRole('alert').count()]).toEqual([path, 0]);
      }
      if (FIGURES !== undefined) {
        writeFileSync(
          FIGURES,
          `${JSON.stringify({ events: EVENTS, largestAnswerBytes: reads.largest, pages: figures }, null, 2)}\n`,
        );
      }
      expect(reads.faults).toEqual([]);
    },
    TEST_MS,
  );
});

function watchReads(page: Page, origin: string): Reads {
  const reads: Reads = { faults: [], largest: 0 };
  page.on('requestfinished', (request) => {
    const url = request.url();
    if (!url.startsWith(origin) || url.includes('/dashboard/')) return;
    const body = (request.postDataJSON() ?? {}) as { limit?: number };
    const limit = body.limit ?? Number(new URL(url).searchParams.get('limit') ?? 0);
    if (limit > ROWS_A_READ_MAX) reads.faults.push(`${url} asks for ${limit} rows`);
    const measured = ({ responseBodySize: bytes }: { responseBodySize: number }): void => {
      reads.largest = Math.max(reads.largest, bytes);
      if (bytes > ANSWER_BYTES_MAX) reads.faults.push(`${url} answers ${bytes} bytes`);
    };
    // Of a page that was left meanwhile nobody knows any more.
    void request.sizes().then(measured, () => undefined);
  });
  return reads;
}
