import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const FAST_STOP_MS = 10_000;
const POLL_MS = 20;

/**
 * Stops the server that a killed run left behind on this data folder and removes its lock file.
 * Nothing happens when there is none. The process named in postmaster.pid is signalled only when it is
 * a postgres on our folder: after a reboot, or in a container, that number may belong to anybody.
 * @throws Error with one sentence when the server belongs to a run that is still alive.
 */
export async function stopStaleServer(clusterDir: string, ownerFile: string): Promise<void> {
  const lockFile = join(clusterDir, 'postmaster.pid');
  if (!existsSync(lockFile)) return;
  const pid = Number(readFileSync(lockFile, 'utf8').split('\n', 1)[0]);
  if (Number.isInteger(pid) && pid > 1 && isPostgresOn(pid, clusterDir)) {
    const owner = existsSync(ownerFile) ? Number(readFileSync(ownerFile, 'utf8')) : undefined;
    // A process whose parent died has another parent, so an equal number proves that the owner lives.
    if (owner !== undefined && owner !== process.pid && parentOf(pid) === owner) {
      throw new Error(
        `The database in ${clusterDir} is in use by process ${owner}: stop that process first, or choose another data folder.`,
      );
    }
    await stopServer(pid);
  }
  rmSync(lockFile, { force: true });
}

/** Fast shutdown (open transactions are rolled back), then an immediate one; waits until the process is gone. */
export async function stopServer(pid: number, fastMs = FAST_STOP_MS): Promise<void> {
  // SIGQUIT and not SIGKILL as the last resort: it leaves no shared memory behind.
  for (const [signal, waitMs] of [
    ['SIGINT', fastMs],
    ['SIGQUIT', 5_000],
    ['SIGKILL', 5_000],
  ] as const) {
    if (waitMs === 0) continue;
    if (!sendSignal(pid, signal)) return;
    if (await isGoneWithin(pid, waitMs)) return;
  }
  throw new Error(`The PostgreSQL process ${pid} did not stop.`);
}

async function isGoneWithin(pid: number, waitMs: number): Promise<boolean> {
  for (let waited = 0; waited < waitMs; waited += POLL_MS) {
    if (!sendSignal(pid, 0) || isZombie(pid)) return true;
    await pause(POLL_MS);
  }
  return false;
}

function sendSignal(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    // ESRCH: it is gone. EPERM: the number belongs to somebody else by now.
    return false;
  }
}

function isPostgresOn(pid: number, clusterDir: string): boolean {
  const commandLine = processField(pid, 'cmdline', 'command=');
  return commandLine.includes('postgres') && commandLine.includes(clusterDir);
}

function parentOf(pid: number): number {
  const status = processField(pid, 'status', 'ppid=');
  return Number(/^PPid:\s*(\d+)/m.exec(status)?.[1] ?? status.trim());
}

function isZombie(pid: number): boolean {
  return (
    /^State:\s*Z/m.test(processField(pid, 'status', 'stat=')) ||
    /^Z/.test(processField(pid, 'status', 'stat='))
  );
}

/** Linux has /proc but often no `ps` (slim images); macOS the other way round. */
function processField(pid: number, procFile: string, psColumn: string): string {
  try {
    if (process.platform === 'linux') return readFileSync(`/proc/${pid}/${procFile}`, 'utf8');
    return execFileSync('ps', ['-ww', '-o', psColumn, '-p', String(pid)], {
      encoding: 'utf8',
      timeout: 5_000,
    });
  } catch {
    return ''; // The process ended in between.
  }
}
