import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { Replica, untilReady, type Balancer } from './balancer.js';

/**
 * Starts a balancer that knows nothing of HTTP, as a service of Kubernetes: each new connection goes to the next replica
 * whose `/readyz` was 200 when it was last asked, and stays there. It sends nothing twice.
 */
export async function startTcpBalancer(probeEveryMs: number): Promise<Balancer> {
  const replicas = new Map<string, Replica>();
  const open = new Set<Socket>();
  let turn = 0;
  const server = createServer({ allowHalfOpen: true }, (caller) => {
    const ready = [...replicas.values()].filter(({ isReady }) => isReady);
    turn += 1;
    const chosen = ready.at(turn % ready.length);
    if (chosen === undefined) return void caller.destroy();
    const { hostname, port } = new URL(chosen.url);
    const replica = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    for (const [one, other] of [
      [caller, replica],
      [replica, caller],
    ]) {
      open.add(one);
      one.setNoDelay(true).pipe(other);
      one.on('error', () => other.destroy()).once('close', () => open.delete(one));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    add: (url) => void replicas.set(url, new Replica(url, probeEveryMs)),
    remove: (url) => {
      replicas.get(url)?.forget();
      replicas.delete(url);
    },
    untilReady: (url) => untilReady(replicas, url),
    close: async () => {
      for (const replica of replicas.values()) replica.forget();
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
