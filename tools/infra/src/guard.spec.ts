import {
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually, runStack, startProgram } from '@gateway/testing';
import type { Program } from '@gateway/testing';
import { repositoryRoot } from './repository.js';

const runners: Program[] = [];
const NAMES = ['DATABASE_URL', 'REDIS_URL', 'KAFKA_BROKERS'];

/** A runner with servers of its own: the environment of this test run must not lend it ours. */
async function startRunner(
  temporary: string,
  args: string[],
  env: Record<string, string> = {},
): Promise<Program> {
  const runner = await startProgram({
    command: process.execPath,
    args: ['--no-warnings', '--import', join(repositoryRoot, 'tools/infra/run-ts.mjs'), ...args],
    env: { DATABASE_URL: '', REDIS_URL: '', KAFKA_BROKERS: '', TMPDIR: temporary, ...env },
    readyWhen: /^(\{.*\})\n/m,
    timeoutMs: 120_000,
  });
  runners.push(runner);
  return runner;
}

const cli = join(repositoryRoot, 'tools/infra/src/cli.ts');

function addressesOf(runner: Program): Record<string, string> {
  return JSON.parse(runner.ready[1]) as Record<string, string>;
}

/** The guard and every server that it started: their command line or (Redis rewrites its own) their folder names the run. */
function processesIn(folder: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const traces = [readFileSync(`/proc/${pid}/cmdline`, 'utf8'), readlinkSync(`/proc/${pid}/cwd`)];
        return traces.some((trace) => trace.includes(`${folder}/`));
      } catch {
        return false; // It ended in between.
      }
    })
    .map(Number);
}

function answers(address: string): Promise<boolean> {
  const [host, port] = address.includes('://')
    ? [new URL(address).hostname, new URL(address).port]
    : address.split(':');
  return new Promise((done) => {
    const socket = createConnection({ host, port: Number(port) });
    socket.once('connect', () => done(true)).once('error', () => done(false));
    socket.once('connect', () => socket.destroy());
  });
}

async function expectNothingLeft(temporary: string, addresses: string[]): Promise<void> {
  await eventually(() => readdirSync(temporary).length === 0);
  await eventually(() => processesIn(temporary).length === 0);
  for (const address of addresses) expect(await answers(address)).toBe(false);
}

describe('the guard of a run', () => {
  let temporary: string;
  let sharedMemory: string[];

  beforeEach(() => {
    temporary = mkdtempSync(join(tmpdir(), 'gw-run-'));
    sharedMemory = readFileSync('/proc/sysvipc/shm', 'utf8').split('\n');
  });
  afterEach(async () => {
    for (const runner of runners.splice(0)) await runner.kill();
    await eventually(() => processesIn(temporary).length === 0);
    rmSync(temporary, { recursive: true, force: true });
  });

  it('leaves no process, port, folder or shared memory after kill -9 of the runner', async () => {
    const runner = await startRunner(temporary, [cli, 'up']);
    const addresses = addressesOf(runner);
    expect(Object.keys(addresses)).toEqual(NAMES);
    for (const address of Object.values(addresses)) expect(await answers(address)).toBe(true);
    // The guard, PostgreSQL, Redis and Kafka at least: the search below would see them.
    expect(processesIn(temporary).length).toBeGreaterThanOrEqual(4);
    const postmaster = processesIn(temporary).map(String);

    await runner.kill();
    await expectNothingLeft(temporary, Object.values(addresses));
    const left = readFileSync('/proc/sysvipc/shm', 'utf8').split('\n');
    const ours = left.filter((line) => postmaster.includes(line.trim().split(/\s+/)[4]));
    expect(ours.filter((line) => !sharedMemory.includes(line))).toEqual([]);
  }, 600_000);

  it('ends with exit code 0 and leaves nothing when standard input ends', async () => {
    const runner = await startRunner(temporary, [cli, 'up', 'redis']);
    const addresses = addressesOf(runner);
    expect(Object.keys(addresses)).toEqual(['REDIS_URL']);
    runner.endInput();
    expect(await runner.ended).toBe(0);
    expect(readdirSync(temporary)).toEqual([]);
    await expectNothingLeft(temporary, Object.values(addresses));
  });

  it('leaves nothing after kill -9 of a runner whose servers were still starting', async () => {
    const script = join(temporary, 'runner.mjs');
    const spawnGuard = join(repositoryRoot, 'tools/infra/spawn-guard.mjs');
    writeFileSync(
      script,
      `import { spawnGuard } from ${JSON.stringify(spawnGuard)};
       const { folder, guard } = spawnGuard(['postgres', 'redis', 'kafka']);
       guard.ref();
       console.log(JSON.stringify({ folder }));`,
    );
    const runner = await startRunner(temporary, [script]);
    const { folder } = addressesOf(runner);
    await eventually(() => existsSync(folder));
    await runner.kill();
    await eventually(() => !existsSync(folder));
    await eventually(() => processesIn(folder).length === 0);
  });

  it('runs twice at the same time without a collision', async () => {
    const both = await Promise.all(
      [1, 2].map(() => startRunner(temporary, [cli, 'up', 'redis', 'postgres'])),
    );
    const addresses = both.flatMap((runner) => Object.values(addressesOf(runner)));
    expect(new Set(addresses).size).toBe(4);
    for (const address of addresses) expect(await answers(address)).toBe(true);
    await both[0].kill();
    // The other run is not touched by the end of the first.
    expect(await answers(addressesOf(both[1])['DATABASE_URL'])).toBe(true);
    await both[1].kill();
    await expectNothingLeft(temporary, addresses);
  });

  it('starts one gateway for all that ask, and leaves nothing of it after kill -9 of the runner', async () => {
    const runner = await startRunner(temporary, [cli, 'up', 'redis']);
    const [folder] = readdirSync(temporary);
    const ofThisRun = process.env.GATEWAY_INFRA_SOCKET;
    process.env.GATEWAY_INFRA_SOCKET = join(temporary, folder, 'guard.sock');
    const both = await Promise.all([runStack('all-in-one'), runStack('all-in-one')]).finally(() => {
      process.env.GATEWAY_INFRA_SOCKET = ofThisRun;
    });
    expect(both[0].admin.password).not.toBe('');
    expect(both[1]).toEqual(both[0]);
    const address = both[0].url.replace('http://', '');
    expect(await answers(address)).toBe(true);
    await runner.kill();
    await eventually(async () => !(await answers(address)));
    await expectNothingLeft(temporary, [address]);
  }, 600_000);

  it('prefers an address of the environment and never stops that server', async () => {
    const given = await startRunner(temporary, [cli, 'up', 'redis']);
    const address = addressesOf(given)['REDIS_URL'];
    const runner = await startRunner(temporary, [cli, 'up', 'redis'], { REDIS_URL: address });
    expect(addressesOf(runner)).toEqual({ REDIS_URL: address });
    runner.endInput();
    await runner.ended;
    expect(await answers(address)).toBe(true);
    await given.kill();
    await expectNothingLeft(temporary, [address]);
  });
});
