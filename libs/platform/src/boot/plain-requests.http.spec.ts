import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { BODY_LIMIT_BYTES } from '@gateway/contracts';
import { eventually, keyPrincipal } from '@gateway/testing';
import { mintSecret } from '../auth/secret.js';
import { SystemRandom } from '../time/system.js';
import { startProbe, type Probe, type ProbeOptions } from './probe-app.fixture.js';

const BODY = '{"say":"hello"}';

/** Lines of a head by name; null leaves one out. */
type Lines = Record<string, string | null>;

/** One kept connection to a probe, with a key of its own. */
class Caller {
  private text = '';

  private constructor(
    readonly probe: Probe,
    readonly key: string,
    readonly socket: Socket,
  ) {
    socket.setEncoding('latin1').on('data', (chunk: string) => (this.text += chunk));
    socket.on('error', () => undefined);
  }

  static async of(probe: Probe, principal = keyPrincipal()): Promise<Caller> {
    const key = mintSecret('rsk_', new SystemRandom());
    probe.principals.add(key, principal);
    const { hostname, port } = new URL(probe.url);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    return new Caller(probe, key, socket);
  }

  head(lines: Lines = {}, body = BODY, target = '/v1/either', version = '1.1'): string {
    const all: Lines = {
      Host: 'gateway.test',
      Authorization: `Bearer ${this.key}`,
      'Content-Type': 'application/json',
      'Content-Length': String(Buffer.byteLength(body)),
      ...lines,
    };
    const written = Object.entries(all).flatMap(([name, value]) =>
      value === null ? [] : [`${name}: ${value}`],
    );
    return `POST ${target} HTTP/${version}\r\n${written.join('\r\n')}\r\n\r\n`;
  }

  /** Sends bytes and reads one whole answer, which names its length. */
  async send(bytes: string): Promise<string> {
    this.text = '';
    this.socket.write(bytes);
    return eventually(() => {
      const end = this.text.lastIndexOf('\r\n\r\n');
      const length = /\r\ncontent-length: (\d+)/i.exec(this.text);
      if (length !== null && this.text.length >= this.text.indexOf('\r\n\r\n') + 4 + Number(length[1]))
        return this.text;
      return /transfer-encoding: chunked/i.test(this.text) && this.text.slice(end - 3, end) === '\r\n0'
        ? this.text
        : undefined;
    });
  }

  ask(lines: Lines = {}, body = BODY, target = '/v1/either'): Promise<string> {
    return this.send(this.head(lines, body, target) + body);
  }
}

function statusOf(answer: string): number {
  return Number(answer.split(' ', 2)[1]);
}

function wayOf(answer: string): string | undefined {
  return /^x-way: (\w+)/im.exec(answer)?.[1];
}

/** The answer without what no two answers share. */
function steady(answer: string): string {
  return answer.replace(/req_[\w-]+/g, 'req_').replace(/^date: .*$/im, 'date');
}

async function countsOf(probe: Probe): Promise<string[]> {
  const lines = (await (await fetch(`${probe.url}/metrics`)).text()).split('\n');
  return lines.filter((line) => /^gateway_http_request_duration_seconds_count.*either/.test(line));
}

describe('a plain request of a route with `serve`', () => {
  let probe: Probe;
  beforeAll(async () => {
    probe = await startProbe();
  });
  afterAll(() => probe.close());

  it('passes Fastify by, again and again on one connection, whole and under its own id', async () => {
    const caller = await Caller.of(probe);
    const answers = [await caller.ask(), await caller.ask(), await caller.ask({ Traceparent: '00-1-2-01' })];
    expect(answers.map(wayOf)).toEqual(['past', 'past', 'past']);
    for (const answer of answers) expect(answer).toContain(BODY);
    const ids = answers.map((answer) => /req_[\w-]+/.exec(answer)?.[0]);
    expect(new Set(ids).size).toBe(3);
  });

  it('is whole where its body comes in pieces', async () => {
    const caller = await Caller.of(probe);
    const body = `{"say":"${'x'.repeat(9_000)}"}`;
    caller.socket.setNoDelay(true);
    caller.socket.write(caller.head({}, body) + body.slice(0, 4_000));
    await eventually(() => probe.drain.requestsInFlight > 0);
    const answer = await caller.send(body.slice(4_000));
    expect(wayOf(answer)).toBe('past');
    expect(answer).toContain(body);
  });

  it('counts a large body as it arrives, and gives it back once it is answered', async () => {
    const caller = await Caller.of(probe);
    const body = `{"say":"${'x'.repeat(99_000)}"}`;
    caller.socket.write(caller.head({}, body) + body.slice(0, 50_000));
    await eventually(() => probe.pressure.bodyBytesInFlight === 50_000);
    const answer = await caller.send(body.slice(50_000));
    expect([wayOf(answer), answer.includes(body)]).toEqual(['past', true]);
    await eventually(() => probe.pressure.bodyBytesInFlight === 0);
    caller.socket.write(caller.head({}, body) + body.slice(0, 50_000));
    await eventually(() => probe.pressure.bodyBytesInFlight === 50_000);
    caller.socket.destroy();
    await eventually(() => probe.pressure.bodyBytesInFlight === 0);
  });

  const others: [name: string, lines: Lines, status: number][] = [
    ['another content type', { 'Content-Type': 'application/json; charset=latin1' }, 200],
    ['no content type', { 'Content-Type': null }, 200],
    ['an identity encoding', { 'Content-Encoding': 'identity' }, 200],
    ['a compressed body', { 'Content-Encoding': 'gzip' }, 415],
    ['an expectation', { Expect: '100-continue' }, 200],
    ['a version that is not served', { 'X-Service-Version': '1999-01' }, 400],
    ['no credential', { Authorization: null }, 401],
    ['a key that nobody knows', { Authorization: `Bearer ${mintSecret('rsk_', new SystemRandom())}` }, 401],
    ['a host that is none', { Host: 'a b' }, 400],
    ['no host', { Host: null }, 400],
    ['an expectation that is not known', { Expect: '200-ok' }, 400],
    ['a second host', { host: 'gateway.test' }, 400],
    ['a second credential', { authorization: 'Bearer rsk_other' }, 400],
  ];
  it.each(others)(
    "is Fastify's with %s, also after a plain one on its connection",
    async (_, lines, status) => {
      const caller = await Caller.of(probe);
      expect(wayOf(await caller.ask())).toBe('past');
      const answer = (await caller.ask(lines)).replace('HTTP/1.1 100 Continue\r\n\r\n', '');
      expect([statusOf(answer), wayOf(answer)]).toEqual([status, status === 200 ? 'fastify' : undefined]);
      if (status !== 200) expect(answer).toMatch(/^x-request-id: (req_[\w-]+)[^]*"request_id":"\1"/im);
    },
  );

  it("is Fastify's with a query, a chunked body, one over the limit, another path, and in HTTP/1.0", async () => {
    const caller = await Caller.of(probe);
    expect(wayOf(await caller.ask({}, BODY, '/v1/either?beta=true'))).toBe('fastify');
    const chunked = caller.head({ 'Content-Length': null, 'Transfer-Encoding': 'chunked' });
    expect(wayOf(await caller.send(`${chunked}f\r\n${BODY}\r\n0\r\n\r\n`))).toBe('fastify');
    const tooLarge = await Caller.of(probe);
    expect(statusOf(await tooLarge.ask({ 'Content-Length': String(BODY_LIMIT_BYTES + 1) }))).toBe(413);
    expect(statusOf(await caller.ask({}, BODY, '/v1/neither'))).toBe(404);
    expect(wayOf(await caller.ask())).toBe('past');
    const old = caller.head({ Connection: 'keep-alive' }, BODY, '/v1/either', '1.0');
    expect(wayOf(await caller.send(old + BODY))).toBe('fastify');
  });

  it('A2 is refused from the first request on that follows the end of its key', async () => {
    const principal = keyPrincipal();
    const caller = await Caller.of(probe, principal);
    expect(wayOf(await caller.ask())).toBe('past');
    probe.principals.add(caller.key, { ...principal, status: 'suspended' });
    expect(statusOf(await caller.ask())).toBe(403);
    probe.principals.add(caller.key, { ...principal, expiresAtMs: 1 });
    expect(statusOf(await caller.ask())).toBe(401);
    probe.principals.known.clear();
    expect(statusOf(await caller.ask())).toBe(401);
    probe.principals.add(caller.key, principal);
    expect(wayOf(await caller.ask())).toBe('past');
  });

  it("A2 is Fastify's where nothing is admitted, and a key that was revoked is refused at once", async () => {
    const principal = keyPrincipal({ accountVersion: 1 });
    const caller = await Caller.of(probe, principal);
    expect(wayOf(await caller.ask({}, BODY, '/v1/unadmitted'))).toBe('fastify');
    // Memory goes on with the old record.
    const { cached, known } = probe.principals;
    for (const [digest, found] of known) if (found === principal) cached.set(digest, found);
    known.clear();
    probe.versions.set(principal.accountId, 2);
    expect(statusOf(await caller.ask({}, BODY, '/v1/unadmitted'))).toBe(401);
  });

  it.each(['limited', 'broken', 'thrown'])('fails to the byte as through Fastify: %s', async (how) => {
    const caller = await Caller.of(probe);
    const body = `{"be":"${how}"}`;
    const past = await caller.ask({}, body);
    const through = await caller.ask({}, body, '/v1/either?');
    expect(statusOf(past)).toBe(how === 'limited' ? 429 : 500);
    expect(steady(past)).toBe(steady(through));
    expect(wayOf(await caller.ask())).toBe('past');
  });

  it('is counted as through Fastify, also where its caller leaves in the body', async () => {
    const own = await startProbe();
    try {
      const ways: string[][] = [];
      for (const target of ['/v1/either', '/v1/either?']) {
        const before = await countsOf(own);
        await (await Caller.of(own)).ask({}, BODY, target);
        await (await Caller.of(own)).ask({}, '{"be":"limited"}', target);
        const leaving = await Caller.of(own);
        leaving.socket.write(leaving.head({ 'Content-Length': '1000' }, BODY, target) + BODY);
        await eventually(() => own.drain.requestsInFlight > 0);
        leaving.socket.destroy();
        await eventually(() => own.drain.requestsInFlight === 0);
        const after = await countsOf(own);
        ways.push(
          after.map((line) => {
            const name = line.slice(0, line.lastIndexOf(' '));
            const was =
              before
                .find((other) => other.startsWith(name))
                ?.split(' ')
                .at(-1) ?? '0';
            return `${name} ${Number(line.split(' ').at(-1)) - Number(was)}`;
          }),
        );
      }
      expect(ways[0]).toEqual(ways[1]);
      expect(ways[0].length).toBe(3);
    } finally {
      await own.close();
    }
  });
});

describe('where something is other than always', () => {
  async function asked(options: ProbeOptions, before?: (probe: Probe) => void): Promise<string> {
    const probe = await startProbe(options);
    try {
      const caller = await Caller.of(probe);
      await caller.ask();
      before?.(probe);
      return await caller.ask();
    } finally {
      await probe.close();
    }
  }

  it("U09 a plain request is Fastify's: it is refused in a drain, and its connection ends", async () => {
    const answer = await asked({}, (probe) => void probe.close());
    expect(statusOf(answer)).toBe(503);
    expect(answer).toMatch(/^connection: close/im);
  });

  it("a plain request is Fastify's under pressure", async () => {
    const none = { some: Infinity, all: Infinity };
    const pressure = { delayMs: none, rssBytes: { some: 1, all: 1 }, bodyBytes: none };
    expect(statusOf(await asked({ pressure }))).toBe(503);
  });

  it('of large bodies that arrive at once, the one that passes the limit is read, dropped and 503', async () => {
    const none = { some: Infinity, all: Infinity };
    const bodyBytes = { some: 600_000, all: 800_000 };
    const probe = await startProbe({ pressure: { delayMs: none, rssBytes: none, bodyBytes } });
    try {
      const [first, second] = [await Caller.of(probe), await Caller.of(probe)];
      const body = `{"say":"${'x'.repeat(500_000)}"}`;
      first.socket.write(first.head({}, body) + body.slice(0, 400_000));
      await eventually(() => probe.pressure.bodyBytesInFlight === 400_000);
      expect(statusOf(await second.ask({}, body))).toBe(503);
      expect(probe.pressure.bodyBytesInFlight).toBe(400_000);
      const answer = await first.send(body.slice(400_000));
      expect([wayOf(answer), answer.includes(body)]).toEqual(['past', true]);
      await eventually(() => probe.pressure.bodyBytesInFlight === 0);
      // Its connection goes on.
      expect(wayOf(await second.ask({}, body))).toBe('past');
    } finally {
      await probe.close();
    }
  });

  it("a plain request is Fastify's where requests are traced", async () => {
    expect(wayOf(await asked({ otlpEndpoint: 'http://127.0.0.1:9' }))).toBe('fastify');
  });
});
