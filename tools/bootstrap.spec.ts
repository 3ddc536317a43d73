import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { eventually } from '@gateway/testing/plain';

/**
 * The two scripts run in a scratch repository, where nothing is installed. Its `npm` and `node` are stand-ins that write
 * down what they are asked for.
 */
describe('start.mjs and test.mjs', () => {
  let root: string;
  const calls = () =>
    existsSync(join(root, 'calls')) ? readFileSync(join(root, 'calls'), 'utf8').trim().split('\n') : [];

  function standIn(path: string, lines: string[]): void {
    writeFileSync(path, ['#!/bin/sh', ...lines].join('\n'));
    chmodSync(path, 0o755);
  }

  function run(script: string, ...args: string[]) {
    rmSync(join(root, 'calls'), { force: true });
    return spawnSync(process.execPath, [script, ...args], {
      cwd: root,
      env: environment(),
      encoding: 'utf8',
    });
  }

  const environment = () => ({ ROOT: root, PATH: [join(root, 'bin'), process.env.PATH].join(delimiter) });

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'bootstrap-'));
    for (const file of ['start.mjs', 'test.mjs', 'tools/bootstrap.mjs', '.swcrc', 'package.json']) {
      cpSync(join(process.cwd(), file), join(root, file));
    }
    for (const folder of ['bin', 'apps']) mkdirSync(join(root, folder));
    writeFileSync(join(root, 'package-lock.json'), '{}');
    writeFileSync(join(root, 'apps', 'main.ts'), '');
    standIn(join(root, 'package-node'), [
      'echo "node $*" >> "$ROOT/calls"',
      'case "$*" in *main.js*) echo "PORT ${PORT:-unset}" >> "$ROOT/calls";; *exit-7*) exit 7;; esac',
    ]);
    standIn(join(root, 'bin', 'npm'), [
      'echo "npm $*" >> "$ROOT/calls"',
      'mkdir -p "$ROOT/node_modules/.bin"',
      'cp "$ROOT/package-node" "$ROOT/node_modules/.bin/node"',
    ]);
  });
  afterEach(() => rmSync(root, { recursive: true }));

  it('installs, generates, compiles and hands over on a fresh clone', () => {
    expect(run('start.mjs', '--json').status).toBe(0);
    expect(calls()).toEqual([
      expect.stringMatching(/^npm ping /),
      expect.stringMatching(/^npm ci --no-audit --no-fund --loglevel=error --fetch-timeout=60000 /),
      'node tools/generate.mjs',
      'npm run --silent compile',
      'node tools/build-dashboard.mjs',
      'node --enable-source-maps dist/apps/all-in-one/src/main.js --json',
      'PORT unset',
    ]);
  });

  it('only hands over when nothing has changed', () => {
    run('start.mjs');
    run('start.mjs');
    expect(calls()).toEqual(['node --enable-source-maps dist/apps/all-in-one/src/main.js', 'PORT unset']);
  });

  it.each(['--port=8123', '--port 8123'])('%s sets the port of the app', (flags) => {
    run('start.mjs', ...flags.split(' '));
    expect(calls().slice(-2)).toEqual([
      'node --enable-source-maps dist/apps/all-in-one/src/main.js',
      'PORT 8123',
    ]);
  });

  it('--help says what there is, and installs nothing', () => {
    const { stdout, status } = run('start.mjs', '--help');
    expect(status).toBe(0);
    expect(stdout).toContain('--port N');
    expect(calls()).toEqual([]);
  });

  it.each(['--jsom', 'json', '--port'])('refuses %s with what there is, and installs nothing', (flag) => {
    const { stderr, status } = run('start.mjs', flag);
    expect(status).toBe(2);
    expect(stderr).toContain(flag);
    expect(stderr).toContain('--port N');
    expect(calls()).toEqual([]);
  });

  it('compiles again when a source has changed, and does not install', () => {
    run('start.mjs');
    writeFileSync(join(root, 'apps', 'main.ts'), 'export {};');
    run('start.mjs');
    expect(calls().slice(0, 2)).toEqual(['node tools/generate.mjs', 'npm run --silent compile']);
  });

  it('installs again when the lockfile has changed', () => {
    run('start.mjs');
    writeFileSync(join(root, 'package-lock.json'), '{"lockfileVersion":3}');
    run('start.mjs');
    expect(calls()[1]).toMatch(/^npm ci /);
  });

  it('writes progress to standard error only, because --json owns standard output', () => {
    const { stdout, stderr } = run('start.mjs', '--json');
    expect(stdout).toBe('');
    expect(stderr).toContain('Installing');
  });

  it('stops with the exit code of a failed install, and installs again the next time', () => {
    const npm = readFileSync(join(root, 'bin', 'npm'), 'utf8');
    standIn(join(root, 'bin', 'npm'), ['exit 5']);
    const { status, stderr } = run('start.mjs');
    expect(status).toBe(5);
    expect(stderr).toContain('Is the network there');
    writeFileSync(join(root, 'bin', 'npm'), npm);
    expect(run('start.mjs').status).toBe(0);
    expect(calls()[1]).toContain('npm ci');
  });

  it.each(['start.mjs', 'test.mjs'])('%s ends with one sentence on a Node below 20', (script) => {
    const old = 'process, "versions", { value: { ...process.versions, node: "18.20.8" } }';
    const { status, stderr } = spawnSync(
      process.execPath,
      ['--import', `data:text/javascript,Object.defineProperty(${old})`, script],
      { cwd: root, env: environment(), encoding: 'utf8' },
    );
    expect([status, stderr]).toEqual([1, 'Model Gateway needs Node 20 or later; this is Node 18.20.8.\n']);
    expect(calls()).toEqual([]);
  });

  /** An npm whose look at the registry fails as npm says it, and that would never end to install. */
  function npmWithoutNetwork(ping: string[]): void {
    standIn(join(root, 'bin', 'npm'), [
      'echo "npm $*" >> "$ROOT/calls"',
      `case "$*" in ping*) ${ping.join('; ')};; esac`,
      'mkdir -p "$ROOT/node_modules/.bin"',
      'cp "$ROOT/package-node" "$ROOT/node_modules/.bin/node"',
    ]);
  }

  it.each(['EAI_AGAIN', 'ENOTFOUND', 'ECONNREFUSED', 'ERR_SOCKET_TIMEOUT'])(
    'C5 says that there is no network before it installs, where a look at the registry ends with %s',
    (code) => {
      npmWithoutNetwork([`echo "npm error code ${code}" >&2`, 'exit 1']);
      const { status, stderr } = run('start.mjs');
      expect(status).toBe(1);
      expect(stderr).toContain(`The package registry does not answer (${code}).`);
      expect(stderr).toContain('Is the network there');
      expect(calls()).toEqual([
        expect.stringMatching(/^npm ping .*--fetch-retries=0 --fetch-timeout=10000$/),
      ]);
    },
  );

  it.each(['E404', 'E503', 'ENOTCACHED'])(
    'C5 installs where a look at the registry is answered %s',
    (code) => {
      npmWithoutNetwork([`echo "npm error code ${code}" >&2`, 'exit 1']);
      expect(run('start.mjs').status).toBe(0);
      expect(calls()[1]).toMatch(/^npm ci /);
    },
  );

  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    'C6 ends the install, and what it has started, before it ends by %s itself',
    async (signal) => {
      standIn(join(root, 'bin', 'npm'), [
        'case "$*" in ci*) ;; *) exit 0;; esac',
        // A script of a package, which npm would leave behind, and an npm that does not hurry.
        'sleep 300 & echo $! > "$ROOT/of-package"',
        'trap "echo ended >> $ROOT/ended; exit 1" TERM INT HUP',
        'echo $$ > "$ROOT/pid"; wait',
      ]);
      const script = spawn(process.execPath, ['start.mjs'], { cwd: root, env: environment() });
      await eventually(() => existsSync(join(root, 'pid')) || null);
      script.kill(signal);
      await new Promise((resolve) => script.once('exit', resolve));
      expect(readFileSync(join(root, 'ended'), 'utf8')).toBe('ended\n');
      await eventually(() => !isRunning('of-package') || null);
      expect(existsSync(join(root, 'node_modules'))).toBe(false);
    },
  );

  const pidIn = (file: string) => Number(readFileSync(join(root, file), 'utf8'));
  function isRunning(file: string): boolean {
    try {
      process.kill(pidIn(file), 0);
      return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pidIn(file)}/stat`, 'utf8'));
    } catch {
      return false;
    }
  }

  it('ends what takes too long with a sentence, and with what to do', () => {
    // exec: a sleep of its own would outlive the shell, and hold this pipe for its minute.
    const script = `import { run } from './tools/bootstrap.mjs';
      run('/bin/sh', ['-c', 'exec sleep 60'], { minutesMax: 0.002, advice: 'Is the network there?' });`;
    const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      cwd: root,
      encoding: 'utf8',
    });
    expect(status).toBe(1);
    expect(stderr).toMatch(/ failed \(took over 0\.002 minutes\)\.\nIs the network there\?\n$/);
  });

  it('gives arguments to Jest and returns its exit code', () => {
    expect(run('test.mjs', 'libs/money', '--exit-7').status).toBe(7);
    expect(calls().at(-1)).toContain('node_modules/jest/bin/jest.js libs/money --exit-7');
  });

  it.each(['SIGTERM', 'SIGHUP'] as const)(
    'passes %s on to the app and returns its exit code',
    async (signal) => {
      standIn(join(root, 'package-node'), [
        'case "$*" in *main.js*) ;; *) exit 0;; esac',
        'trap "exit 3" TERM HUP',
        'echo ready',
        'while :; do sleep 0.05; done',
      ]);
      const script = spawn(process.execPath, ['start.mjs'], { cwd: root, env: environment() });
      script.stdout.once('data', () => script.kill(signal));
      const code = await new Promise((resolve) => script.once('exit', resolve));
      expect(code).toBe(3);
    },
  );

  it('stops the app once, and in order, when the npm above it is gone', async () => {
    standIn(join(root, 'package-node'), [
      'case "$*" in *main.js*) ;; *) exit 0;; esac',
      'trap \'echo TERM >> "$ROOT/signals"\' TERM',
      'echo ready',
      // Longer than two looks at the parent, and only counted from the first signal on.
      'while [ ! -s "$ROOT/signals" ]; do sleep 0.05; done',
      'for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 0.1; done',
      'touch "$ROOT/ended"',
    ]);
    const npm = spawn('/bin/sh', ['-c', `"${process.execPath}" start.mjs & wait`], {
      cwd: root,
      env: { ...environment(), npm_lifecycle_event: 'start' },
    });
    npm.stdout.once('data', () => npm.kill('SIGKILL'));
    await eventually(() => existsSync(join(root, 'ended')) || null);
    expect(readFileSync(join(root, 'signals'), 'utf8')).toBe('TERM\n');
  });
});
