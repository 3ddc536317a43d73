import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The repository's folder, from the source as from what is built of it. */
export const repository = ((): string => {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'nx.json'))) {
    if (dirname(folder) === folder) throw new Error('No folder above this file holds nx.json.');
    folder = dirname(folder);
  }
  return folder;
})();
