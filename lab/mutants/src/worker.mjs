// A warm Jest: runs the specs that a mutant's file is part of, one mutant after the other, until it is ended.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCLI } from 'jest';
// A mutant has to be evaluated anew each time: the specs run in Jest's sandbox.
import { isolated as config } from '../../../jest.config.js';

const here = dirname(fileURLToPath(import.meta.url));
const rootDir = join(here, '../../..');
const [, swc] = config.transform['^.+\\.ts$'];
const specs = JSON.parse(process.env.MUTANT_SPECS);

process.on('message', async ({ id, mutant, testTimeout }) => {
  process.env.MUTANT = mutant === null ? '' : JSON.stringify(mutant);
  const settings = {
    ...config,
    rootDir,
    testMatch: [...specs.map((spec) => `<rootDir>/${spec}`), '!**/*.drill.spec.ts'],
    transform: { '^.+\\.ts$': [join(here, 'mutating-transform.mjs'), swc] },
    globalSetup: undefined,
    globalTeardown: undefined,
    // Another one for each run, else Jest takes what it has transformed before.
    globals: { mutant: id },
    testTimeout,
    runner: join(here, 'first-failure.mjs'),
    roots: ['<rootDir>/libs', '<rootDir>/tools'],
  };
  const { results } = await runCLI(
    {
      config: JSON.stringify(settings),
      ...{ runInBand: true, watchman: false, passWithNoTests: true, silent: true, reporters: [] },
      ...(mutant === null ? { _: [] } : { findRelatedTests: true, _: [join(rootDir, mutant.file)] }),
      $0: '',
    },
    [rootDir],
  );
  const failure = results.testResults.flatMap(({ testResults, failureMessage }) =>
    failureMessage ? [testResults.find(({ status }) => status === 'failed')?.fullName ?? failureMessage] : [],
  );
  process.send({
    id,
    tests: results.numTotalTests,
    failed: results.success ? null : (failure[0] ?? 'a spec'),
  });
});
process.send({ isReady: true });
