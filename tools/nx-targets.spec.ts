import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { repository } from '@gateway/testing/plain';
import { createDependencies, createNodes, importsOf } from './nx-targets.mjs';

const files = globSync('{apps,libs,tools,lab,e2e}/**/project.json', { cwd: repository });

describe('createNodes', () => {
  const targets = Object.fromEntries(
    createNodes[1](files, undefined, { workspaceRoot: repository }).map(([file, { projects }]) => [
      dirname(file),
      projects[dirname(file)].targets,
    ]),
  );

  it('gives each project build, test, lint and typecheck; e2e, which every change reaches, has e2e for test', () => {
    expect(Object.keys(targets).sort()).toEqual(files.map((file) => dirname(file)).sort());
    for (const [root, own] of Object.entries(targets)) {
      const test = root === 'e2e' ? 'e2e' : 'test';
      expect(Object.keys(own)).toEqual(expect.arrayContaining(['build', test, 'lint', 'typecheck']));
    }
  });

  it('caches each, by named inputs', () => {
    for (const [root, own] of Object.entries(targets))
      for (const [name, { executor, cache, inputs }] of Object.entries(own))
        if (executor !== 'nx:noop')
          expect([root, name, cache, inputs]).toEqual([root, name, true, expect.any(Array)]);
  });

  it('names what a build writes, so that a cached one puts it back', () => {
    expect(targets['libs/money'].build.outputs).toEqual(['{workspaceRoot}/dist/{projectRoot}']);
    expect(targets['libs/services/keys'].generate.outputs).toEqual(['{projectRoot}/src/generated/prisma']);
    expect(targets['apps/dashboard'].build.outputs).toContain('{workspaceRoot}/dist/dashboard');
  });

  it('judges a spec anew when the harness changes, which no dependency says', () => {
    expect(targets['libs/money'].test.inputs).toContain('harness');
    expect(targets['libs/money'].typecheck.inputs).toContain('harness');
  });
});

describe('createDependencies', () => {
  const projects = Object.fromEntries(
    files.map((file) => {
      const { name } = JSON.parse(readFileSync(join(repository, file), 'utf8')) as { name: string };
      return [name, { root: dirname(file) }];
    }),
  );
  const dependencies = (source: string, ...paths: string[]) =>
    createDependencies(undefined, {
      projects,
      workspaceRoot: repository,
      filesToProcess: { projectFileMap: { [source]: paths.map((file) => ({ file })) } },
    }).map(({ target }) => target);

  it('are what the production files of a project import', () => {
    expect(dependencies('money', 'libs/money/src/price.ts')).toEqual(['contracts']);
  });

  it('are not what a spec or a fixture imports: the harness would make everything depend on everything', () => {
    expect(dependencies('money', 'libs/money/src/price.spec.ts')).toEqual([]);
    expect(dependencies('journal', 'libs/journal/src/journal.fixture.ts')).toEqual([]);
  });

  it('of e2e are what its specs import', () => {
    expect(dependencies('e2e', 'e2e/limit-clients.drill.spec.ts').sort()).toEqual([
      'fleet',
      'limits',
      'testing',
    ]);
  });
});

describe('importsOf', () => {
  it('reads imports, types, re-exports and import()', () => {
    const text = `import { a } from '@gateway/money';
import type { B } from '@gateway/contracts';
import '@gateway/platform/flags';
export { c } from '@gateway/limits';
const d = await import('@gateway/fleet');
const e = '@gateway/none';
import { f } from '@gateway/money';`;
    const all = ['contracts', 'fleet', 'limits', 'money', 'platform/flags'];
    expect(importsOf(text).sort()).toEqual(all.map((name) => `@gateway/${name}`));
  });
});
