import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readFileSync } from 'node:fs';
import { chromium, type BrowserContext, type Page } from 'playwright-core';

const CHROMIUM = process.env.CHROMIUM_PATH ?? '/usr/bin/chromium';
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
const STEP_MS = 30_000;
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** WCAG 2.2 AA. */
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

export type Scheme = 'light' | 'dark';

/** A browser of its own, with what went wrong in its pages. */
export interface Browser {
  context: BrowserContext;
  /** Console errors, refused resources and requests to other origins. */
  faults: string[];
  close(): Promise<void>;
}

/** Fails at once with a sentence where the browser is not installed. */
export async function startBrowser(
  origin: string,
  options: { width?: number; height?: number; scheme?: Scheme } = {},
): Promise<Browser> {
  if (!existsSync(CHROMIUM)) {
    throw new Error(
      `${CHROMIUM} is missing: install Debian's package chromium, set CHROMIUM_PATH, or leave these tests out with --testPathIgnorePatterns browser.spec`,
    );
  }
  const profile = mkdtempSync(join(tmpdir(), 'chromium-'));
  const { width = 1280, height = 900, scheme = 'light' } = options;
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: CHROMIUM,
    headless: true,
    args: FLAGS,
    viewport: { width, height },
    colorScheme: scheme,
    reducedMotion: 'reduce',
    timezoneId: 'UTC',
    locale: 'en-US',
    timeout: STEP_MS,
  });
  context.setDefaultTimeout(STEP_MS);
  const faults: string[] = [];
  context.on('page', (page) => watch(page, origin, faults));
  for (const page of context.pages()) watch(page, origin, faults);
  return {
    context,
    faults,
    close: async () => {
      await context.close();
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

function watch(page: Page, origin: string, faults: string[]): void {
  page.on('console', (message) => {
    // A refused request is logged by the browser itself; the pages show it, and the tests say where one is expected.
    if (message.type() !== 'error' || message.text().startsWith('Failed to load resource')) return;
    faults.push(`${page.url()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => faults.push(`${page.url()}: ${error.message}`));
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(origin) && !/^(?:data|blob|about):/.test(url)) faults.push(`foreign request ${url}`);
  });
}

/** What axe finds on the page, as one line each. The script runs as the browser's own, which the policy does not bind. */
export async function axeFaults(page: Page): Promise<string[]> {
  const session = await page.context().newCDPSession(page);
  await session.send('Runtime.evaluate', { expression: AXE });
  const { result } = await session.send('Runtime.evaluate', {
    expression: `axe.run({ runOnly: ${JSON.stringify(RULES)} }).then(({ violations }) => JSON.stringify(violations.flatMap(
      ({ id, nodes }) => nodes.map(({ target, failureSummary }) => id + ' ' + target.join(' ') + ': ' + failureSummary))))`,
    awaitPromise: true,
    returnByValue: true,
  });
  await session.detach();
  return JSON.parse(String(result.value)) as string[];
}

/** Signs in by the form. */
export async function signIn(page: Page, person: { email: string; password: string }): Promise<void> {
  await page.getByLabel('Email').fill(person.email);
  await page.getByRole('textbox', { name: 'Password' }).fill(person.password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('navigation').first().waitFor();
}
