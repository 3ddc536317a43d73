import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SystemClock } from '@gateway/platform';
import { DestinationRefused } from './destination.js';
import { startDnsServer, type DnsServer } from './dns-server.fixture.js';
import { GuardedHttp, type GuardedRequest } from './guarded-http.js';
import { isPublicAddress } from './public-address.js';
import { dnsResolver } from './resolver.js';

/** Forty ways to name what is not on the public Internet, as an address. */
const PRIVATE = [
  '0.0.0.0',
  '0.1.2.3',
  '10.0.0.1',
  '10.255.255.255',
  '100.64.0.1',
  '100.127.255.254',
  '127.0.0.1',
  '127.255.255.254',
  '168.63.129.16',
  '169.254.0.1',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.1',
  '192.0.2.1',
  '192.88.99.1',
  '192.168.0.1',
  '192.168.255.255',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::ffff:127.0.0.1',
  '::ffff:10.0.0.1',
  '::7f00:1',
  '64:ff9b::7f00:1',
  '64:ff9b:1::1',
  '100::1',
  '2001::1',
  '2001:db8::1',
  '2002:7f00:1::',
  '3fff::1',
  '5f00::1',
  'fc00::1',
  'fe80::1',
  'fec0::1',
];
const PUBLIC = ['1.1.1.1', '8.8.8.8', '93.184.215.14', '2606:4700::1111', '2a00:1450:4001::1', '172.32.0.1'];

const clock = new SystemClock();
let dns: DnsServer;
const servers: Server[] = [];

beforeAll(async () => (dns = await startDnsServer()));
afterAll(() => dns.close());
afterEach(() => servers.splice(0).forEach((server) => (server.closeAllConnections(), server.close())));

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const guarded = (more: Partial<ConstructorParameters<typeof GuardedHttp>[0]> = {}): GuardedHttp =>
  new GuardedHttp({ clock, resolve: dnsResolver([dns.place]), ...more });
const request = (url: string, more: Partial<GuardedRequest> = {}): GuardedRequest => ({
  url,
  method: 'POST',
  headers: {},
  body: '{}',
  connectTimeoutMs: 1_000,
  totalTimeoutMs: 3_000,
  maxBytes: 16_384,
  ...more,
});
const literal = (address: string): string => (address.includes(':') ? `[${address}]` : address);

describe('addresses', () => {
  it('there are forty of the inside and six of the outside', () => {
    expect([new Set(PRIVATE).size, PUBLIC.length]).toEqual([40, 6]);
    for (const address of PUBLIC) expect([address, isPublicAddress(address)]).toEqual([address, true]);
  });

  it.each(PRIVATE)('HOOK-12 W04 %s is refused as a literal and as an answer of DNS', async (address) => {
    const http = guarded();
    await expect(http.check(`https://${literal(address)}/x`)).rejects.toThrow(DestinationRefused);
    await expect(http.request(request(`https://${literal(address)}/x`))).rejects.toThrow(DestinationRefused);
    dns.names.set('inside.example', [{ addresses: [address] }]);
    await expect(http.check('https://inside.example/x')).rejects.toThrow(DestinationRefused);
    dns.names.set('alias.example', [{ cname: 'inside.example', addresses: [address] }]);
    await expect(http.check('https://alias.example/x')).rejects.toThrow(DestinationRefused);
  });

  it.each(PUBLIC)('W04 %s passes as a literal and as an answer of DNS', async (address) => {
    await expect(guarded().check(`https://${literal(address)}/x`)).resolves.toBeUndefined();
    dns.names.set('outside.example', [{ addresses: [address] }]);
    await expect(guarded().check('https://outside.example/x')).resolves.toBeUndefined();
  });

  it.each([
    'http://2130706433/',
    'http://0x7f.1/',
    'http://017700000001/',
    'http://127.1/',
    'http://localhost/',
    'http://LOCALHOST./',
    'http://a.localhost/',
    'http://user@1.1.1.1/',
    'http://1.1.1.1:22/',
    'http://%31%32%37.0.0.1/',
    'http://１２７.0.0.1/',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'http://nowhere.example/',
    '',
  ])('W04 %s is refused', async (url) => {
    await expect(guarded().check(url)).rejects.toThrow(DestinationRefused);
  });

  it('says that nobody could say where DNS fails, which is no rejection of the address', async () => {
    dns.names.set('broken.example', 'servfail');
    const failure: unknown = await guarded()
      .check('https://broken.example/')
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(Error);
    expect(failure).not.toBeInstanceOf(DestinationRefused);
  });
});

describe('requests', () => {
  it('HOOK-13 W05 a name that moves inside after its check is refused, and one that is half inside', async () => {
    const place = await serve((_request, response) => response.end('inside'));
    const ports = [Number(place.split(':')[1])];
    dns.names.set('rebind.example', [{ addresses: ['1.1.1.1'] }, { addresses: ['127.0.0.1'] }]);
    const url = `http://rebind.example:${ports[0]}/`;
    await expect(guarded({ ports }).check(url)).resolves.toBeUndefined();
    await expect(guarded({ ports }).request(request(url))).rejects.toThrow(DestinationRefused);
    dns.names.set('mixed.example', [{ addresses: ['1.1.1.1', '127.0.0.1'] }]);
    await expect(guarded({ ports }).request(request(`http://mixed.example:${ports[0]}/`))).rejects.toThrow(
      DestinationRefused,
    );
  });

  it('W05 asks DNS once an attempt and connects to what it has checked', async () => {
    let asked = 0;
    const resolve = async (): Promise<string[]> => {
      asked += 1;
      return asked === 1 ? ['192.0.43.8'] : ['127.0.0.1'];
    };
    const place = await serve((_request, response) => response.end('inside'));
    const [, port] = place.split(':');
    const answer = guarded({ ports: [Number(port)], resolve }).request(
      request(`http://rebind.example:${port}/`, { connectTimeoutMs: 200, totalTimeoutMs: 500 }),
    );
    await expect(answer).rejects.toThrow();
    expect(asked).toBe(1);
  });

  it('W06 follows no redirect', async () => {
    let inside = 0;
    const hidden = await serve((_request, response) => (void (inside += 1), response.end()));
    const place = await serve((_request, response) =>
      response.writeHead(307, { location: `http://${hidden}/` }).end(),
    );
    const answer = await guarded({ allowPrivate: [place] }).request(request(`http://${place}/`));
    expect([answer.status, inside]).toEqual([307, 0]);
  });

  it('W04 W05 W06 each of the forty is refused as a literal, a name, a second answer of DNS and a redirect', async () => {
    let inside = 0;
    const target = await serve((_request, response) => (void (inside += 1), response.end()));
    const port = Number(target.split(':')[1]);
    const http = guarded({ ports: [port] });
    const isRefused = (url: string): Promise<boolean> =>
      http.request(request(url)).then(
        () => false,
        (failure: unknown) => failure instanceof DestinationRefused,
      );
    const refused = { literal: 0, name: 0, rebinding: 0, redirect: 0 };
    for (const [at, address] of PRIVATE.entries()) {
      if (await isRefused(`http://${literal(address)}:${port}/`)) refused.literal += 1;
      dns.names.set(`name-${at}.example`, [{ addresses: [address] }]);
      if (await isRefused(`http://name-${at}.example:${port}/`)) refused.name += 1;
      // As at registration, then as at the delivery.
      dns.names.set(`moving-${at}.example`, [{ addresses: ['1.1.1.1'] }, { addresses: [address] }]);
      const moving = `http://moving-${at}.example:${port}/`;
      await http.check(moving);
      if (await isRefused(moving)) refused.rebinding += 1;
      const location = `http://${literal(address)}:${port}/`;
      const place = await serve((_request, response) => response.writeHead(308, { location }).end());
      const answer = await guarded({ allowPrivate: [place] }).request(request(`http://${place}/`));
      if (answer.status === 308) refused.redirect += 1;
    }
    expect(refused).toEqual({ literal: 40, name: 40, rebinding: 40, redirect: 40 });
    expect(inside).toBe(0);
  });

  it('reaches a private destination that the operator has named, by this host and port alone', async () => {
    const place = await serve((_request, response) => response.end('hello'));
    const [, port] = place.split(':');
    const http = guarded({ allowPrivate: [place, `localhost:${port}`] });
    expect((await http.request(request(`http://${place}/`))).body.toString()).toBe('hello');
    expect((await http.request(request(`http://localhost:${port}/`))).status).toBe(200);
    await expect(http.check(`http://127.0.0.2:${port}/`)).rejects.toThrow(DestinationRefused);
    await expect(http.check('http://127.0.0.1:1/')).rejects.toThrow(DestinationRefused);
  });

  it('W07 ends with its time: a receiver of a byte at a time, or of none', async () => {
    const slow = await serve((_request, response) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write('x'), 50);
      response.on('close', () => clearInterval(timer));
    });
    const silent = await serve(() => undefined);
    const http = guarded({ allowPrivate: [slow, silent] });
    const answer = await http.request(request(`http://${slow}/`, { totalTimeoutMs: 400 }));
    expect([answer.status, answer.isCut]).toEqual([200, true]);
    await expect(http.request(request(`http://${silent}/`, { totalTimeoutMs: 400 }))).rejects.toThrow(
      '400 ms',
    );
  });

  it('W08 reads 16 KiB of an answer without end, and unpacks nothing', async () => {
    const endless = await serve((_request, response) => {
      const chunk = Buffer.alloc(65_536, 'x');
      const more = (): void =>
        void (response.write(chunk) ? setImmediate(more) : response.once('drain', more));
      more();
    });
    const bomb = await serve((_request, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(Buffer.from([0x1f, 0x8b, 1, 2, 3])),
    );
    const http = guarded({ allowPrivate: [endless, bomb] });
    const cut = await http.request(request(`http://${endless}/`));
    expect([cut.body.length, cut.isCut]).toEqual([16_384, true]);
    const packed = await http.request(request(`http://${bomb}/`));
    expect([...packed.body]).toEqual([0x1f, 0x8b, 1, 2, 3]);
  });
});
