import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, createServer as createTcpServer, type AddressInfo } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { SystemClock, SystemRandom } from '../time/system.js';
import { CONNECTION_AGE_MS, InternalHttp } from './internal-http.js';

const portOf = (server: { address(): unknown }): number => (server.address() as AddressInfo).port;

/** A replica that answers with its own name. */
async function startReplica(name: string): Promise<Server> {
  const server = createServer((_request, response) => response.end(JSON.stringify({ name })));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return server;
}

describe('connections between services', () => {
  it('are replaced within 60 s of use, so that a new replica behind a balancer of TCP gets its share', async () => {
    const replicas = [await startReplica('former')];
    let connections = 0;
    // It decides for each connection, as a service of Kubernetes does.
    const balancer = createTcpServer((caller) => {
      const to = connect(portOf(replicas[connections % replicas.length]), '127.0.0.1');
      connections += 1;
      caller.pipe(to).pipe(caller);
      for (const socket of [caller, to]) socket.on('error', () => undefined);
    });
    await once(balancer.listen(0, '127.0.0.1'), 'listening');
    const http = new InternalHttp({
      clock: new SystemClock(),
      random: new SystemRandom(),
      fleetToken: 'token',
      services: { keys: `http://127.0.0.1:${portOf(balancer)}` },
    });
    const { now } = Date;
    // The agents of undici take the time from nowhere else.
    let nowMs = Date.now();
    Date.now = () => nowMs;
    const answeredBy = async (timeoutMs: number): Promise<unknown> => {
      const path = '/internal/any';
      const { body } = await http.request({
        service: 'keys',
        method: 'GET',
        path,
        timeoutMs,
        idempotent: false,
      });
      // The connection is free a turn later.
      await turn();
      return (body as { name: string }).name;
    };
    try {
      // Calls that may take long have connections of their own.
      for (const timeoutMs of [10_000, 100_000]) {
        connections = 0;
        for (let n = 0; n < 5; n += 1) expect(await answeredBy(timeoutMs)).toBe('former');
        expect(connections).toBe(1);
        replicas.push(await startReplica('new'));
        expect(await answeredBy(timeoutMs)).toBe('former');
        nowMs += CONNECTION_AGE_MS + 1;
        expect(CONNECTION_AGE_MS).toBeLessThan(60_000);
        expect(await answeredBy(timeoutMs)).toBe('new');
        expect(connections).toBe(2);
        replicas.pop()?.close();
      }
    } finally {
      Date.now = now;
      await http.close();
      for (const server of [balancer, ...replicas]) server.close();
    }
  });
});
