import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { eventually, type OwnServer } from '@gateway/testing';
import { Client } from 'pg';
import { startFleet, type Fleet } from './harness/fleet.js';
import { START_MS } from './harness/modes.js';
import { findingsOf } from './harness/reconcile.js';
import { askOnce } from './harness/requests.js';
import { logIn, type PersonSession } from './harness/session.js';

const chat = { model: 'simulator/chat', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 16 };
const TEST_MS = 900_000;
const SOON = { timeoutMs: 120_000, intervalMs: 500 };
/** Time after which PostgreSQL hands a part of its log to the archive, whether it is full or not. */
const ARCHIVE_SECONDS = 2;
/** Keys that are made before the base backup, before the last switch of the log that is waited for, and after it. */
const [IN_BACKUP, IN_ARCHIVE, AFTER] = [2, 8, 8];
/** The order of docs/operations/backup.md. */
const STOPPED = ['workers', 'usage', 'notifications', 'keys', 'catalogue'] as const;

describe('a fleet that loses PostgreSQL and Kafka together', () => {
  let fleet: Fleet;
  let person: PersonSession;
  let postgres: OwnServer;
  let dataFolder: string;
  let archive: string;
  let backup: string;

  beforeAll(async () => {
    fleet = await startFleet({ hasOwnServers: true });
    postgres = fleet.own.get('postgres')!;
    person = await logIn(fleet);
    dataFolder = await inDatabase(async (client) => {
      const { rows } = await client.query<{ data_directory: string }>('SHOW data_directory');
      return rows[0].data_directory;
    });
    archive = `${dataFolder}-archive`;
    backup = `${dataFolder}-backup`;
    ofServer(() => mkdirSync(archive), archive);
    await inDatabase(async (client) => {
      await client.query(`ALTER SYSTEM SET archive_mode = on`);
      await client.query(
        `ALTER SYSTEM SET archive_command = 'cp %p ${archive}/.new && mv ${archive}/.new ${archive}/%f'`,
      );
      await client.query(`ALTER SYSTEM SET archive_timeout = ${ARCHIVE_SECONDS}`);
    });
    await postgres.restart();
  }, START_MS);
  afterAll(async () => {
    await fleet?.stop();
    for (const folder of [archive, backup]) rmSync(folder, { recursive: true, force: true });
  }, START_MS);

  /** Runs something on the fleet's database, as soon as it takes connections. */
  async function inDatabase<T>(run: (client: Client) => Promise<T>): Promise<T> {
    const connect = async (): Promise<Client> => {
      const client = new Client({ connectionString: fleet.databaseUrl });
      client.on('error', () => undefined);
      await client.connect();
      return client;
    };
    const client = await eventually(() => connect().catch(() => null), SOON);
    try {
      return await run(client);
    } finally {
      await client.end();
    }
  }

  /** Makes a file that belongs to the account of the server. */
  function ofServer(make: () => void, path: string): void {
    make();
    const { uid, gid } = statSync(dataFolder);
    chownSync(path, uid, gid);
  }

  /** A base backup while the server runs, as pg_basebackup makes it. */
  async function takeBackup(): Promise<void> {
    await inDatabase(async (client) => {
      await client.query(`SELECT pg_backup_start('drill', true)`);
      execFileSync('cp', ['-a', dataFolder, backup]);
      const { rows } = await client.query<{ labelfile: string }>('SELECT labelfile FROM pg_backup_stop()');
      ofServer(
        () => writeFileSync(join(backup, 'backup_label'), rows[0].labelfile),
        join(backup, 'backup_label'),
      );
    });
    for (const name of readdirSync(join(backup, 'pg_wal')))
      if (/^[0-9A-F]{24}/.test(name)) rmSync(join(backup, 'pg_wal', name));
    rmSync(join(backup, 'postmaster.pid'), { force: true });
  }

  /** Resolves when everything that is committed now is in the archive. */
  async function archived(): Promise<void> {
    await inDatabase(async (client) => {
      const { rows } = await client.query<{ name: string }>(
        'SELECT pg_walfile_name(pg_switch_wal()) AS name',
      );
      await eventually(() => readdirSync(archive).includes(rows[0].name), SOON);
    });
  }

  async function restorePostgres(): Promise<void> {
    execFileSync('cp', ['-a', backup, dataFolder]);
    ofServer(
      () => writeFileSync(join(dataFolder, 'recovery.signal'), ''),
      join(dataFolder, 'recovery.signal'),
    );
    const setting = `restore_command = 'cp ${archive}/%f %p'\n`;
    appendFileSync(join(dataFolder, 'postgresql.auto.conf'), setting);
    await postgres.restart();
    await eventually(
      () =>
        inDatabase(async (client) => {
          const { rows } = await client.query<{ busy: boolean }>('SELECT pg_is_in_recovery() AS busy');
          return !rows[0].busy;
        }),
      SOON,
    );
  }

  /** Takes the disks of both servers away. */
  function loseBoth(): void {
    const { server } = fleet.kafka;
    const [config] = readFileSync(`/proc/${server.pid}/cmdline`, 'utf8')
      .split('\0')
      .filter(Boolean)
      .slice(-1);
    const logFolder = /^log\.dirs=(.+)$/m.exec(readFileSync(config, 'utf8'))![1];
    postgres.kill();
    server.kill();
    rmSync(dataFolder, { recursive: true });
    rmSync(logFolder, { recursive: true });
  }

  const eventIds = (): Promise<Set<string>> =>
    inDatabase(async (client) => {
      const { rows } = await client.query<{ request_id: string }>('SELECT request_id FROM usage.usage_event');
      return new Set(rows.map(({ request_id }) => request_id));
    });

  it(
    'operations 11: has each answer in the ledger again, keys and settings up to the last of its log, and no difference',
    async () => {
      const { key } = await person.createKey('caller', { rpm: 1_000 });
      const answered: string[] = [];
      const send = async (): Promise<void> => {
        const answer = await askOnce(fleet, 'POST', '/v1/chat/completions', { body: chat, key }).catch(
          () => null,
        );
        if (answer?.status === 200) answered.push(answer.requestId);
      };
      const made: { id: string; atMs: number }[] = [];
      const work = async (count: number): Promise<void> => {
        for (let n = 0; n < count; n += 1) {
          const { id } = await person.createKey(`k${made.length}`);
          made.push({ id, atMs: performance.now() });
          await send();
        }
      };
      const hasAll = async (): Promise<boolean> => {
        const known = await eventIds();
        return answered.every((id) => known.has(id));
      };
      await eventually(async () => (await send(), answered.length > 0), SOON);
      await work(IN_BACKUP);
      await eventually(hasAll, SOON);
      await takeBackup();
      await work(IN_ARCHIVE);
      await eventually(hasAll, SOON);
      await archived();
      await work(AFTER);

      const lostAtMs = performance.now();
      loseBoth();
      const before = answered.length;
      for (let n = 0; n < 20; n += 1) await send();
      const meanwhile = answered.length - before;
      for (const app of STOPPED) await fleet.process(app).end();
      await fleet.kafka.server.restart();
      await fleet.kafka.createFleetTopics({ isPrefixed: false });
      await restorePostgres();
      for (const app of STOPPED.toReversed()) await fleet.process(app).restart();

      const kept = await inDatabase(async (client) => {
        const { rows } = await client.query<{ id: string }>('SELECT id FROM keys.api_key');
        return new Set(rows.map(({ id }) => id));
      });
      const lost = made.filter(({ id }) => !kept.has(id));
      // What comes after the last of the log is lost, and nothing before it.
      expect(made.slice(0, IN_BACKUP + IN_ARCHIVE).filter(({ id }) => !kept.has(id))).toEqual([]);
      expect(lost).toEqual(made.slice(made.length - lost.length));
      const managedMs = performance.now() - lostAtMs;
      await eventually(async () => (await send(), answered.length > before + meanwhile), SOON);
      await eventually(hasAll, { timeoutMs: 300_000, intervalMs: 1_000 });
      const wholeMs = performance.now() - lostAtMs;
      const pointMs = lost.length === 0 ? 0 : lostAtMs - made[made.length - lost.length - 1].atMs;
      process.stdout.write(
        `both-lost: recovery point ${(pointMs / 1_000).toFixed(1)} s (${lost.length} of ${AFTER} keys lost), ` +
          `${meanwhile} of 20 requests served meanwhile; managed again after ${(managedMs / 1_000).toFixed(1)} s, ` +
          `all ${answered.length} answers in the ledger after ${(wholeMs / 1_000).toFixed(1)} s\n`,
      );
      const redisEnv = { REDIS_URL: fleet.redisUrl };
      const findings = await findingsOf(fleet, redisEnv, ['--repair']);
      if (findings.length > 0) process.stdout.write(`both-lost: repaired ${JSON.stringify(findings)}\n`);
      await eventually(async () => (await findingsOf(fleet, redisEnv)).length === 0, SOON);
    },
    TEST_MS,
  );
});
