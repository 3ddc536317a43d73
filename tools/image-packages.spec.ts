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
const removed = new Set(unneeded(packages));
const kept = new Map(
  Object.entries(packages).filter(([path, { dev }]) => dev !== true && !removed.has(path)),
);

/** Returns the file that Node resolves from there: the nearest node_modules upwards. */
function resolved(from: string, name: string): string | null {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/')))) {
    const path = `${at === '' ? '' : `${at}/`}node_modules/${name}`;
    if (kept.has(path)) return path;
    if (at === '') return null;
  }
}

describe('the packages of the image', () => {
  it('lack a second Node, the command line and engines of Prisma, and TypeScript', () => {
    for (const name of ['node', 'prisma', '@prisma/engines', 'typescript'])
      expect(kept.has(`node_modules/${name}`)).toBe(false);
  });

  it('have all that they depend on', () => {
    const missing = [...kept].flatMap(([path, { dependencies = {} }]) =>
      Object.keys(dependencies)
        .filter((name) => resolved(path, name) === null)
        .map((name) => `${path} needs ${name}`),
    );
    // The repository's own Node is no module that anything imports.
    expect(missing).toEqual([' needs node']);
  });
});
