import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import { freePort, isFree, listenOnce } from './free-port.js';

/** The first port that Linux gives to outgoing connections, where nobody has set another. */
const OUTGOING = 32_768;

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await new Promise((resolve) => server.close(resolve));
});

async function listening(port: number): Promise<number> {
  const server = createServer();
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

describe('freePort', () => {
  it('is none that an outgoing connection takes while its program starts', async () => {
    const ports = await Promise.all(Array.from({ length: 200 }, () => freePort()));
    expect(Math.max(...ports)).toBeLessThan(OUTGOING);
  });

  it('has a second one so many above, which is none of those either', async () => {
    const ports = await Promise.all(Array.from({ length: 200 }, () => freePort({ alsoAbove: 10_000 })));
    expect(Math.max(...ports) + 10_000).toBeLessThan(OUTGOING);
    await expect(isFree(ports[0] + 10_000)).resolves.toBe(true);
  });

  it('is given once, also while nobody listens on it', async () => {
    // Of this process alone: another one that runs this spec holds its own.
    const from = 15_000 + 2 * (process.pid % 2_000);
    const range = { from, to: from + 2 };
    const ports = [await freePort(range), await freePort(range)];
    expect(ports.toSorted()).toEqual([from, from + 1]);
    await expect(freePort(range)).rejects.toThrow('No free port was found');
  });

  it('closes who connects to what holds it', async () => {
    const caller = connect(`\0model-gateway-port-${await freePort()}`);
    const closed = new Promise((resolve) => caller.once('close', resolve));
    caller.on('error', () => undefined);
    caller.resume();
    await expect(closed).resolves.toBeDefined();
  });

  it('refuses an address of another machine at once', async () => {
    await expect(freePort({ host: '192.0.2.1' })).rejects.toMatchObject({ code: 'EADDRNOTAVAIL' });
  });
});

describe('isFree', () => {
  it('is false while somebody listens there', async () => {
    const port = await listening(0);
    await expect(isFree(port)).resolves.toBe(false);
    await expect(listenOnce(port, '127.0.0.1')).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });
});
