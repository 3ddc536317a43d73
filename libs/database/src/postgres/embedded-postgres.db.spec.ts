import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import pg from 'pg';
import { eventually } from '@gateway/testing';
import { EmbeddedPostgres } from './embedded-postgres.js';

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('EmbeddedPostgres', () => {
  let dataDir: string;
  let running: EmbeddedPostgres[] = [];

  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'gw-pg-'));
    running = [];
  });

  afterEach(async () => {
    for (const server of running) await server.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  function server(options: { port?: number; isThrowaway?: boolean } = {}): EmbeddedPostgres {
    const created = new EmbeddedPostgres({ dataDir, ...options });
    running.push(created);
    return created;
  }

  /**
   * Returns the output of a start in a process of its own; under a limit, no file of it can have more blocks of 512
   * bytes.
   */
  function startElsewhere(fileBlocksMax = 'unlimited'): string {
    const module = JSON.stringify(new URL('./embedded-postgres.ts', import.meta.url).href);
    const loader = join(import.meta.dirname, '../../../../tools/infra/run-ts.mjs');
    const script = `import(${module}).then(({ EmbeddedPostgres }) => new EmbeddedPostgres({ dataDir: process.argv[1] }).start())
      .then(() => console.log('started'), (error) => console.log(error.message)).then(() => process.exit());`;
    const limited = `ulimit -f ${fileBlocksMax}; exec "$0" "$@"`;
    const node = [process.execPath, '--import', loader, '-e', script, dataDir];
    return spawnSync('sh', ['-c', limited, ...node], { encoding: 'utf8' }).stdout;
  }

  it('starts PostgreSQL 18, keeps its data over a stop and asks for the password it made', async () => {
    const first = server();
    const { url } = await first.start();
    await query(url, 'CREATE TABLE kept (n int); INSERT INTO kept VALUES (7)');
    expect(await query(url, 'SHOW server_version')).toEqual([
      { server_version: expect.stringMatching(/^18\./) },
    ]);
    await expect(query(url.replace(/:[^:@]+@/, ':wrong@'), 'SELECT 1')).rejects.toThrow(/password/);
    await first.stop();

    const again = await server().start();
    expect(await query(again.url, 'SELECT n FROM kept')).toEqual([{ n: 7 }]);
  });

  it('keeps every file of its folder from other users', async () => {
    await server().start();
    const modes = ['owner', 'password', 'postgres.log'].map((name) => [
      name,
      (statSync(join(dataDir, name)).mode & 0o777).toString(8),
    ]);
    expect(modes).toEqual([
      ['owner', '600'],
      ['password', '600'],
      ['postgres.log', '600'],
    ]);
  });

  it('opens a folder that an earlier run left to another OS user', async () => {
    const first = server();
    await query((await first.start()).url, 'CREATE TABLE kept (n int); INSERT INTO kept VALUES (9)');
    await first.stop();
    const isRoot = process.getuid?.() === 0;
    if (isRoot) spawnSync('chown', ['-R', '65534:65534', join(dataDir, 'cluster')]);

    const { url } = await server().start();
    expect(await query(url, 'SELECT n FROM kept')).toEqual([{ n: 9 }]);
  });

  it('opens a cluster behind a link, which another OS user has had', async () => {
    const first = server();
    await query((await first.start()).url, 'CREATE TABLE kept (n int); INSERT INTO kept VALUES (10)');
    await first.stop();
    const [link, place] = ['cluster', 'elsewhere'].map((name) => join(dataDir, name));
    renameSync(link, place);
    symlinkSync('elsewhere', link);
    if (process.getuid?.() === 0) spawnSync('chown', ['-R', '65534:65534', place]);

    const { url } = await server().start();
    expect(await query(url, 'SELECT n FROM kept')).toEqual([{ n: 10 }]);
  });

  it('says what to do where the password file is gone', async () => {
    const first = server();
    await first.start();
    await first.stop();
    rmSync(join(dataDir, 'password'));
    await expect(server().start()).rejects.toThrow(/password is gone.*restore the file, or move/);
  });

  it('stops the server that a run killed with kill -9 left behind, and loses nothing that was committed', async () => {
    const owner = join(dataDir, 'owner');
    const killed = server();
    const before = await killed.start();
    await query(before.url, 'CREATE TABLE kept (n int); INSERT INTO kept VALUES (8)');
    // The owner is named as a process that is not the server's parent, as after a kill -9 of it.
    writeFileSync(owner, '1');

    const after = await server().start();
    expect(isAlive(before.pid)).toBe(false);
    expect(await query(after.url, 'SELECT n FROM kept')).toEqual([{ n: 8 }]);
  });

  it('refuses in one sentence to take the folder of a run that is alive', async () => {
    const { pid } = await server().start();
    // A second process tries; the first one, this, is alive and the server's parent.
    expect(startElsewhere()).toContain(`is in use by process ${process.pid}: stop that process first`);
    expect(isAlive(pid)).toBe(true);
  });

  it('recovers after kill -9 of the server itself', async () => {
    const { url, pid } = await server().start();
    await query(url, 'CREATE TABLE kept (n int); INSERT INTO kept VALUES (9)');
    process.kill(pid, 'SIGKILL');

    const after = await server().start();
    expect(await query(after.url, 'SELECT n FROM kept')).toEqual([{ n: 9 }]);
  });

  it('starts a server again that has ended by itself, on its port, and none that was stopped', async () => {
    const reasons: string[] = [];
    const server = new EmbeddedPostgres({ dataDir, onEnd: (reason) => reasons.push(reason) });
    running.push(server);
    const { url, pid } = await server.start();
    await query(url, 'CREATE TABLE kept (n int); INSERT INTO kept VALUES (11)');
    process.kill(pid, 'SIGKILL');
    await eventually(() => server.pid !== undefined && server.pid !== pid);
    await eventually(() =>
      query(url, 'SELECT n FROM kept').then(
        ([row]) => (row as { n: number }).n === 11,
        () => false,
      ),
    );
    expect(reasons.length).toBeGreaterThan(0);
    const told = reasons.length;
    await server.stop();
    expect([server.pid, reasons.length]).toEqual([undefined, told]);
    await expect(query(url, 'SELECT 1')).rejects.toThrow('ECONNREFUSED');
  });

  it('never signals a stranger whose process id stands in a stale postmaster.pid', async () => {
    const first = server();
    await first.start();
    await first.stop();
    const stranger = spawn(process.execPath, ['-e', 'process.stdin.resume()'], {
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    await once(stranger, 'spawn');
    writeFileSync(join(dataDir, 'cluster', 'postmaster.pid'), `${stranger.pid}\n${dataDir}\n`);

    await server().start();
    expect(isAlive(stranger.pid!)).toBe(true);
    stranger.kill('SIGKILL');
  });

  it('takes another port when the wished one is in use', async () => {
    const blocker = createServer();
    await new Promise<void>((done) => blocker.listen(0, '127.0.0.1', done));
    const { port } = blocker.address() as AddressInfo;
    const { url } = await server({ port, isThrowaway: true }).start();
    expect(new URL(url).port).not.toBe(String(port));
    await expect(query(url, 'SELECT 1 AS one')).resolves.toEqual([{ one: 1 }]);
    blocker.close();
  });

  it('begins again after a first start that was killed during initdb', async () => {
    mkdirSync(join(dataDir, 'cluster.new', 'base'), { recursive: true });
    const { url } = await server({ isThrowaway: true }).start();
    await expect(query(url, 'SELECT 1 AS one')).resolves.toEqual([{ one: 1 }]);
  });

  it('says in one sentence that the data folder is broken, and leaves it as it is', async () => {
    const first = server({ isThrowaway: true });
    await first.start();
    await first.stop();
    const control = join(dataDir, 'cluster', 'global', 'pg_control');
    writeFileSync(control, 'rubbish');

    await expect(server({ isThrowaway: true }).start()).rejects.toThrow(
      /could not open its data folder .*move the folder away/s,
    );
    expect(readFileSync(control, 'utf8')).toBe('rubbish');
  });

  it('says why the data folder could not be created', () => {
    expect(startElsewhere('4000')).toMatch(
      /could not create its data folder .*: .*could not write.*File too large/,
    );
  });

  it('refuses a folder of another major version in one sentence', async () => {
    mkdirSync(join(dataDir, 'cluster'));
    writeFileSync(join(dataDir, 'cluster', 'PG_VERSION'), '14\n');
    await expect(server().start()).rejects.toThrow(/written by PostgreSQL 14, this is 18/);
  });
});
