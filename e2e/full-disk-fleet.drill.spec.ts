import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '@gateway/testing';
import pg from 'pg';
import { startFleet, type Fleet } from './harness/fleet.js';
import type { Gateway } from './harness/gateway.js';
import { callers, limitOpenFiles, SmallDisk } from './harness/full-disk.js';
import { START_MS } from './harness/modes.js';
import { askOnce } from './harness/requests.js';
import { logIn } from './harness/session.js';

const FAR = { timeoutMs: 100_000, intervalMs: 200 };
const OPEN_FILES = 1_024;
/** A call with a foreign token to each service that has internal calls: its log names it. */
const SAID = [
  ['edge', 'POST', '/internal/infer'],
  ['catalogue', 'GET', '/internal/catalogue/snapshot'],
  ['keys', 'GET', '/internal/orgs/org_1/owners'],
  ['usage', 'GET', '/internal/erasures'],
  ['workers', 'POST', '/internal/responses'],
] as const;
/** Suite for root alone, who may mount a file system to fill. */
const describeAsRoot = process.getuid?.() === 0 && process.platform === 'linux' ? describe : describe.skip;

describeAsRoot('each service of a fleet whose folders are on a file system that is full', () => {
  let disk: SmallDisk;
  let fleet: Fleet;
  /** The fleet with a key that takes as many requests a minute as the callers send. */
  let gateway: Gateway;
  let database: pg.Client;
  let running: ReturnType<typeof callers> | null = null;

  beforeAll(async () => {
    disk = new SmallDisk('96m');
    const at = (name: string): string => join(disk.path, name);
    const all = { JOURNAL_DIR: at('journal'), OBJECT_STORE_DIR: at('objects'), MAIL_DIR: at('mail') };
    fleet = await startFleet({ env: { all } });
    const { key } = await (await logIn(fleet)).createKey('full disk', { rpm: 1_000 });
    gateway = { ...fleet, key };
    database = new pg.Client({ connectionString: fleet.databaseUrl });
    // The last test ends the fleet, and its database with it.
    database.on('error', () => undefined);
    await database.connect();
  }, START_MS);

  afterAll(async () => {
    await database?.end();
    await fleet?.stop();
    disk.remove();
  }, START_MS);

  // A test that fails leaves neither a full disk nor callers to the next one.
  afterEach(async () => {
    disk.free();
    for (const { pid } of fleet.processes.values()) if (pid !== null) limitOpenFiles(pid, OPEN_FILES);
    await running?.end();
  });

  const served = async (): Promise<number> => {
    const { rows } = await database.query<{ count: string }>('SELECT count(*) FROM usage.usage_event');
    return Number(rows[0].count);
  };
  const isCharged = (count: number): Promise<boolean> =>
    eventually(async () => (await served()) >= count, FAR).then(async () => (await served()) === count);
  const readiness = (url: string): Promise<number> =>
    fetch(`${url}/readyz`).then(
      ({ status }) => status,
      () => 0,
    );
  const upload = async (): Promise<number> => {
    const body = new FormData();
    body.set('purpose', 'user_data');
    body.set('file', new Blob(['a line\n'.repeat(50_000)]), 'lines.txt');
    const headers = { authorization: `Bearer ${fleet.key}` };
    return (await fetch(`${fleet.url}/v1/files`, { method: 'POST', headers, body })).status;
  };
  /** Processes that ended: none may. */
  const ended = (): string[] =>
    [...fleet.processes]
      .filter(([, { pid }]) => pid === null || !existsSync(`/proc/${pid}`))
      .map(([name]) => name);

  it('ends none: 503 where room is needed, all else goes on, and each answer is charged once there is room', async () => {
    expect(await upload()).toBe(200);
    const before = await served();
    const load = (running = callers(gateway));
    await eventually(() => served200(load) > 20, FAR);
    disk.fill();
    await eventually(() => load.statuses.at(-1) === 503, FAR);
    await eventually(async () => (await readiness(fleet.urls.edge)) === 503, FAR);
    expect(await upload()).toBe(503);
    expect((await askOnce(fleet, 'GET', '/v1/balance', { key: fleet.key })).status).toBe(200);
    for (const app of ['catalogue', 'keys', 'usage', 'notifications', 'workers'] as const)
      expect([app, await readiness(fleet.urls[app])]).toEqual([app, 200]);
    const metrics = await (await fetch(`${fleet.url}/metrics`)).text();
    expect(metrics).toMatch(/gateway_journal_alarms_total\{kind="write_failed"\} [1-9]/);
    expect(ended()).toEqual([]);
    disk.free();
    await eventually(async () => (await readiness(fleet.urls.edge)) === 200, FAR);
    await eventually(() => load.statuses.at(-1) === 200, FAR);
    await load.end();
    expect(new Set(load.statuses)).toEqual(new Set([200, 503]));
    const answered = served200(load);
    expect(await isCharged(before + answered)).toBe(true);
    expect(await upload()).toBe(200);
  });

  it.each(['keys', 'catalogue', 'usage', 'notifications', 'workers', 'edge'] as const)(
    'ends nothing where no descriptor of %s is free, and goes on once some are',
    async (app) => {
      const before = await served();
      const load = (running = callers(gateway));
      await eventually(() => load.statuses.length > 5, FAR);
      const { pid } = fleet.process(app);
      // Below what is open already: nothing more can be opened or accepted.
      limitOpenFiles(Number(pid), 20);
      const strangers = await Promise.allSettled(
        Array.from({ length: 50 }, () =>
          fetch(`${fleet.urls[app]}/healthz`, { signal: AbortSignal.timeout(3_000) }),
        ),
      );
      expect(strangers.some(({ status }) => status === 'rejected')).toBe(true);
      limitOpenFiles(Number(pid), OPEN_FILES);
      await eventually(async () => (await readiness(fleet.urls[app])) === 200, FAR);
      const seen = load.statuses.length;
      await eventually(() => load.statuses.slice(seen).includes(200), FAR);
      await load.end();
      expect(ended()).toEqual([]);
      expect(fleet.process(app).pid).toBe(pid);
      expect(load.statuses.filter((status) => ![0, 200, 503].includes(status))).toEqual([]);
      const answered = served200(load);
      expect(await isCharged(before + answered)).toBe(true);
    },
  );

  it('goes on where nobody reads the log of any service, counts its lines, and each ends in order', async () => {
    const before = await served();
    for (const process of fleet.processes.values()) process.closeOutput();
    const headers = { 'x-fleet-token': 'of another fleet' };
    for (const [app, method, path] of SAID) {
      expect((await fetch(`${fleet.urls[app]}${path}`, { method, headers })).status).toBe(404);
      await eventually(async () => {
        const metrics = await (await fetch(`${fleet.urls[app]}/metrics`)).text();
        return /^gateway_log_lines_dropped_total [1-9]/m.test(metrics);
      }, FAR);
    }
    const load = (running = callers(gateway));
    await eventually(() => served200(load) > 20, FAR);
    await load.end();
    expect(new Set(load.statuses)).toEqual(new Set([200]));
    expect(await isCharged(before + load.statuses.length)).toBe(true);
    expect(ended()).toEqual([]);
    expect(new Set(Object.values(await fleet.stop()))).toEqual(new Set([0]));
  });
});

function served200({ statuses }: ReturnType<typeof callers>): number {
  return statuses.filter((status) => status === 200).length;
}
