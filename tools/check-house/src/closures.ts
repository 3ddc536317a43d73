import { loadedFiles } from './imports.js';
import type { Finding, SourceTree } from './tree.js';

/** The most files of ours that an import of `entry` may load. */
interface Bound {
  entry: RegExp;
  files: number;
}

const bounds: Bound[] = [
  { entry: /^libs\/platform\/src\/index\.ts$/, files: 170 },
  { entry: /^libs\/testing\/src\/index\.ts$/, files: 370 },
  { entry: /^libs\/dialects\/src\/(?:images|transcriptions|tasks)\/.*\.spec\.ts$/, files: 110 },
];

/**
 * Bounds the files behind imports of nearly every program and spec: each start of a service and each spec file
 * evaluates all of them.
 */
export function closureFaults(tree: SourceTree): Finding[] {
  return bounds.flatMap(({ entry, files }) =>
    [...tree.keys()].filter((path) => entry.test(path)).flatMap((path) => boundFault(tree, path, files)),
  );
}

function boundFault(tree: SourceTree, path: string, most: number): Finding[] {
  const { size } = loadedFiles(tree, path);
  if (size <= most) return [];
  return [{ rule: 'closure', path, message: `loads ${size} files, more than ${most}` }];
}
