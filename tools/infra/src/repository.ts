import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The root of the checkout, from the sources as well as from the build. */
export const repositoryRoot = findRoot(import.meta.dirname);

/** Returns the folder that stays between runs; deleting it is harmless. */
export function cacheFolder(): string {
  const home = process.env['XDG_CACHE_HOME'];
  return home ? join(home, 'model-gateway') : join(repositoryRoot, '.cache');
}

function findRoot(folder: string): string {
  if (existsSync(join(folder, 'package.json'))) return folder;
  const parent = dirname(folder);
  if (parent === folder) throw new Error('No package.json above tools/infra.');
  return findRoot(parent);
}
