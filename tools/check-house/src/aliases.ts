import { posix } from 'node:path';
import type { Finding, SourceTree } from './tree.js';

const typesFile = 'tsconfig.base.json';
const buildFile = '.swcrc';

/** Files that the aliases `@gateway/…` lead to, relative to the root; none without a tsconfig.base.json. */
export function aliasTargets(tree: SourceTree): Map<string, string> {
  const targets = [...aliases(tree.get(typesFile), 'compilerOptions')];
  return new Map(targets.map(([name, paths]) => [name, firstOf(paths)]));
}

/** The type check and the build resolve `@gateway/…` alike; each has its own list. */
export function aliasFaults(tree: SourceTree): Finding[] {
  const types = aliases(tree.get(typesFile), 'compilerOptions');
  const build = aliases(tree.get(buildFile), 'jsc');
  const names = [...new Set([...types.keys(), ...build.keys()])];
  return names
    .filter((name) => types.get(name) !== build.get(name))
    .map((name) => ({
      rule: 'alias',
      path: buildFile,
      message: `${name} differs between ${typesFile} and ${buildFile}`,
    }));
}

function firstOf(paths: string): string {
  const [first] = JSON.parse(paths) as string[];
  return posix.normalize(first);
}

function aliases(text: string | undefined, section: string): Map<string, string> {
  const file: unknown = text === undefined ? {} : JSON.parse(text);
  const paths = member(member(file, section), 'paths');
  return new Map(Object.entries(paths).map(([name, targets]) => [name, JSON.stringify(targets)]));
}

function member(value: unknown, name: string): object {
  const found: unknown =
    typeof value === 'object' && value !== null && name in value ? Reflect.get(value, name) : {};
  return typeof found === 'object' && found !== null ? found : {};
}
