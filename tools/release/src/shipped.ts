/** A package of package-lock.json. */
export interface Locked {
  version?: string;
  license?: string;
  dev?: boolean;
  devOptional?: boolean;
  link?: boolean;
  dependencies?: Readonly<Record<string, string>>;
}
export type Lock = Readonly<Record<string, Locked>>;

/** Value imports of a source of the dashboard; what is imported as a type alone is in no bundle. */
const IMPORTED = /^import (?!type )(?:[^'";]*? from )?'((?:@[\w.-]+\/)?[\w-][\w.-]*)(?:\/[^']*)?';$/gm;

/** Returns the names of the packages that a source imports. */
export function importedBy(source: string): string[] {
  return [...source.matchAll(IMPORTED)].map(([, name]) => name).filter((name) => !name.startsWith('node:'));
}

/** Returns the path that Node resolves a package to from there: the nearest node_modules upwards. */
function resolved(lock: Lock, from: string, name: string): string | null {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/')))) {
    const path = `${at === '' ? '' : `${at}/`}node_modules/${name}`;
    if (path in lock) return path;
    if (at === '') return null;
  }
}

/**
 * Returns what is inside the images, by its path in the lock file: the packages that a service loads, and those that the
 * dashboard's bundle is made of, which npm calls development dependencies.
 */
export function shippedPackages(
  lock: Lock,
  { bundled, removed }: { bundled: readonly string[]; removed: ReadonlySet<string> },
): Map<string, Locked> {
  const inside = new Map(
    Object.entries(lock).filter(
      ([path, { dev }]) => path.startsWith('node_modules/') && dev !== true && !removed.has(path),
    ),
  );
  const waiting = bundled.map((name): [from: string, name: string] => ['', name]);
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const path = resolved(lock, ...next);
    if (path === null || inside.has(path)) continue;
    inside.set(path, lock[path]);
    for (const name of Object.keys(lock[path].dependencies ?? {})) waiting.push([path, name]);
  }
  return inside;
}

/** Returns the name of the package at a path of the lock file. */
export function nameAt(path: string): string {
  return path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
}
