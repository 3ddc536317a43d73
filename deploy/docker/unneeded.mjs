// `node deploy/docker/unneeded.mjs`, in the image: removes from node_modules what a running service never loads.
import { readFileSync, rmSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

/** The Node that `npm start` brings along: the image has its own. */
const OWN_NODE = /^node_modules\/node(?:-bin-setup)?(?:\/|$)/;

/**
 * Paths of the lock file's packages. npm keeps what is a development tool and, for some package, an optional peer as well:
 * Prisma's command line with its engines, and TypeScript. A link leads to a workspace, whose SDKs only specs need.
 */
export function unneeded(packages) {
  return Object.entries(packages)
    .filter(([path, { devOptional, link }]) => devOptional === true || link === true || OWN_NODE.test(path))
    .map(([path]) => path);
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
  for (const path of unneeded(packages)) rmSync(path, { recursive: true, force: true });
}
