import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Metrics } from './metrics.js';

const HELP = 'Always 1; its labels say which release of which service runs on what.';

/** Written by the build of an image, which has no `.git`. */
const COMMIT_FILE = 'commit';
const COMMIT = /^[0-9a-f]{40}$/;

/** Reports which release this process is, so that a dashboard can lay a change of it over every other figure. */
export function reportBuild(metrics: Metrics, service: string): void {
  const folder = dirname(fileURLToPath(import.meta.url));
  const labels = { service, version: releaseOf(folder), commit: commitOf(folder), node: process.version };
  metrics.gauges('gateway_build_info', HELP, ['service', 'version', 'commit', 'node'], () => [
    { labels, value: 1 },
  ]);
}

/** The version of the nearest package.json: compiled files lie deeper than their sources. */
export function releaseOf(folder: string): string {
  const top = topOf(folder);
  if (top === null) return 'unknown';
  const { version } = JSON.parse(readFileSync(join(top, 'package.json'), 'utf8')) as { version?: unknown };
  return typeof version === 'string' ? version : releaseOf(dirname(top));
}

/** The commit of an image or of a clone, 12 digits of it; `unknown` where neither says it. */
export function commitOf(folder: string): string {
  const top = topOf(folder);
  if (top === null) return 'unknown';
  const found = [read(top, COMMIT_FILE), headOf(join(top, '.git'))].find((text) => COMMIT.test(text));
  return found?.slice(0, 12) ?? 'unknown';
}

/** The nearest folder upwards with a package.json. */
function topOf(folder: string): string | null {
  if (existsSync(join(folder, 'package.json'))) return folder;
  const parent = dirname(folder);
  return parent === folder ? null : topOf(parent);
}

/** The commit that is checked out, empty where this is no clone. */
function headOf(git: string): string {
  const head = read(git, 'HEAD');
  const [, ref] = /^ref: (refs\/[\w./-]+)$/.exec(head) ?? [];
  if (ref === undefined) return head;
  const packed = read(git, 'packed-refs')
    .split('\n')
    .find((line) => line.endsWith(` ${ref}`));
  return read(git, ref) || (packed?.slice(0, 40) ?? '');
}

function read(folder: string, name: string): string {
  try {
    return readFileSync(join(folder, name), 'utf8').trim();
  } catch {
    return '';
  }
}
