import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { eventually } from '@gateway/testing';
import { startProbe, type Probe } from './probe-app.fixture.js';

/** Number of connections of each kind; four kinds make a thousand connections. */
const EACH = 250;
const HEAD = 'POST /v1/open HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';

/** Bytes that a slow client has sent when it goes quiet. */
const KINDS: [kind: string, sent: string][] = [
  ['headers that never end', `${HEAD}X-A: b\r\n`],
  ['a body that never ends', `${HEAD}Content-Length: 1000000\r\n\r\n{"a":`],
  ['chunks that never end', `${HEAD}Transfer-Encoding: chunked\r\n\r\n5\r\n{"a":`],
  ['nothing after the first line', 'POST /v1/open HTTP/1.1\r\n'],
];

interface SlowClient {
  socket: Socket;
  text: string;
  isClosed: boolean;
}

async function open(url: string, sent: string): Promise<SlowClient> {
  const { hostname, port } = new URL(url);
  const client: SlowClient = { socket: connect(Number(port), hostname), text: '', isClosed: false };
  client.socket.setEncoding('latin1').on('data', (chunk: string) => (client.text += chunk));
  client.socket.on('error', () => undefined).on('close', () => (client.isClosed = true));
  await once(client.socket, 'connect');
  client.socket.write(sent);
  return client;
}

describe('clients that send slowly', () => {
  let probe: Probe;
  beforeAll(async () => {
    probe = await startProbe({ sendingMs: { headers: 1_500, request: 3_000 } });
  });
  afterAll(() => probe.close());

  it('U07 a thousand of them are let go with 408, and others are served all the while', async () => {
    const clients: SlowClient[] = [];
    for (const [, sent] of KINDS)
      for (let count = 0; count < EACH; count += 1) clients.push(await open(probe.url, sent));
    while (clients.some(({ isClosed }) => !isClosed)) {
      const answer = await fetch(`${probe.url}/v1/open`);
      expect(answer.status).toBe(200);
      await answer.text();
    }
    const answered = clients.map(({ text }) => /^HTTP\/1\.1 (\d+) [^]*"code":"(\w+)"/.exec(text)?.slice(1));
    expect(answered.filter((answer) => answer?.join(' ') !== '408 bad_request')).toEqual([]);
    await eventually(() => probe.pressure.bodyBytesInFlight === 0);
  });

  it('U07 a byte now and then does not keep a connection', async () => {
    const client = await open(probe.url, KINDS[1][1]);
    const drip = setInterval(() => client.socket.write(' '), 50);
    await eventually(() => client.isClosed);
    clearInterval(drip);
    expect(client.text).toMatch(/^HTTP\/1\.1 408 /);
  });

  it('U09 one that has sent nothing, or half a request, does not keep the process from ending', async () => {
    const own = await startProbe();
    const clients = await Promise.all(['', KINDS[3][1]].map((sent) => open(own.url, sent)));
    // The server has accepted them, because it answers one that came after them.
    await (await fetch(`${own.url}/v1/open`)).text();
    await own.close();
    await eventually(() => clients.every(({ isClosed }) => isClosed));
  }, 600_000);
});
