import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The files of a repository by path relative to its root, with forward slashes. */
export type SourceTree = ReadonlyMap<string, string>;

/** One broken rule at one place; `line` counts from 1 and is absent where the fault is the file's name or size. */
export interface Finding {
  rule: string;
  path: string;
  line?: number;
  message: string;
}

export type Rule = (tree: SourceTree) => Finding[];

const sourcePattern = /^(apps|libs|tools|lab|e2e)\/.*\.tsx?$/;

/** Hand-written TypeScript: generated clients are neither tracked nor judged. */
export function sources(tree: SourceTree): [path: string, text: string][] {
  return [...tree].filter(([path]) => sourcePattern.test(path) && !path.includes('/generated/'));
}

/** True if the path is a test; tests may use the real clock and long describe blocks. */
export function isSpec(path: string): boolean {
  return path.endsWith('.spec.ts') || path.endsWith('.spec.tsx');
}

/** Reads every file that is tracked, or would be by the next `git add`; a tracked file that was deleted is left out. */
export function readTree(root: string): SourceTree {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    maxBuffer: 64 * 1024 * 1024,
    encoding: 'utf8',
  });
  const tree = new Map<string, string>();
  for (const path of listed.split('\0').filter((entry) => entry !== '')) {
    const file = join(root, path);
    if (existsSync(file)) tree.set(path, readFileSync(file, 'utf8'));
  }
  return tree;
}
