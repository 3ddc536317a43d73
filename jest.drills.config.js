import { native, run } from './jest.config.js';

/** The drills, and nothing else: `npm run drills`. */
/** @type {import('jest').Config} */
export default {
  ...run,
  ...native,
  testMatch: ['<rootDir>/(apps|libs|tools|lab|e2e)/**/*.drill.spec.ts'],
};
