import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { killAndWait, startLocalProcess } from './local-process.js';
// eslint-disable-next-line @nx/enforce-module-boundaries -- as in postgres.ts.
import { freePort } from '../../../libs/database/src/postgres/free-port.js';
import { ensureProgram } from './programs.js';
import type { RunningService } from './service.js';

const CLUSTER_NODES = 6;
/** Redis derives the port of its cluster bus by adding this. */
const CLUSTER_BUS = 10_000;
const START_MS = 15_000;
const START_TRIES = 5;

/** A redis-server without persistence. A given `port` is kept, for a restart at the same address. */
export async function startRedis(
  folder: string,
  port?: number,
  extra: string[] = [],
): Promise<RunningService> {
  await ensureProgram('redis-server');
  mkdirSync(folder, { recursive: true });
  for (let attempt = 1; ; attempt += 1) {
    const chosen = port ?? (await freePort());
    try {
      const server = await startLocalProcess({
        command: 'redis-server',
        args: [
          ...['--port', String(chosen), '--bind', '127.0.0.1', '--dir', folder, '--databases', '4096'],
          ...['--save', '', '--appendonly', 'no', '--maxmemory-policy', 'noeviction', ...extra],
        ],
        logFile: join(folder, 'redis.log'),
        readyWhen: /Ready to accept connections/,
        timeoutMs: START_MS,
      });
      return { address: `redis://127.0.0.1:${chosen}`, pid: server.pid, stop: () => killAndWait(server) };
    } catch (error) {
      // Another process took the port between the probe and the start.
      if (port !== undefined || attempt === START_TRIES) throw error;
    }
  }
}

/** Redis Cluster: three masters with one replica each. The address is all six nodes, joined by commas. */
export async function startRedisCluster(folder: string): Promise<RunningService> {
  await ensureProgram('redis-server');
  const nodes: RunningService[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(nodes.map((node) => node.stop()));
  };
  try {
    for (let number = 0; number < CLUSTER_NODES; number += 1) {
      const port = await freePort({ alsoAbove: CLUSTER_BUS });
      const extra = ['--databases', '1', '--cluster-enabled', 'yes', '--cluster-node-timeout', '1000'];
      nodes.push(await startRedis(join(folder, String(number)), port, extra));
    }
    const hosts = nodes.map((node) => new URL(node.address).host);
    const create = ['--cluster', 'create', ...hosts, '--cluster-replicas', '1', '--cluster-yes'];
    await promisify(execFile)('redis-cli', create, { timeout: START_MS });
    await Promise.all(hosts.map((host) => untilClusterIsOk(host)));
    return { address: nodes.map((node) => node.address).join(','), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** `cli`: what redis-cli needs to be let in. */
export async function untilClusterIsOk(host: string, cli: string[] = []): Promise<void> {
  const port = host.split(':')[1];
  for (let waited = 0; waited < START_MS; waited += 50) {
    const { stdout } = await promisify(execFile)('redis-cli', [...cli, '-p', port, 'cluster', 'info'], {
      timeout: 5_000,
    });
    if (stdout.includes('cluster_state:ok') && stdout.includes(`cluster_known_nodes:${CLUSTER_NODES}`))
      return;
    await pause(50);
  }
  throw new Error(`The Redis Cluster node ${host} did not join in ${START_MS} ms.`);
}
