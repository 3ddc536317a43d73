import { existsSync, readFileSync } from 'node:fs';
import { askGuard, textOf } from './guard-client.js';
import { keepDatabase, keepRedis } from './leftovers/keep.js';

/** A server of one test's own, to be broken at will. The address stays the same over restarts. */
export interface OwnServer {
  readonly address: string;
  readonly pid: number;
  /** kill -9 of it and of its children: what PostgreSQL has begun to serve would go on being served for a while. */
  kill(): void;
  /** SIGSTOP: it accepts connections and answers nothing. */
  freeze(): void;
  /** SIGCONT. */
  thaw(): void;
  /** Kills it when it still runs and starts it again; resolves when it is ready. Redis comes back empty. */
  restart(): Promise<void>;
  drop(): Promise<void>;
}

export async function ownServer(kind: 'postgres' | 'redis' | 'kafka'): Promise<OwnServer> {
  const started = await askGuard('/own', { kind });
  const id = textOf(started, 'id');
  const address = textOf(started, 'address');
  let pid = Number(started['pid']);
  return {
    address,
    get pid() {
      return pid;
    },
    kill: () => [pid, ...childrenOf(pid)].forEach(killed),
    freeze: () => void process.kill(pid, 'SIGSTOP'),
    thaw: () => void process.kill(pid, 'SIGCONT'),
    restart: async () => {
      pid = Number((await askGuard('/own/restart', { id }))['pid']);
    },
    drop: async () => {
      if (kind === 'postgres') await keepDatabase(address);
      if (kind === 'redis') await keepRedis(address);
      await askGuard('/own/stop', { id });
    },
  };
}

/** Linux alone says; elsewhere, and of a process that has ended, none. */
function childrenOf(pid: number): number[] {
  const file = `/proc/${pid}/task/${pid}/children`;
  return existsSync(file) ? readFileSync(file, 'utf8').split(' ').filter(Boolean).map(Number) : [];
}

function killed(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (failure) {
    // A child may have ended, or followed its parent, meanwhile.
    if ((failure as NodeJS.ErrnoException).code !== 'ESRCH') throw failure;
  }
}
