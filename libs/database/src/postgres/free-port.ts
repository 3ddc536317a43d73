import { randomInt } from 'node:crypto';
import { createServer, type Server } from 'node:net';

/**
 * Ports below those that systems give to outgoing connections (from 32,768 on, docs of Linux's ip_local_port_range). An
 * outgoing connection takes any port above that nobody listens on, also one that was chosen here to be listened on
 * later.
 */
const PORTS = { from: 20_000, to: 32_000 };
const TRIES = 1_000;

/**
 * A port that nobody listened on a moment ago; with `alsoAbove`, nobody on port + alsoAbove either. Until this process ends
 * no other call gives it to anyone: a server that starts slowly, or stops and starts again, finds it as it was.
 * @throws what `listenOnce` throws of a host that is not of this machine.
 */
export async function freePort({
  host = '127.0.0.1',
  alsoAbove = 0,
  from = PORTS.from,
  to = PORTS.to,
} = {}): Promise<number> {
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    const port = randomInt(from, to - alsoAbove);
    const ports = alsoAbove === 0 ? [port] : [port, port + alsoAbove];
    if (await areFree(ports, host)) return port;
  }
  throw new Error(`No free port was found on ${host}.`);
}

async function areFree(ports: readonly number[], host: string): Promise<boolean> {
  const holds: (Server | null)[] = [];
  let isChosen = false;
  try {
    for (const port of ports) {
      // Before it is listened on: a server that starts there would find it in use.
      const hold = await held(port);
      if (hold === 'taken') return false;
      holds.push(hold);
      if (!(await isFree(port, host))) return false;
    }
    isChosen = true;
    return true;
  } finally {
    if (!isChosen) for (const hold of holds) hold?.close();
  }
}

/**
 * A name of Linux's abstract namespace (unix(7)). The kernel gives it to one process of the network namespace, and takes
 * it back however that ends. Null where there are none: two programs may then choose the same port.
 */
function held(port: number): Promise<Server | 'taken' | null> {
  return new Promise((resolve) => {
    const server = createServer().unref();
    // Nobody has anything to ask here: who connects is closed, and costs no file descriptor.
    server.maxConnections = 0;
    server.once('error', ({ code }: NodeJS.ErrnoException) =>
      resolve(code === 'EADDRINUSE' ? 'taken' : null),
    );
    server.listen(`\0model-gateway-port-${port}`, () => {
      // It outlives the spec that asked for the port, and would keep what its listeners refer to.
      server.removeAllListeners();
      resolve(server);
    });
  });
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
