import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { axeFaults, settled, type Scheme } from './browser.js';

/** Folder of the screenshots, set by `npm run dashboard:shots`; absent = none are made. */
const SHOTS_DIR = process.env.DASHBOARD_SHOTS;

export interface Look {
  scheme: Scheme;
  width: number;
  withAxe: boolean;
}

export const LOOKS: readonly Look[] = [
  { scheme: 'light', width: 1280, withAxe: true },
  { scheme: 'dark', width: 1280, withAxe: true },
  { scheme: 'dark', width: 390, withAxe: false },
  // Colours make nothing wider: this one is for its picture.
  ...(SHOTS_DIR === undefined ? [] : [{ scheme: 'light', width: 390, withAxe: false } as const]),
];

/** Pages that the menu and its tabs link to, below the organization, those of the platform too. */
export async function linksOf(page: Page, base: string): Promise<string[]> {
  const paths = new Set<string>();
  const take = async (): Promise<string[]> => {
    const hrefs = await page.evaluate<string[]>(
      "[...document.querySelectorAll('nav a')].map(({ href }) => href)",
    );
    const below = hrefs.filter((href) => href.startsWith(base)).map((href) => href.slice(base.length));
    for (const path of below) paths.add(path);
    return below;
  };
  // A narrow window hides the menu.
  await page.setViewportSize({ width: 1280, height: 900 });
  for (const path of await take()) {
    const entry = page.locator(`nav[aria-label=Pages] a[href="${new URL(base).pathname}${path}"]`).last();
    // A tab of the first page is no entry of the menu.
    if ((await entry.count()) === 0) continue;
    await entry.click();
    await page
      .locator(`nav a[href="${new URL(base).pathname}${path}"][aria-current=page]`)
      .first()
      .waitFor();
    await take();
  }
  return [...paths];
}

interface Visits {
  base: string;
  paths: readonly string[];
  looks: readonly Look[];
  /** Follows the links of the menu, as people do, where there is one; otherwise each page is loaded by its address. */
  byMenu?: boolean;
  /** Pictures are of one role. */
  keepsShots?: boolean;
}

/** Opens each page once and looks at it in every way. What is wrong, one line each. */
export async function visitAll(
  page: Page,
  { base, paths, looks, byMenu = false, keepsShots = false }: Visits,
): Promise<string[]> {
  const faults: string[] = [];
  /** Answers 503 by address: a busy machine may give one, which a page sends again. */
  const unavailable = new Map<string, string>();
  const onResponse = (answer: { url(): string; status(): number }): void => {
    const [status, url] = [answer.status(), answer.url()];
    const fault = `${page.url()}: ${status} of ${url}`;
    if (status === 503) unavailable.set(url, fault);
    // No visible link leads to a rejection.
    else if (status >= 400) faults.push(fault);
    else unavailable.delete(url);
  };
  page.on('response', onResponse);
  for (const path of paths) {
    await look(page, looks[0]);
    if (!byMenu || !(await followLink(page, `${base}${path}`))) await page.goto(`${base}${path}`);
    let rules: 'all' | 'colours' = 'all';
    for (const one of looks) {
      await look(page, one);
      await page.getByRole('heading', { level: 1 }).first().waitFor();
      const at = `${path || '/'} (${one.scheme}, ${one.width})`;
      if (one.withAxe) {
        faults.push(...(await axeFaults(page, rules)).map((fault) => `${at}: ${fault}`));
        rules = 'colours';
      } else await settled(page);
      const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
      if (Number(overflow) > 0) faults.push(`${at}: ${String(overflow)} px wider than the window`);
      faults.push(...(await otherSizes(page)).map((fault) => `${at}: ${fault}`));
      if (keepsShots) await keepShot(page, path, one);
    }
  }
  page.off('response', onResponse);
  return [...faults, ...unavailable.values()];
}

/** Returns texts in another size than the three of the theme; code alone has its own. */
function otherSizes(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`[...document.querySelectorAll('body *')]
    .filter((node) => node.checkVisibility() && node.closest('svg, noscript, [aria-hidden=true]') === null)
    .filter((node) => [...node.childNodes].some((part) => part.nodeType === 3 && part.data.trim() !== ''))
    .map((node) => getComputedStyle(node).fontSize + ' ' + node.textContent.trim().slice(0, 40))
    .filter((text) => !/^(?:13|16|24)px /.test(text))`);
}

/**
 * Returns true if the menu has a link to the page. The page that it leads to is there once its heading is, which is the
 * link's own words.
 */
async function followLink(page: Page, url: string): Promise<boolean> {
  const link = page
    .getByRole('navigation')
    .locator(`a[href="${new URL(url).pathname}"]`)
    // These two lead to pages of other names.
    .filter({ hasNotText: /^(?:Platform admin|Back to the organization)$/ })
    .first();
  if ((await link.count()) === 0) return false;
  const name = (await link.innerText()).trim();
  await link.click();
  await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
  return true;
}

async function look(page: Page, { scheme, width }: Look): Promise<void> {
  await page.setViewportSize({ width, height: width < 640 ? 844 : 900 });
  await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
}

async function keepShot(page: Page, path: string, { scheme, width }: Look): Promise<void> {
  if (SHOTS_DIR === undefined) return;
  mkdirSync(SHOTS_DIR, { recursive: true });
  const name =
    path
      .replace(/\?show=/, '-')
      .replace(/\?\w+=.*/, '-chosen')
      .replace(/[a-z]+_[0-9a-f-]{20,}/g, 'one')
      .replaceAll('/', '-')
      .slice(1) || 'home';
  await page.screenshot({ path: join(SHOTS_DIR, `${name}-${scheme}-${width}.png`), fullPage: true });
}
