import { eventually } from '@gateway/testing';
import { startFleet, type Fleet } from './harness/fleet.js';
import { START_MS } from './harness/modes.js';
import { ask, type Answered } from './harness/requests.js';
import { logIn, type PersonSession } from './harness/session.js';

/** Callers, as a proxy would name them. */
const GUESSER = '203.0.113.7';
const OWNER = '198.51.100.9';
/** A window of public reads of one address (public catalogue). */
const READS = 60;

/** Suite on the trust of an edge in `X-Forwarded-For`, as the services behind it see it. */
describe('a proxy before the fleet', () => {
  let fleet: Fleet;
  let person: PersonSession;
  /** The addresses of an edge that trusts no proxy, and of one that trusts this machine. */
  let edges: { trustsNone: string; trusts: string };

  beforeAll(async () => {
    fleet = await startFleet();
    person = await logIn(fleet);
    const { url } = await fleet.startReplica('edge', { TRUSTED_PROXIES: 'loopback' });
    edges = { trustsNone: fleet.url, trusts: url };
  }, START_MS);
  afterAll(async () => void (await fleet?.stop()), START_MS);

  const send = async (
    url: string,
    from: string,
    [method, path, body]: [method: string, path: string, body?: object],
  ): Promise<number> => {
    const through = { url, key: person.token };
    const { status } = await ask(through, method, path, { body, headers: { 'x-forwarded-for': from } });
    return status;
  };
  const logInFrom = (url: string, from: string, password = fleet.admin.password): Promise<number> =>
    send(url, from, ['POST', '/auth/login', { email: fleet.admin.email, password }]);
  /** Guesses at once, so that none has to wait for the one before; the next one has to wait half a minute. */
  const guessTenTimes = async (url: string): Promise<void> => {
    let refused = 0;
    const guess = async (): Promise<void> => {
      if ((await logInFrom(url, GUESSER, 'a guess')) === 401) refused += 1;
    };
    await Promise.all(Array.from({ length: 10 }, guess));
    // On a machine that stands still the first have failed, and the address has to wait, before the last have come.
    await eventually(
      async () => {
        if (refused < 10) await guess();
        return refused >= 10;
      },
      { timeoutMs: 60_000, intervalMs: 200 },
    );
  };
  const newest = async (action: string): Promise<{ ip: string }> => {
    const path = `/v1/orgs/${person.orgId}/audit-log?limit=1&action=${action}`;
    const { body } = await ask(fleet, 'GET', path, { key: person.token });
    return (body as { data: { ip: string }[] }).data[0];
  };
  const rename = (url: string, name: string): Promise<number> =>
    send(url, OWNER, ['PATCH', `/v1/orgs/${person.orgId}`, { name }]);
  const readPublicly = (url: string, from: (n: number) => string): Promise<number[]> =>
    Promise.all(
      Array.from({ length: READS + 1 }, (_, n) => send(url, from(n), ['GET', '/v1/public/brands'])),
    );

  describe('that the edge trusts', () => {
    it('has ten wrong passwords from one address keep that address waiting, and not the owner at another', async () => {
      await guessTenTimes(edges.trusts);
      expect(await logInFrom(edges.trusts, GUESSER)).toBe(429);
      expect(await logInFrom(edges.trusts, OWNER)).toBe(200);
    });

    it('EDGE-09 has the audit log name the address behind it', async () => {
      expect(await newest('auth.login')).toMatchObject({ ip: OWNER });
      expect(await rename(edges.trusts, 'behind a proxy')).toBe(200);
      expect(await newest('org.update')).toMatchObject({ ip: OWNER });
    });

    it('429 public reads of the address that used its own up, and of no other', async () => {
      const statuses = await readPublicly(edges.trusts, () => GUESSER);
      expect(statuses.filter((status) => status !== 200)).toEqual([429]);
      expect(await send(edges.trusts, OWNER, ['GET', '/v1/public/brands'])).toBe(200);
    });
  });

  /** Refreshes as a browser at this address would, with the cookie of a login there. */
  async function refreshAt(url: string, origin: string, at: Record<string, string> = {}): Promise<Answered> {
    const from = { 'x-forwarded-for': OWNER };
    const login = await ask({ url, key: '' }, 'POST', '/auth/login', { body: fleet.admin, headers: from });
    const cookie = /__Host-refresh=[^;]+/.exec(login.headers.get('set-cookie') ?? '')?.[0] ?? '';
    expect([login.status, cookie === '']).toEqual([200, false]);
    const headers = { cookie, origin, 'sec-fetch-site': 'same-origin', ...at };
    return ask({ url, key: '' }, 'POST', '/auth/refresh', { headers });
  }

  it('S05 a session is refreshed by its cookie at whichever edge the browser is, with no setting for it', async () => {
    const { status, body, headers } = await refreshAt(edges.trusts, edges.trusts);
    expect([status, headers.get('set-cookie')]).toEqual([200, expect.stringContaining('__Host-refresh=')]);
    const me = await ask({ url: edges.trusts, key: body.token as string }, 'GET', '/auth/me');
    expect(me.status).toBe(200);
    expect((await refreshAt(edges.trustsNone, edges.trustsNone)).status).toBe(200);
  });

  it('S05 a page of another origin, or one that names the host itself, has nothing of the cookie', async () => {
    const named: Record<string, string>[] = [{}, { 'x-forwarded-host': 'evil.example' }];
    for (const at of named) {
      const { status, headers } = await refreshAt(edges.trusts, 'https://evil.example', at);
      expect([status, headers.get('set-cookie')]).toEqual([403, null]);
    }
    expect((await refreshAt(edges.trusts, fleet.urls.keys)).status).toBe(403);
  });

  describe('that the edge does not trust', () => {
    it('has all callers wait for what it says came from one of them', async () => {
      await guessTenTimes(edges.trustsNone);
      expect(await logInFrom(edges.trustsNone, OWNER)).toBe(429);
    });

    it('EDGE-09 has the audit log name the connection’s address', async () => {
      expect(await rename(edges.trustsNone, 'behind a stranger')).toBe(200);
      expect(await newest('org.update')).toMatchObject({ ip: '127.0.0.1' });
    });

    it('429 public reads of whatever addresses it names', async () => {
      const statuses = await readPublicly(edges.trustsNone, (n) => `203.0.113.${n}`);
      expect(statuses.filter((status) => status !== 200)).toEqual([429]);
    });
  });
});
