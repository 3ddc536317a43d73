import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/** Folder that only root can write, so that nobody else can put programs or data in its place. */
const HOME = '/var/lib/model-gateway';

/**
 * The programs of PostgreSQL, copied once a version to where every user can enter.
 * @param program one of them, in the folder bin/ of their package
 * @returns the copy of the package's folder `native`
 */
export function reachablePrograms(program: string, home = HOME): string {
  const native = dirname(dirname(program));
  const { name, version } = JSON.parse(readFileSync(join(dirname(native), 'package.json'), 'utf8')) as {
    name: string;
    version: string;
  };
  const copy = join(home, `${basename(name)}-${version}`);
  if (existsSync(copy)) return copy;
  makeHome(home);
  // Renamed when complete, so that a killed copy is never used.
  const draft = mkdtempSync(`${copy}.new-`);
  cpSync(native, join(draft, 'native'), { recursive: true, verbatimSymlinks: true });
  try {
    renameSync(join(draft, 'native'), copy);
  } catch (failure) {
    // Another start has copied them in the same moment.
    if (!existsSync(copy)) throw failure;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  return copy;
}

/**
 * Returns the place for a cluster that cannot be at `clusterDir`, which becomes a link to it. Whoever deletes or moves
 * the data folder begins anew, and finds by the link what else there is to delete. @throws Error with one sentence
 * where a cluster is at `clusterDir` itself.
 */
export function reachableCluster(clusterDir: string, home = HOME): string {
  const found = lstatSync(clusterDir, { throwIfNoEntry: false });
  if (found && !found.isSymbolicLink())
    throw new Error(
      `The OS user that PostgreSQL runs as, because this process is root, cannot enter ${dirname(clusterDir)}: ` +
        'move the project to a folder that everybody may enter, for example below /opt, or run as another user than root.',
    );
  if (!found) {
    makeHome(home);
    const place = mkdtempSync(join(home, 'data-'));
    chmodSync(place, 0o755);
    symlinkSync(join(place, 'cluster'), clusterDir);
  }
  const cluster = clusterAt(clusterDir);
  openFolder(dirname(cluster));
  return cluster;
}

/** Returns the place of a cluster: behind the link that an earlier run made, or `clusterDir` itself. */
export function clusterAt(clusterDir: string): string {
  const found = lstatSync(clusterDir, { throwIfNoEntry: false });
  return found?.isSymbolicLink() ? resolve(dirname(clusterDir), readlinkSync(clusterDir)) : clusterDir;
}

/** @throws Error with one sentence where it cannot be made. */
function makeHome(home: string): void {
  try {
    openFolder(home);
  } catch (cause) {
    throw new Error(
      `PostgreSQL does not run as root, and ${home} for its programs and data could not be made: ` +
        'run as another user than root.',
      { cause },
    );
  }
}

/** One that is not there is made, for everybody to enter whatever this process's umask is; one that is there stays as it is. */
function openFolder(folder: string): void {
  if (mkdirSync(folder, { recursive: true }) !== undefined) chmodSync(folder, 0o755);
}
