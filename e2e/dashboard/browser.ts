import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type BrowserContext, type Locator, type Page } from 'playwright-core';
import type { Gateway } from '../harness/gateway.js';
import { logIn, type PersonSession } from '../harness/session.js';

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
/** Time of one step: a machine whose cores are taken answers late, and no test is about that. */
const STEP_MS = 150_000;
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** WCAG 2.2 AA. */
const RULES: readonly string[] = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
/** Rules whose verdict another colour scheme can change: it changes no name, role or size. */
const OF_COLOURS = { type: 'rule', values: ['color-contrast', 'link-in-text-block'] };

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
      `${CHROMIUM} is missing: run "sudo apt-get install -y chromium", or set CHROMIUM_PATH to a Chromium.`,
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
    // A rejected request is logged by the browser itself; the pages show it, and the tests say where one is expected.
    if (message.type() !== 'error' || message.text().startsWith('Failed to load resource')) return;
    faults.push(`${page.url()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => faults.push(`${page.url()}: ${error.message}`));
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(origin) && !/^(?:data|blob|about):/.test(url)) faults.push(`foreign request ${url}`);
  });
}

/** Colours fade in and dialogs open; a spinner would never end. */
const STILL = `Promise.all(document.getAnimations()
  .filter(({ effect }) => effect.getComputedTiming().endTime < Infinity)
  .map(({ finished }) => finished.catch(() => null))).then(() => null)`;
const DRAWN = 'new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))';

/** Nothing loads, is sent or moves any more. */
export async function settled(page: Page): Promise<void> {
  await page.locator('[aria-label=Loading], [data-loading=true]').first().waitFor({ state: 'detached' });
  await page.evaluate('document.fonts.ready');
  // What a new width changes is drawn in the frame after it.
  await page.evaluate(DRAWN);
  await page.evaluate(STILL);
}

/**
 * Returns axe's findings on the page, as one line each; `colours` where the page was checked in the other scheme
 * before. The script runs as the browser's own, which the policy does not bind.
 */
export async function axeFaults(page: Page, rules: 'all' | 'colours' = 'all'): Promise<string[]> {
  // Half of a fade has a contrast of its own.
  await settled(page);
  const session = await page.context().newCDPSession(page);
  const there = await session.send('Runtime.evaluate', { expression: 'typeof axe' });
  if (there.result.value === 'undefined') await session.send('Runtime.evaluate', { expression: AXE });
  // What passes is not asked for: to describe it takes as long as to find what does not.
  const asked = {
    runOnly: rules === 'all' ? RULES : OF_COLOURS,
    resultTypes: ['violations'],
    iframes: false,
  };
  const { result } = await session.send('Runtime.evaluate', {
    expression: `axe.run(${JSON.stringify(asked)}).then(({ violations }) => JSON.stringify(violations.flatMap(
      ({ id, nodes }) => nodes.map(({ target, failureSummary }) => id + ' ' + target.join(' ') + ': ' + failureSummary))))`,
    awaitPromise: true,
    returnByValue: true,
  });
  await session.detach();
  return JSON.parse(String(result.value)) as string[];
}

/** Entry of the menu whose tab a page is. */
const ENTRY_OF: Readonly<Record<string, string>> = {
  Prompts: 'Models',
  Routing: 'Models',
  Limits: 'Budgets',
  'Limits simulator': 'Budgets',
  Ledger: 'Billing',
  Statement: 'Billing',
  Teams: 'Members',
  'Provider keys': 'Settings',
  Notifications: 'Settings',
  'Audit log': 'Settings',
  'Admin keys': 'Settings',
};

/** Opens a page by the menu, as people do: by its entry, and by its tab where it is one. */
export async function openPage(page: Page, name: string): Promise<void> {
  const entry = ENTRY_OF[name] as string | undefined;
  await linkIn(page, 'Pages', entry ?? name).click();
  if (entry !== undefined) await linkIn(page, 'Section', name).click();
  await page.getByRole('heading', { name, level: 1, exact: true }).waitFor();
}

function linkIn(page: Page, navigation: 'Pages' | 'Section', name: string): Locator {
  return page.getByRole('navigation', { name: navigation }).getByRole('link', { name, exact: true });
}

/** Returns the names of the organization's pages that the menu and its tabs lead to. */
export async function pagesOfMenu(page: Page): Promise<string[]> {
  const menu = page.getByRole('navigation', { name: 'Pages' }).getByRole('link');
  const entries = (await menu.allInnerTexts()).map((name) => name.trim());
  const own = entries.filter((name) => name !== 'Platform admin');
  return [...own, ...Object.keys(ENTRY_OF).filter((name) => own.includes(ENTRY_OF[name]))];
}

/** Signs in by the form. */
export async function signIn(page: Page, person: { email: string; password: string }): Promise<void> {
  await page.getByLabel('Email').fill(person.email);
  await page.getByRole('textbox', { name: 'Password' }).fill(person.password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('navigation').first().waitFor();
}

export interface SignedIn {
  /** Session of the first super admin, for what a test does beside the browser. */
  owner: PersonSession;
  browser: Browser;
  page: Page;
  /** Address of the pages of their organization. */
  base: string;
  /** Closes the browser. @returns what went wrong in its pages. */
  end(): Promise<string[]>;
}

/** A browser at the home of the first super admin's organization, or of the one that is named. Waits until the gateway takes the login; `known` has done so. */
export async function openSignedIn(
  gateway: Pick<Gateway, 'url' | 'admin'> & { orgId?: string; token?: string },
  known?: PersonSession,
): Promise<SignedIn> {
  const owner = known ?? (await logIn(gateway));
  const browser = await startBrowser(gateway.url);
  const base = `${gateway.url}/dashboard/o/${owner.orgId}`;
  const end = async (): Promise<string[]> => {
    await browser.close();
    return browser.faults;
  };
  try {
    const page = await browser.context.newPage();
    await page.goto(base);
    await signIn(page, gateway.admin);
    await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
    return { owner, browser, page, base, end };
  } catch (failure) {
    await browser.close();
    throw failure;
  }
}
