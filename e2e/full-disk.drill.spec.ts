import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '@gateway/testing/plain';
import pg from 'pg';
import { startAllInOne } from './harness/all-in-one.js';
import { callers, limitOpenFiles, SmallDisk } from './harness/full-disk.js';
import type { Gateway } from './harness/gateway.js';
import { logIn } from './harness/session.js';

const FAR = { timeoutMs: 100_000, intervalMs: 200 };
/** Suite for root alone, who may mount a file system to fill. */
const describeAsRoot = process.getuid?.() === 0 && process.platform === 'linux' ? describe : describe.skip;

describeAsRoot('the data folder of the all-in-one on a file system that is full', () => {
  let disk: SmallDisk;
  let dataDir: string;
  let gateway: Gateway;

  beforeAll(async () => {
    disk = new SmallDisk('224m');
    dataDir = join(disk.path, 'data');
    const started = await startAllInOne({ dataDir });
    gateway = started;
    // As many requests a minute as the callers send.
    const { key } = await (await logIn(started)).createKey('full disk', { rpm: 1_000 });
    gateway = { ...started, key };
  });

  afterAll(async () => {
    await gateway.stop();
    disk.remove();
  });

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
    disk.fill();
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
    disk.free();
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
    const before = await served();
    const load = callers(gateway);
    await eventually(() => load.statuses.length > 20, FAR);
    const log = join(dataDir, 'logs', 'gateway.log');
    // Below what is open already: nothing more can be opened or accepted.
    limitOpenFiles(gateway.edgePid, 20);
    const strangers = await Promise.allSettled(
      Array.from({ length: 50 }, () =>
        fetch(`${gateway.url}/healthz`, { signal: AbortSignal.timeout(3_000) }),
      ),
    );
    expect(strangers.some(({ status }) => status === 'rejected')).toBe(true);
    expect(isRunning()).toBe(true);
    limitOpenFiles(gateway.edgePid, 1_024);
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
