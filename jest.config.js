import { readFileSync } from 'node:fs';

const swcrc = JSON.parse(readFileSync(new URL('.swcrc', import.meta.url), 'utf8'));

/** Spec files that this machine cannot run: test.mjs. */
const leftOut = JSON.parse(process.env.GATEWAY_LEFT_OUT ?? '{"specs":[]}').specs;

const tsx = {
  swcrc: false,
  sourceMaps: true,
  module: swcrc.module,
  jsc: {
    target: swcrc.jsc.target,
    parser: { syntax: 'typescript', tsx: true },
    transform: { react: { runtime: 'automatic' } },
  },
};

const notSpecs = [
  // `npm run drills` runs them: jest.drills.config.js.
  '!**/*.drill.spec.{ts,tsx}',
  // The spec of a group imports its parts.
  '!**/*.part.spec.ts',
  ...leftOut.map((path) => `!**/${path}`),
];

/** Settings of every project. */
const every = {
  testEnvironment: 'node',
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/.data/', '<rootDir>/.cache/', '<rootDir>/.nx/'],
  extensionsToTreatAsEsm: ['.ts', '.tsx'],
  // The guard owns the servers of this run; none starts before a test asks for it.
  globalSetup: '<rootDir>/tools/infra/jest-setup.mjs',
  globalTeardown: '<rootDir>/tools/infra/jest-teardown.mjs',
  // Of a run that keeps what specs leave: lab/leftovers.
  setupFiles: process.env.GATEWAY_LEFTOVERS ? ['<rootDir>/lab/leftovers/error-bodies.mjs'] : [],
};

/** Specs whose modules Jest evaluates anew for each file: the dashboard replaces modules, and mutants change them. */
export const isolated = {
  ...every,
  displayName: 'isolated',
  testMatch: ['<rootDir>/apps/dashboard/**/*.spec.{ts,tsx}', ...notSpecs],
  moduleNameMapper: {
    '^(\\.{1,2}/.*)\\.js$': '$1',
    '\\.module\\.css$': '<rootDir>/apps/dashboard/css-names.mjs',
  },
  setupFiles: ['reflect-metadata', ...every.setupFiles],
  transform: {
    '^.+\\.ts$': ['@swc/jest', { ...swcrc, swcrc: false }],
    // The dashboard's components. Their specs name jsdom in their first line.
    '^.+\\.tsx$': ['@swc/jest', tsx],
  },
};

/** Specs whose modules Node evaluates once for each worker: evaluating them for each file was half of the suite's time. */
export const native = {
  ...every,
  displayName: 'native',
  testMatch: ['<rootDir>/(apps|libs|tools|lab|e2e)/**/*.spec.ts', '!**/apps/dashboard/**', ...notSpecs],
  testEnvironment: '<rootDir>/tools/jest/native-environment.mjs',
  runtime: '<rootDir>/tools/jest/native-runtime.mjs',
  transform: {},
};

/** Settings of a run of projects. */
export const run = {
  reporters: ['default', '<rootDir>/tools/run-summary.mjs'],
  // Above what `eventually` waits, several times over: only what hangs ends here.
  testTimeout: 600_000,
  // Two cores are what the smallest machine has; more workers only make real services slower beside them.
  maxWorkers: 2,
  workerIdleMemoryLimit: '1GB',
};

/** @type {import('jest').Config} */
export default { ...run, projects: [native, isolated] };
