import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { repository } from '@gateway/testing/plain';

/** An OS user by its ids. */
export interface User {
  uid: number;
  gid: number;
}

export interface Clone {
  /** Mode 0700, as root's home has it. */
  home: string;
  /** The repository in it, installed and never built. */
  folder: string;
  /** Makes all of it another user's own; for root alone. */
  giveTo(user: User): void;
  remove(): void;
}

/** Paths that a fresh clone does not have. */
const MADE_LATER = new Set([
  '.git',
  'node_modules',
  'dist',
  'generated',
  '.data',
  '.cache',
  '.nx',
  '.env',
  'coverage',
]);

/** The working tree as it is after a clone and an install, in a folder that only its owner may enter. */
export function cloneRepository(): Clone {
  const home = mkdtempSync(join(tmpdir(), 'gw-home-'));
  chmodSync(home, 0o700);
  const folder = join(home, 'model-gateway');
  // The times are kept because an install that is older than its lockfile is made again.
  const filter = (path: string): boolean => path === repository || !MADE_LATER.has(basename(path));
  cpSync(repository, folder, { recursive: true, preserveTimestamps: true, filter });
  linkDependencies(folder);
  return {
    home,
    folder,
    giveTo: (user) => giveTo(home, user),
    remove: () => rmSync(home, { recursive: true, force: true }),
  };
}

function linkDependencies(folder: string): void {
  const from = join(repository, 'node_modules');
  const to = join(folder, 'node_modules');
  try {
    execFileSync('cp', ['-al', from, to], { stdio: 'pipe' });
  } catch {
    // Another file system, or a `cp` that makes no links.
    rmSync(to, { recursive: true, force: true });
    execFileSync('cp', ['-a', from, to], { stdio: 'pipe' });
  }
}

/** A linked file shares its owner with the repository's: of the dependencies the folders alone, which are new, are given. */
function giveTo(home: string, { uid, gid }: User): void {
  const given = ['(', '-type', 'd', '-o', '-not', '-path', '*/node_modules/*', ')'];
  execFileSync('find', [home, ...given, '-exec', 'chown', '-h', `${uid}:${gid}`, '{}', '+'], {
    stdio: 'pipe',
  });
}
