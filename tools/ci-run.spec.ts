import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { repository } from '@gateway/testing/plain';

const SHARES = 6;
const PASSED = '{"numPassedTests":10,"numFailedTests":0,"numRuntimeErrorTestSuites":0,"numPendingTests":0}';
const FAILED = '{"numPassedTests":1,"numFailedTests":1,"numRuntimeErrorTestSuites":0,"numPendingTests":0}';

/**
 * `.ci/run` and `drills.mjs` run in a scratch repository. Its npm and its Node are stand-ins: they install nothing, and write
 * the summary that Jest would write.
 */
describe('.ci/run', () => {
  let root: string;

  function standIn(path: string, lines: string[]): void {
    writeFileSync(path, ['#!/bin/sh', ...lines].join('\n'));
    chmodSync(path, 0o755);
  }
  const git = (...args: string[]): void => {
    const settings = ['-c', 'user.name=a', '-c', 'user.email=a@example.com', '-c', 'commit.gpgsign=false'];
    const { status, stderr } = spawnSync('git', [...settings, ...args], { cwd: root, encoding: 'utf8' });
    if (status !== 0) throw new Error(stderr);
  };
  const commit = (): void => git('commit', '--quiet', '--allow-empty', '--message', 'one more');
  function run(): { status: number | null; last: string | undefined } {
    const env = { ROOT: root, PATH: [join(root, 'bin'), process.env.PATH].join(delimiter) };
    const { status, stdout } = spawnSync(join(root, '.ci', 'run'), [], { cwd: root, env, encoding: 'utf8' });
    return { status, last: stdout.trim().split('\n').at(-1) };
  }

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'ci-run-'));
    for (const folder of ['apps', 'bin', 'dist', 'e2e', 'lab', 'libs', 'node_modules/.bin', 'tools'])
      mkdirSync(join(root, folder), { recursive: true });
    const files = [
      '.ci/run',
      '.swcrc',
      'drills.mjs',
      'package.json',
      'tools/bootstrap.mjs',
      'tools/drill-share.mjs',
    ];
    for (const file of files) cpSync(join(repository, file), join(root, file));
    writeFileSync(join(root, 'package-lock.json'), '{}');
    for (const name of ['a', 'b', 'c', 'broken', 'd', 'e', 'f', 'g'])
      writeFileSync(join(root, 'e2e', `${name}.drill.spec.ts`), '');
    // Its arguments end in `--outputFile=PATH`, or in `--runTestsByPath` and what drills there are to run.
    standIn(join(root, 'node_modules/.bin/node'), [
      'case "$*" in *jest.drills.config.js*) ;; *) exit 0;; esac',
      'for argument; do case "$argument" in --outputFile=*) summary=${argument#*=};; esac; done',
      `case "$*" in *e2e/broken.drill.spec.ts*) echo '${FAILED}' > "$summary"; exit 1;; esac`,
      `echo '${PASSED}' > "$summary"`,
    ]);
    standIn(join(root, 'bin/npm'), [
      'case "$1 $2 $3" in',
      '  "ci "*) touch node_modules/.package-lock.json;;',
      `  "test "*) echo '${PASSED}' > .cache/jest.json;;`,
      '  "run --silent drills") shift 4; exec node drills.mjs "$@";;',
      `  "run --silent check") echo '{"passed":8,"failed":0}' > .cache/check.json;;`,
      'esac',
    ]);
    git('init', '--quiet');
    commit();
  });
  afterEach(() => rmSync(root, { recursive: true }));

  it('adds up tests, drills, checks and the install', () => {
    expect(run()).toEqual({ status: 0, last: '29 passed, 0 failed' });
  });

  it('is red for a broken drill exactly when its share comes, once in six commits', () => {
    const runs = Array.from({ length: SHARES }, () => {
      const { status, last } = run();
      commit();
      return `${status}: ${last}`;
    });
    expect(runs.filter((line) => line === '1: 20 passed, 1 failed')).toHaveLength(1);
    expect(runs.filter((line) => line === '0: 29 passed, 0 failed')).toHaveLength(SHARES - 1);
  });

  it('is red where the drills leave no summary', () => {
    standIn(join(root, 'node_modules/.bin/node'), ['exit 0']);
    expect(run()).toEqual({ status: 1, last: '19 passed, 1 failed' });
  });
});
