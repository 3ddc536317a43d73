import { execFileSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  rmdirSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '@gateway/testing/plain';
import pg from 'pg';
import { startAllInOne } from './harness/all-in-one.js';
import type { Gateway } from './harness/gateway.js';
import { askOnce } from './harness/requests.js';

const BODY = { model: 'simulator/chat', messages: [{ role: 'user', content: 'Is there room?' }] };
const FAR = { timeoutMs: 100_000, intervalMs: 200 };
/** Suite for root alone, who may mount a file system to fill. */
const describeAsRoot = process.getuid?.() === 0 && process.platform === 'linux' ? describe : describe.skip;

/** Statuses of a few callers, one request after the other each, until told to end. */
function callers(gateway: Gateway): { statuses: number[]; end(): Promise<void> } {
  const statuses: number[] = [];
  let isOver = false;
  const call = async (): Promise<void> => {
    while (!isOver) {
      // 0 = no answer: without a descriptor no connection is accepted.
      const status = await askOnce(gateway, 'POST', '/v1/chat/completions', { body: BODY }).then(
        (answer) => answer.status,
        () => 0,
      );
      statuses.push(status);
      await pause(status === 200 ? 50 : 200);
    }
  };
  const all = [call(), call(), call()];
  return {
    statuses,
    end: async () => {
      isOver = true;
      await Promise.all(all);
    },
  };
}

describeAsRoot('the data folder of the all-in-one on a file system that is full', () => {
  let disk: string;
  let dataDir: string;
  let gateway: Gateway;

  beforeAll(async () => {
    disk = mkdtempSync(join(tmpdir(), 'full-disk-'));
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=224m', 'tmpfs', disk]);
    dataDir = join(disk, 'data');
    gateway = await startAllInOne({ dataDir });
  });

  afterAll(async () => {
    await gateway.stop();
    execFileSync('umount', [disk]);
    rmdirSync(disk);
  });

  const filler = (): string => join(disk, 'filler');

  /** Takes every byte that is left. */
  function fill(): void {
    const file = openSync(filler(), 'a');
    try {
      for (const bytes of [Buffer.alloc(1024 * 1024), Buffer.alloc(4096)])
        try {
          for (;;) writeSync(file, bytes);
        } catch (failure) {
          expect(failure).toMatchObject({ code: 'ENOSPC' });
        }
    } finally {
      closeSync(file);
    }
  }

  const isRunning = (): boolean => existsSync(`/proc/${gateway.edgePid}`);

  async function query<T>(sql: string): Promise<T[]> {
    const postgres = join(dataDir, 'postgres');
    const ports = [...readFileSync(join(postgres, 'postgres.log'), 'utf8').matchAll(/port (\d+)/g)];
    const password = readFileSync(join(postgres, 'password'), 'utf8').trim();
    const client = new pg.Client({
      connectionString: `postgresql://postgres:${password}@127.0.0.1:${ports.at(-1)?.[1]}/postgres`,
    });
    client.on('error', () => undefined);
    await client.connect();
    try {
      return (await client.query(sql)).rows as T[];
    } finally {
      await client.end();
    }
  }

  const served = async (): Promise<number> => {
    const [{ count }] = await query<{ count: string }>('SELECT count(*) FROM usage.usage_event');
    return Number(count);
  };
  const readiness = async (): Promise<unknown> => (await fetch(`${gateway.url}/readyz`)).json();

  it('ends nothing: it refuses with 503, goes on by itself when there is room, and charges every answer', async () => {
    const before = await served();
    const load = callers(gateway);
    await eventually(() => load.statuses.filter((status) => status === 200).length > 20, FAR);
    fill();
    await eventually(() => load.statuses.at(-1) === 503, FAR);
    expect(await readiness()).toEqual({
      status: 'not_ready',
      faults: { journal: 'the journal takes no new unit' },
    });
    // PostgreSQL ends when it can write no log of changes.
    const writeMore = "SELECT pg_logical_emit_message(false, 'drill', repeat('x', 4000000))";
    await eventually(
      () =>
        query(writeMore).then(
          () => false,
          () => true,
        ),
      FAR,
    );
    const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
    expect(metrics).toMatch(/gateway_journal_alarms_total\{kind="write_failed"\} [1-9]/);
    expect(metrics).toContain('gateway_journal_accepting 0');
    expect(isRunning()).toBe(true);
    rmSync(filler());
    await eventually(async () => JSON.stringify(await readiness()) === '{"status":"ready","faults":{}}', FAR);
    await eventually(() => load.statuses.at(-1) === 200, FAR);
    await load.end();
    expect(new Set(load.statuses)).toEqual(new Set([200, 503]));
    const answered = load.statuses.filter((status) => status === 200).length;
    await eventually(
      () =>
        served().then(
          (count) => count >= before + answered,
          () => false,
        ),
      FAR,
    );
    expect(await served()).toBe(before + answered);
  });

  it('ends nothing where no descriptor is free, and charges every answer once some are', async () => {
    const limit = (count: string): unknown =>
      execFileSync('prlimit', ['--pid', String(gateway.edgePid), `--nofile=${count}:`]);
    const before = await served();
    const load = callers(gateway);
    await eventually(() => load.statuses.length > 20, FAR);
    const log = join(dataDir, 'logs', 'gateway.log');
    // Below what is open already: nothing more can be opened or accepted.
    limit('20');
    const strangers = await Promise.allSettled(
      Array.from({ length: 50 }, () =>
        fetch(`${gateway.url}/healthz`, { signal: AbortSignal.timeout(3_000) }),
      ),
    );
    expect(strangers.some(({ status }) => status === 'rejected')).toBe(true);
    expect(isRunning()).toBe(true);
    limit('1024');
    await eventually(async () => (await fetch(`${gateway.url}/healthz`)).status === 200, FAR);
    await eventually(() => load.statuses.at(-1) === 200, FAR);
    await load.end();
    const answered = load.statuses.filter((status) => status === 200).length;
    await eventually(
      () =>
        served().then(
          (count) => count >= before + answered,
          () => false,
        ),
      FAR,
    );
    expect(await served()).toBe(before + answered);
    expect(readFileSync(log, 'utf8')).not.toContain('Unhandled');
  });
});
