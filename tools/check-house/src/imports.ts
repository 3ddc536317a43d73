import { posix } from 'node:path';
import ts from 'typescript';
import { aliasTargets } from './aliases.js';
import { type SourceTree, sources } from './tree.js';

/** Returns the files of the tree that each file imports, by relative path or by an alias; imports of types included. */
export function importGraph(tree: SourceTree): Map<string, string[]> {
  const find = finder(tree);
  const targets = (path: string, text: string): string[] =>
    ts.preProcessFile(text, true, true).importedFiles.flatMap(({ fileName }) => find(path, fileName));
  return new Map(sources(tree).map(([path, text]) => [path, targets(path, text)]));
}

/**
 * Every file that is evaluated when `entry` is imported, itself included. Imports of types load nothing, and neither
 * does an `import()` before it runs.
 */
export function loadedFiles(tree: SourceTree, entry: string): Set<string> {
  const find = finder(tree);
  const loaded = new Set([entry]);
  for (const path of loaded) {
    for (const specifier of valueImports(path, tree.get(path) ?? ''))
      find(path, specifier).forEach((target) => loaded.add(target));
  }
  return loaded;
}

/** The file of the tree that an import of another file means; empty for packages. */
function finder(tree: SourceTree): (from: string, specifier: string) => string[] {
  const files = new Set(sources(tree).map(([path]) => path));
  const aliases = aliasTargets(tree);
  return (from, specifier) => {
    const found = candidates(from, specifier, aliases).find((candidate) => files.has(candidate));
    return found === undefined ? [] : [found];
  };
}

function candidates(from: string, specifier: string, aliases: ReadonlyMap<string, string>): string[] {
  if (specifier.startsWith('.')) {
    const target = posix.join(posix.dirname(from), specifier);
    const stem = target.replace(/\.jsx?$/, '');
    return [target, `${stem}.ts`, `${stem}.tsx`];
  }
  const alias = aliases.get(specifier);
  if (alias !== undefined) return [alias];
  const lib = /^@gateway\/([^/]+)$/.exec(specifier)?.[1];
  return lib === undefined ? [] : [`libs/${lib}/src/index.ts`, `libs/services/${lib}/src/index.ts`];
}

function valueImports(path: string, text: string): string[] {
  const { statements } = ts.createSourceFile(path, text, ts.ScriptTarget.ES2023);
  return statements.flatMap((statement) => {
    if (!ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement)) return [];
    const { moduleSpecifier } = statement;
    if (moduleSpecifier === undefined || !ts.isStringLiteral(moduleSpecifier)) return [];
    return isErased(statement) ? [] : [moduleSpecifier.text];
  });
}

function isErased(statement: ts.ImportDeclaration | ts.ExportDeclaration): boolean {
  if (ts.isExportDeclaration(statement)) return statement.isTypeOnly || areTypes(statement.exportClause);
  const { importClause } = statement;
  if (importClause === undefined) return false;
  const { isTypeOnly, name, namedBindings } = importClause;
  return isTypeOnly || (name === undefined && areTypes(namedBindings));
}

function areTypes(bindings: ts.NamedImportBindings | ts.NamedExportBindings | undefined): boolean {
  if (bindings === undefined || !(ts.isNamedImports(bindings) || ts.isNamedExports(bindings))) return false;
  return bindings.elements.every(({ isTypeOnly }) => isTypeOnly);
}
