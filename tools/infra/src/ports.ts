import { createServer } from 'node:net';

/** A port of 127.0.0.1 that was free a moment ago; with `alsoAbove`, port + alsoAbove was free, too. */
export async function freePort(alsoAbove?: number): Promise<number> {
  for (let attempt = 0; attempt < 50; attempt += 1) {
    const port = await probe(0);
    if (port === undefined) continue;
    if (alsoAbove === undefined) return port;
    if (port + alsoAbove < 65_536 && (await probe(port + alsoAbove)) !== undefined) return port;
  }
  throw new Error('No free port was found on 127.0.0.1.');
}

function probe(wished: number): Promise<number | undefined> {
  return new Promise((done) => {
    const server = createServer();
    server.once('error', () => done(undefined));
    server.listen(wished, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => done(typeof address === 'object' && address ? address.port : undefined));
    });
  });
}
