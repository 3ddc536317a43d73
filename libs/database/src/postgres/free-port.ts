import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Below what systems give to outgoing connections (from 32,768 on, docs of Linux's ip_local_port_range): each of those takes
 * any port above that nobody listens on, also one that is chosen here and listened on seconds later, or after a restart.
 */
const PORTS = { from: 20_000, to: 32_000 };
const TRIES = 1_000;

/**
 * A port that nobody listened on a moment ago; with `alsoAbove`, nobody on port + alsoAbove either.
 * @throws what `listenOnce` throws of a host that is not of this machine.
 */
export async function freePort({ host = '127.0.0.1', alsoAbove = 0 } = {}): Promise<number> {
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const port = randomInt(PORTS.from, PORTS.to - alsoAbove);
    if ((await isFree(port, host)) && (alsoAbove === 0 || (await isFree(port + alsoAbove, host))))
      return port;
  }
  throw new Error(`No free port was found on ${host}.`);
}

/** Rejects with Node's EADDRINUSE, EACCES or EADDRNOTAVAIL where nobody could listen there. */
export function listenOnce(port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(port, host, () => probe.close(() => resolve()));
  });
}

export async function isFree(port: number, host = '127.0.0.1'): Promise<boolean> {
  try {
    await listenOnce(port, host);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false;
    throw error;
  }
}
