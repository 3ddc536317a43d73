import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { makeCertificates, type Certificates } from './certificates.js';
import { killAndWait, startLocalProcess } from './local-process.js';
// eslint-disable-next-line @nx/enforce-module-boundaries -- as in postgres.ts.
import { freePort } from '../../../libs/database/src/postgres/free-port.js';
import { ensureProgram } from './programs.js';
import { startRedis, untilClusterIsOk } from './redis.js';
import type { RunningService } from './service.js';

const START_MS = 15_000;
const CLUSTER_BUS = 10_000;
const NODES = 6;
/** Time without an answer after which a master is replaced. */
const DOWN_AFTER_MS = 2_000;
/** Password of servers on 127.0.0.1 that end with their test. */
const PASSWORD = 'for-this-test-only';
const SENTINEL_PASSWORD = 'for-the-sentinel-only';

/**
 * A server with a replica, a sentinel that knows them as `mymaster`, and a cluster of three masters with a replica each. All
 * have TLS and a password, the first two also a user `gateway`. The address is
 * `server,sentinel,<six nodes>,<file of the authority>`.
 */
export async function startSecuredRedis(folder: string): Promise<RunningService> {
  await ensureProgram('redis-server');
  mkdirSync(folder, { recursive: true });
  const files = await makeCertificates(folder);
  const running: { stop(): Promise<void> }[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(running.map((server) => server.stop()));
  };
  try {
    const port = await freePort();
    const user = ['--user', 'gateway', 'on', `>${PASSWORD}`, '~*', '&*', '+@all'];
    const server = await startRedis(join(folder, 'server'), port, [...tls(files, port), ...user]);
    running.push(server);
    const second = await freePort();
    const replica = [...tls(files, second), ...user, '--replicaof', '127.0.0.1', String(port)];
    running.push(await startRedis(join(folder, 'replica'), second, replica));
    const sentinel = await startSentinel(join(folder, 'sentinel'), port, files);
    running.push(sentinel);
    const nodes = await startNodes(folder, files, running);
    const address = [port, sentinel.port, ...nodes].map((each) => `127.0.0.1:${each}`);
    return { address: [...address, files.ca].join(','), pid: server.pid, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function tls({ ca, cert, key }: Certificates, port: number): string[] {
  const certificates = ['--tls-cert-file', cert, '--tls-key-file', key, '--tls-ca-cert-file', ca];
  return [
    ...['--port', '0', '--tls-port', String(port), '--tls-auth-clients', 'no', '--tls-replication', 'yes'],
    ...certificates,
    ...['--requirepass', PASSWORD, '--masterauth', PASSWORD, '--repl-diskless-sync-delay', '0'],
  ];
}

async function startSentinel(
  folder: string,
  master: number,
  { ca, cert, key }: Certificates,
): Promise<{ port: number; stop(): Promise<void> }> {
  mkdirSync(folder, { recursive: true });
  const port = await freePort();
  const config = join(folder, 'sentinel.conf');
  const lines = [
    ...['port 0', `tls-port ${port}`, 'bind 127.0.0.1', `dir ${folder}`, 'tls-auth-clients no'],
    ...[`tls-cert-file ${cert}`, `tls-key-file ${key}`, `tls-ca-cert-file ${ca}`, 'tls-replication yes'],
    `requirepass ${SENTINEL_PASSWORD}`,
    `sentinel monitor mymaster 127.0.0.1 ${master} 1`,
    `sentinel auth-pass mymaster ${PASSWORD}`,
    `sentinel down-after-milliseconds mymaster ${DOWN_AFTER_MS}`,
    'sentinel failover-timeout mymaster 5000',
  ];
  writeFileSync(config, `${lines.join('\n')}\n`);
  const server = await startLocalProcess({
    command: 'redis-server',
    args: [config, '--sentinel'],
    logFile: join(folder, 'redis.log'),
    readyWhen: /\+monitor master mymaster/,
    timeoutMs: START_MS,
  });
  return { port, stop: () => killAndWait(server) };
}

async function startNodes(
  folder: string,
  files: Certificates,
  running: { stop(): Promise<void> }[],
): Promise<number[]> {
  const ports: number[] = [];
  for (let number = 0; number < NODES; number += 1) {
    const port = await freePort({ alsoAbove: CLUSTER_BUS });
    const cluster = ['--databases', '1', '--cluster-enabled', 'yes', '--tls-cluster', 'yes'];
    const timeout = ['--cluster-node-timeout', String(DOWN_AFTER_MS)];
    const extra = [...tls(files, port), ...cluster, ...timeout];
    running.push(await startRedis(join(folder, `node-${number}`), port, extra));
    ports.push(port);
  }
  const cli = ['--tls', '--cacert', files.ca, '-a', PASSWORD, '--no-auth-warning'];
  const hosts = ports.map((port) => `127.0.0.1:${port}`);
  const create = ['--cluster', 'create', ...hosts, '--cluster-replicas', '1', '--cluster-yes'];
  await promisify(execFile)('redis-cli', [...cli, ...create], { timeout: START_MS });
  await Promise.all(hosts.map((host) => untilClusterIsOk(host, cli)));
  return ports;
}
