// Jest's runner, with the file's own spec first, ended after the first file that fails. Jest's own `bail` would end the process.
import TestRunner from 'jest-runner';

export default class FirstFailure extends TestRunner {
  async runTests(tests, watcher, options) {
    let isFailed = false;
    const off = [
      this.on('test-file-success', ([, result]) => (isFailed ||= result.numFailingTests > 0)),
      this.on('test-file-failure', () => (isFailed = true)),
    ];
    for (const test of ownFirst(tests)) {
      await super.runTests([test], watcher, options);
      if (isFailed) break;
    }
    for (const end of off) end();
  }
}

function ownFirst(tests) {
  const own = process.env.MUTANT ? JSON.parse(process.env.MUTANT).file.replace(/\.ts$/, '') : '';
  const isOwn = ({ path }) => Number(own !== '' && path.includes(`/${own}.`));
  return tests.toSorted((a, b) => isOwn(b) - isOwn(a));
}
