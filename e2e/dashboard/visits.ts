import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { axeFaults, type Scheme } from './browser.js';

/** Where screenshots go, `npm run dashboard:shots` sets it; absent = none are made. */
const SHOTS_DIR = process.env.DASHBOARD_SHOTS;

/** Answers that no visible link may lead to. */
const REFUSALS = new Set([401, 403]);

export interface Visit {
  scheme: Scheme;
  width: number;
  withAxe: boolean;
  /** Without one no picture is kept, whatever the environment says. */
  keepsShots?: boolean;
}

/** What is wrong with the pages, one line each. */
export async function visitAll(
  page: Page,
  base: string,
  paths: readonly string[],
  { scheme, width, withAxe, keepsShots = true }: Visit,
): Promise<string[]> {
  const faults: string[] = [];
  const onResponse = (answer: { url(): string; status(): number }): void => {
    const status = answer.status();
    if (REFUSALS.has(status) || status >= 500) faults.push(`${page.url()}: ${status} of ${answer.url()}`);
  };
  page.on('response', onResponse);
  await page.setViewportSize({ width, height: width < 640 ? 844 : 900 });
  await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
  for (const path of paths) {
    await page.goto(`${base}${path}`);
    await settled(page);
    const at = `${path || '/'} (${scheme}, ${width})`;
    if (withAxe) faults.push(...(await axeFaults(page)).map((fault) => `${at}: ${fault}`));
    const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
    if (Number(overflow) > 0) faults.push(`${at}: ${String(overflow)} px wider than the window`);
    if (keepsShots) await keepShot(page, path, scheme, width);
  }
  page.off('response', onResponse);
  return faults;
}

/** The head stands, and nothing loads any more. */
async function settled(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).first().waitFor();
  await page.locator('[aria-label=Loading]').first().waitFor({ state: 'detached' });
  await page.evaluate('document.fonts.ready');
}

async function keepShot(page: Page, path: string, scheme: Scheme, width: number): Promise<void> {
  if (SHOTS_DIR === undefined) return;
  mkdirSync(SHOTS_DIR, { recursive: true });
  const name =
    path
      .replace(/\?show=/, '-')
      .replace(/[a-z]+_[0-9a-f-]{20,}/g, 'one')
      .replaceAll('/', '-')
      .slice(1) || 'home';
  await page.screenshot({ path: join(SHOTS_DIR, `${name}-${scheme}-${width}.png`), fullPage: true });
}
