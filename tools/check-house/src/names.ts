import type { Finding, SourceTree } from './tree.js';

const dumpingGrounds = new Set(['common', 'util', 'utils', 'shared', 'core', 'helper', 'helpers']);
const barrelPattern = /^(?<lib>libs\/(?:services\/)?[^/]+)\/.*(?<=\/)index\.tsx?$/;

/** No dumping ground by name: a folder or file is called by its noun or verb. */
export function nameFaults(tree: SourceTree): Finding[] {
  return [...tree.keys()].flatMap((path) => {
    const banned = path.split('/').find((segment) => isDumpingGround(segment));
    if (banned === undefined) return [];
    return [{ rule: 'name', path, message: `"${banned}" names no noun and no verb` }];
  });
}

// `price.helper.ts`, `utils.spec.ts`, `string-utils.ts`: each part of a file's name counts, words inside others do not.
function isDumpingGround(segment: string): boolean {
  const parts = segment.toLowerCase().split('.').slice(0, -1);
  const lastWords = parts.map((part) => part.split(/[-_]/).at(-1) ?? part);
  return dumpingGrounds.has(segment.toLowerCase()) || lastWords.some((word) => dumpingGrounds.has(word));
}

/** A lib has one `src/index.ts` and no barrel inside; a README says what it owns. */
export function shapeFaults(tree: SourceTree): Finding[] {
  const faults: Finding[] = [];
  const libs = new Set<string>();
  for (const path of tree.keys()) {
    const lib = /^libs\/(?:services\/)?[^/]+(?=\/src\/)/.exec(path)?.[0];
    if (lib !== undefined) libs.add(lib);
    const barrel = barrelPattern.exec(path)?.groups?.['lib'];
    if (barrel !== undefined && path !== `${barrel}/src/index.ts` && !path.includes('/generated/')) {
      faults.push({ rule: 'barrel', path, message: `only ${barrel}/src/index.ts may be an index` });
    }
  }
  for (const lib of [...libs].sort()) {
    if (!tree.has(`${lib}/src/index.ts`)) {
      faults.push({
        rule: 'index',
        path: `${lib}/src/index.ts`,
        message: 'the one door of the lib is missing',
      });
    }
    if (!tree.has(`${lib}/project.json`)) {
      faults.push({
        rule: 'project',
        path: `${lib}/project.json`,
        message: 'no kind: no boundary is checked',
      });
    }
    if (!tree.has(`${lib}/README.md`)) {
      faults.push({ rule: 'readme', path: `${lib}/README.md`, message: 'a library without README' });
    }
  }
  return faults;
}

/** The index of a lib names what it exports; a generated file, which does so by name, may stand in it whole. */
export function exportStarFaults(tree: SourceTree): Finding[] {
  return [...tree].flatMap(([path, text]) => {
    if (!/^libs\/.*\/src\/index\.ts$/.test(path)) return [];
    return text.split('\n').flatMap((line, index) => {
      if (!/^\s*export\s*\*/.test(line) || /\.generated\.js';$/.test(line)) return [];
      return [{ rule: 'export-star', path, line: index + 1, message: 'an index exports by name' }];
    });
  });
}
