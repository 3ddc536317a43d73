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
import { basename, dirname, join } from 'node:path';

/** Only root writes here, so that nobody else can put programs or data in their place. */
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
 * Where a cluster lies that cannot lie at `clusterDir`, which becomes a link to it: who deletes or moves the data folder
 * begins anew, and finds by the link what else there is to delete.
 * @throws Error with one sentence where a cluster lies at `clusterDir` itself.
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
    symlinkSync(join(mkdtempSync(join(home, 'data-')), 'cluster'), clusterDir);
  }
  const cluster = readlinkSync(clusterDir);
  mkdirSync(dirname(cluster), { recursive: true });
  chmodSync(dirname(cluster), 0o755);
  return cluster;
}

/** @throws Error with one sentence where it cannot be made. */
function makeHome(home: string): void {
  try {
    mkdirSync(home, { recursive: true, mode: 0o755 });
  } catch (cause) {
    throw new Error(
      `PostgreSQL does not run as root, and ${home} for its programs and data could not be made: ` +
        'run as another user than root.',
      { cause },
    );
  }
}
