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

/** @type {import('jest').Config} */
export default {
  testEnvironment: 'node',
  testMatch: [
    '<rootDir>/(apps|libs|tools|lab|e2e)/**/*.spec.{ts,tsx}',
    // `npm run drills` runs them: jest.drills.config.js.
    '!**/*.drill.spec.{ts,tsx}',
    // The spec of a group imports its parts.
    '!**/*.part.spec.ts',
    ...leftOut.map((path) => `!**/${path}`),
  ],
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/.data/', '<rootDir>/.cache/', '<rootDir>/.nx/'],
  extensionsToTreatAsEsm: ['.ts', '.tsx'],
  moduleNameMapper: {
    '^(\\.{1,2}/.*)\\.js$': '$1',
    '\\.module\\.css$': '<rootDir>/apps/dashboard/css-names.mjs',
  },
  // The second in a run that keeps what specs leave (lab/leftovers).
  setupFiles: ['reflect-metadata', '<rootDir>/lab/leftovers/error-bodies.mjs'].slice(
    0,
    process.env.GATEWAY_LEFTOVERS ? 2 : 1,
  ),
  transform: {
    '^.+\\.ts$': ['@swc/jest', { ...swcrc, swcrc: false }],
    // The dashboard's components. Their specs name jsdom in their first line.
    '^.+\\.tsx$': ['@swc/jest', tsx],
  },
  reporters: ['default', '<rootDir>/tools/run-summary.mjs'],
  // The guard owns the servers of this run; none starts before a test asks for it.
  globalSetup: '<rootDir>/tools/infra/jest-setup.mjs',
  globalTeardown: '<rootDir>/tools/infra/jest-teardown.mjs',
  // Above what `eventually` waits, several times over: only what hangs ends here.
  testTimeout: 600_000,
  // Two cores are what the smallest machine has; more workers only make real services slower beside them.
  maxWorkers: 2,
  workerIdleMemoryLimit: '1GB',
};
