// Which drills there are, and which of them a share holds. Node's own modules only: it runs on the host's Node.
import { readdirSync } from 'node:fs';
import { join, sep } from 'node:path';

const TOPS = ['apps', 'e2e', 'lab', 'libs', 'tools'];

/**
 * Returns the paths of all drills below a folder, sorted by name.
 * @param {string} root the repository
 * @returns {string[]} paths from the root, with `/`
 */
export function drillPaths(root) {
  const paths = TOPS.flatMap((top) =>
    readdirSync(join(root, top), { recursive: true }).map((path) => `${top}/${path.split(sep).join('/')}`),
  ).filter((path) => /\.drill\.spec\.tsx?$/.test(path));
  return paths.sort();
}

/**
 * Returns every N-th path, starting with the K-th. The N shares of one list hold each path once.
 * @param {string[]} paths
 * @param {string} text `K/N` with 0 <= K < N
 * @returns {string[]}
 * @throws {RangeError} for a share of another form, and for one without a path
 */
export function shareOf(paths, text) {
  const [first, step] = (/^(\d{1,4})\/(\d{1,4})$/.exec(text) ?? []).slice(1).map(Number);
  if (first === undefined || first >= step)
    throw new RangeError(`--share wants K/N with 0 <= K < N, not ${text}`);
  const share = paths.filter((_, index) => index % step === first);
  if (share.length === 0)
    throw new RangeError(`There are ${paths.length} drills: the share ${text} holds none`);
  return share;
}
