// Nx's plugin of this repository: infers what each project can run, and which project needs which, so that a
// project.json names only folder and kind. Plain JavaScript, because Nx loads it before anything is built.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const JEST =
  'node --experimental-vm-modules --disable-warning=ExperimentalWarning node_modules/jest/bin/jest.js --passWithNoTests';
const NOT_COMPILED = '"**/*.spec.ts,**/*.mjs,**/*.d.mts,**/project.json"';
const SOURCE = /\.(?:tsx?|mjs)$/;
/** Files that only tests read. A test of one lib would else make it depend on all that the test harness starts. */
const OF_TESTS = /\.(?:spec\.tsx?|fixture\.ts)$/;
const IMPORT = /(?:from|import)\s*\(?\s*['"](@gateway\/[\w/-]+)['"]/g;

/** @type {import('nx/src/project-graph/plugins').CreateNodes} */
export const createNodes = [
  '{apps,libs,tools,lab,e2e}/**/project.json',
  (files, _options, { workspaceRoot }) =>
    files.map((file) => {
      const root = dirname(file);
      const { tags = [] } = JSON.parse(readFileSync(join(workspaceRoot, file), 'utf8'));
      const hasSchema = existsSync(join(workspaceRoot, root, 'prisma/schema.prisma'));
      return [file, { projects: { [root]: { targets: targetsOf({ root, tags, hasSchema }) } } }];
    }),
];

/** @type {import('nx/src/project-graph/plugins').CreateDependencies} */
export const createDependencies = (_options, { projects, filesToProcess, workspaceRoot }) => {
  const { paths } = JSON.parse(
    readFileSync(join(workspaceRoot, 'tsconfig.base.json'), 'utf8'),
  ).compilerOptions;
  const names = Object.fromEntries(Object.entries(projects).map(([name, { root }]) => [root, name]));
  const owners = new Map(
    Object.entries(paths).map(([alias, [path]]) => [alias, names[path.replace(/^\.\/|\/src\/.*$/g, '')]]),
  );
  return Object.entries(filesToProcess.projectFileMap).flatMap(([source, files]) =>
    files
      .map(({ file }) => file)
      .filter((file) => SOURCE.test(file) && (!OF_TESTS.test(file) || source === 'e2e'))
      .flatMap((sourceFile) =>
        importsOf(readFileSync(join(workspaceRoot, sourceFile), 'utf8'))
          .map((alias) => owners.get(alias))
          .filter((target) => target !== undefined && target !== source)
          .map((target) => ({ source, target, sourceFile, type: 'static' })),
      ),
  );
};

/**
 * Returns the aliases that a source file imports, each once.
 * @param {string} text
 */
export function importsOf(text) {
  return [...new Set([...text.matchAll(IMPORT)].map(([, alias]) => alias))];
}

/**
 * Returns what a project can run: build, test, lint, typecheck, and generate where it has a schema of Prisma.
 * @param {{ root: string, tags: string[], hasSchema: boolean }} project
 */
export function targetsOf({ root, tags, hasSchema }) {
  const generated = ['generate', '^generate'];
  return {
    ...(hasSchema ? { generate: generate(root) } : {}),
    ...(tags.includes('kind:web')
      ? web(root)
      : { build: build(root), typecheck: typecheck(root, generated) }),
    lint: {
      command: `eslint --max-warnings 0 --no-warn-ignored --no-error-on-unmatched-pattern ${root}`,
      cache: true,
      dependsOn: generated,
      inputs: ['default', '{workspaceRoot}/eslint.config.js'],
    },
    // Those of the whole product have a name of their own: every change reaches them.
    [root === 'e2e' ? 'e2e' : 'test']: test(root),
  };
}

function generate(root) {
  return {
    command: `node tools/generate.mjs ${root}`,
    cache: true,
    inputs: ['{projectRoot}/prisma/schema.prisma', '{workspaceRoot}/tools/generate.mjs', 'toolchain'],
    outputs: ['{projectRoot}/src/generated/prisma'],
  };
}

/** The specs themselves are never compiled: what e2e needs is what it starts. */
function build(root) {
  if (root === 'e2e') return { executor: 'nx:noop', dependsOn: ['^build'] };
  return {
    command: `swc ${root} -d dist --copy-files --quiet --ignore ${NOT_COMPILED}`,
    cache: true,
    dependsOn: ['generate'],
    inputs: ['production'],
    outputs: ['{workspaceRoot}/dist/{projectRoot}'],
  };
}

function typecheck(root, dependsOn) {
  return {
    command: `node tools/typecheck-project.mjs ${root}`,
    cache: true,
    dependsOn,
    inputs: ['default', '^production', 'harness', '{workspaceRoot}/tools/typecheck-project.mjs'],
  };
}

function web(root) {
  return {
    build: {
      command: 'node tools/build-dashboard.mjs',
      cache: true,
      inputs: ['production', '{workspaceRoot}/docs/openapi.json', '{workspaceRoot}/tools/*dashboard*.mjs'],
      outputs: ['{workspaceRoot}/dist/dashboard', '{projectRoot}/src/api/generated'],
    },
    // The types of the API come with the build.
    typecheck: {
      command: `tsc --noEmit -p ${root}/tsconfig.json`,
      cache: true,
      dependsOn: ['build'],
      inputs: ['default', '^production', '{workspaceRoot}/docs/openapi.json'],
    },
  };
}

function test(root) {
  return {
    command: `${JEST} ${root}/`,
    cache: true,
    // Two runs at once would each start servers of their own.
    parallelism: false,
    // Some specs start programs of the build.
    dependsOn: ['build', '^build'],
    inputs: ['default', '^production', 'harness'],
  };
}
