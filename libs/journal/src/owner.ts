import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, realpathSync, unlinkSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { faultOf } from './alarm.js';

/** `owner` writes below its producer folder; `heir` takes over the dead epochs in one. */
export type Role = 'owner' | 'heir';

/** Ownership of a folder until it is released or the process dies, whichever way it dies. */
export interface Claim {
  release(): Promise<void>;
}

// 108 bytes on Linux and 104 elsewhere, the closing zero included.
const SOCKET_PATH_BYTES = 100;

/**
 * Claims a role in a producer folder; null where a living process has it.
 *
 * Each claimant listens on a socket of its own name **before** it looks at the others. So of any two at least one sees
 * the other and steps back; both may, and then both try again. No lock file can be left behind by a kill: a socket
 * without a process refuses the connection. One shared name would need "remove if dead, then bind", between which a
 * second claimant can bind and be removed.
 */
export async function claim(folder: string, role: Role, id: string): Promise<Claim | null> {
  const sockets = socketFolder(folder, `${role}-${id}.sock`);
  const mine = `${role}-${id}.sock`;
  const server = await listen(join(sockets, mine));
  const release = (): Promise<void> => new Promise((resolve) => server.close(() => resolve()));
  for (const name of socketsOf(sockets, role)) {
    if (name === mine) continue;
    if (await isAlive(join(sockets, name))) {
      await release();
      return null;
    }
    removeDead(join(sockets, name));
  }
  return { release };
}

/** True where a living process has the role in this folder. */
export async function isClaimed(folder: string, role: Role): Promise<boolean> {
  const sockets = socketFolder(folder, `${role}-`.padEnd(SOCKET_NAME_BYTES, 'x'));
  for (const name of socketsOf(sockets, role)) {
    if (await isAlive(join(sockets, name))) return true;
  }
  return false;
}

/** Length of every socket's name: ids have one length, so that all claimants of a folder choose the same place. */
const SOCKET_NAME_BYTES = 'owner-'.length + 26 + '.sock'.length;

// Where the producer folder's path leaves no room for a socket, all claimants meet in a folder of the system's
// temporary one, named by a hash of the real path. Changing the working directory would do as well, but it is
// one for all threads.
function socketFolder(folder: string, name: string): string {
  const real = realpathSync(folder);
  const needed = Buffer.byteLength(real) + 1 + Math.max(name.length, SOCKET_NAME_BYTES);
  if (needed <= SOCKET_PATH_BYTES) return real;
  const hash = createHash('sha256').update(real).digest('hex').slice(0, 16);
  const short = join(tmpdir(), `gateway-journal-${hash}`);
  mkdirSync(short, { recursive: true, mode: 0o700 });
  return short;
}

function socketsOf(folder: string, role: Role): string[] {
  return readdirSync(folder).filter((name) => name.startsWith(`${role}-`) && name.endsWith('.sock'));
}

function listen(path: string): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', reject);
    server.listen(path, () => {
      server.unref();
      resolve(server);
    });
  });
}

// Anything but a refusal or a missing file counts as alive: a full backlog or a denied access is somebody's socket.
function isAlive(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', (error) => resolve(!['ECONNREFUSED', 'ENOENT'].includes(faultOf(error).code)));
  });
}

function removeDead(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (faultOf(error).code !== 'ENOENT') throw error;
  }
}
