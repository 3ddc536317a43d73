import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { readAdvisories, type Advisories } from './advisories.js';
import { licenceFaults } from './licences.js';
import { importedBy, shippedPackages, type Lock, type Locked } from './shipped.js';

const COMMAND_MS = 60_000;
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;
const IN_BUNDLE = 'apps/dashboard/src/**/*.{ts,tsx}';
const OF_TESTS = ['**/*.spec.*', '**/*.fixture.*', '**/testing/**'];

/** Runs a program in a folder; an exit code above 0 is the caller's to judge. */
export type Run = (program: string, args: string[]) => { code: number; output: string };

export function runIn(root: string): Run {
  return (program, args) => {
    const { status, stdout, error } = spawnSync(program, args, {
      cwd: root,
      encoding: 'utf8',
      timeout: COMMAND_MS,
      maxBuffer: OUTPUT_BYTES_MAX,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    if (error !== undefined) throw new Error(`${program} ${args[0]} did not run: ${error.message}`);
    return { code: status ?? 1, output: stdout };
  };
}

/** Returns the packages that the images of this clone have inside. */
export async function packagesInside(root: string): Promise<Map<string, Locked>> {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Lock;
  };
  const sources = globSync(IN_BUNDLE, { cwd: root, exclude: OF_TESTS });
  const bundled = sources.flatMap((path) => importedBy(readFileSync(join(root, path), 'utf8')));
  // The image's own recipe, which is no part of the build.
  const recipe = (await import(pathToFileURL(join(root, 'deploy/docker/unneeded.mjs')).href)) as Recipe;
  return shippedPackages(packages, {
    bundled: [...new Set(bundled)].toSorted(),
    removed: new Set(recipe.unneeded(packages)),
  });
}

interface Recipe {
  unneeded(packages: Lock): string[];
}

export interface Judged {
  faults: string[];
  /** Lower advisories, and a registry that gives none: they stop nothing. */
  notes: string[];
}

/** Judges the licences and advisories of what is inside. A registry that gives no advisories is a fault where they are required. */
export function judged(inside: ReadonlyMap<string, Locked>, run: Run, isRequired: boolean): Judged {
  const faults = licenceFaults(inside);
  const found = advisories(inside, run);
  if (found.isKnown) return { faults: [...faults, ...found.faults], notes: found.others };
  const unknown = `advisories were not checked: ${found.reason}`;
  return isRequired ? { faults: [...faults, unknown], notes: [] } : { faults, notes: [unknown] };
}

function advisories(inside: ReadonlyMap<string, Locked>, run: Run): Advisories {
  try {
    // All of it: npm calls the packages of the dashboard's bundle development dependencies.
    const args = ['audit', '--json', '--package-lock-only', '--fetch-retries=0', '--fetch-timeout=20000'];
    return readAdvisories(run('npm', args).output, inside);
  } catch (failure) {
    return { isKnown: false, reason: failure instanceof Error ? failure.message : String(failure) };
  }
}
