import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { repository } from './repository.js';

/**
 * The process that owns Kafka, Redis and PostgreSQL (tools/infra); under Jest that of the run. It ends with all of them
 * when this process does, whichever way.
 * @returns its id, null where it is another's, and how to end it
 */
export function startGuard(): { pid: number | null; end(): Promise<void> } {
  if (process.env.GATEWAY_INFRA_SOCKET) return { pid: null, end: async () => undefined };
  const folder = join(tmpdir(), `gw-${randomBytes(6).toString('hex')}`);
  const loader = './tools/infra/run-ts.mjs';
  const args = ['--no-warnings', '--import', loader, 'tools/infra/src/guard.ts', folder];
  const guard = spawn(process.execPath, args, {
    cwd: repository,
    detached: true,
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  process.env.GATEWAY_INFRA_SOCKET = `${folder}/guard.sock`;
  return {
    pid: guard.pid ?? null,
    end: async () => {
      delete process.env.GATEWAY_INFRA_SOCKET;
      const ended = once(guard, 'exit');
      guard.stdin.end();
      if (guard.exitCode === null) await ended;
    },
  };
}

/** Runs what needs the servers with a guard of its own. */
export async function withGuard<T>(work: () => Promise<T>): Promise<T> {
  const guard = startGuard();
  try {
    return await work();
  } finally {
    await guard.end();
  }
}
