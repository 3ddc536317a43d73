import { ApiError, type Clock, type Credential } from '@gateway/contracts';
import {
  eventually,
  FixedClock,
  keyPrincipal,
  LimitStoreDouble,
  PatientClock,
  seededRandom,
  startUpstreamDouble,
  type UpstreamDouble,
} from '@gateway/testing';
import { InternalHttp, SystemClock } from '@gateway/platform';
import { HttpPrincipalReader } from './http-principal-reader.js';

const MINUTE = 60_000;
const NEW_KEYS = '/internal/principals/keys';
const credential: Credential = { kind: 'key', digest: 'd1' };

/** A keys service that answers what the test wants. */
class KeysService {
  answer: { status: number; body?: unknown; etag?: string } = {
    status: 200,
    body: keyPrincipal(),
    etag: '"1"',
  };
  /** Promise that answers wait for while it is set. */
  gate: Promise<void> = Promise.resolve();

  constructor(readonly wire: UpstreamDouble) {
    wire.answer = async ({ headers, path, body }) => {
      const { status, body: json, etag } = this.answer;
      await this.gate;
      if (path === NEW_KEYS && (status === 200 || status === 401)) {
        const { digests } = JSON.parse(body.toString()) as { digests: string[] };
        const found = status === 200 ? { principal: json, etag } : null;
        return { status: 200, json: { keys: digests.map(() => found) } };
      }
      if (etag !== undefined && headers['if-none-match'] === etag) return { status: 304 };
      return { status, json, ...(etag !== undefined && { headers: { etag } }) };
    };
  }

  /** Credentials that were asked for, each alone. */
  get requests(): { token: unknown; etag: string | undefined; body: unknown }[] {
    return this.wire.seen.flatMap(({ headers, path, body: bytes }) => {
      const body = JSON.parse(bytes.toString());
      const asked =
        path === NEW_KEYS
          ? (body as { digests: string[] }).digests.map((digest) => ({ kind: 'key', digest }))
          : [body];
      return asked.map((each: unknown) => ({
        token: headers['x-fleet-token'],
        etag: headers['if-none-match'],
        body: each,
      }));
    });
  }
}

describe('HttpPrincipalReader', () => {
  let keys: KeysService;
  let clock: FixedClock;
  let http: InternalHttp;
  let outcomes: string[];
  let reader: HttpPrincipalReader;
  /** Timeouts of the wire run on this clock; the ages of records on the test's. */
  let readBy: (wireClock: Clock) => void;
  let version: () => Promise<number | null>;
  /** Instant at which an admission last confirmed the account at this version. */
  let confirmed: { at: number; version: number } | null;

  beforeEach(async () => {
    keys = new KeysService(await startUpstreamDouble());
    clock = new FixedClock('2026-11-01T00:00:00Z');
    const random = seededRandom(1);
    version = async () => 1;
    const limits = new LimitStoreDouble({ clock, random });
    limits.version = () => version();
    confirmed = null;
    limits.confirmedAt = (_accountId, asked) =>
      confirmed?.version === asked ? confirmed.at : Number.NEGATIVE_INFINITY;
    outcomes = [];
    const onOutcome = (outcome: string): void => void outcomes.push(outcome);
    readBy = (wireClock) => {
      const services = { keys: keys.wire.url };
      http = new InternalHttp({ clock: wireClock, random, fleetToken: 't', services });
      reader = new HttpPrincipalReader({ http, limits, clock, random, onOutcome });
    };
    readBy(new PatientClock('2026-11-01T00:00:00Z'));
  });
  afterEach(async () => {
    await http.close();
    await keys.wire.close();
  });

  const away = (): void => {
    keys.answer = { status: 500 };
  };

  it('asks once with the fleet’s token, then answers from memory', async () => {
    const first = await reader.resolve(credential);
    expect(await reader.resolve(credential)).toBe(first);
    expect(keys.requests).toEqual([{ token: 't', etag: undefined, body: credential }]);
  });

  it('K14 reads a key by id for who looks at it: 404 is not_found, any other failure 503', async () => {
    expect(await reader.keyById('key_1', ['acct_1'])).toMatchObject({ kind: 'key', keyId: 'key_1' });
    expect(keys.requests).toEqual([
      { token: 't', etag: undefined, body: { key_id: 'key_1', account_ids: ['acct_1'] } },
    ]);
    keys.answer = { status: 404, body: { error: { code: 'not_found' } } };
    await expect(reader.keyById('key_1', [])).rejects.toMatchObject({ code: 'not_found' });
    for (const answer of [{ status: 404 }, { status: 500 }, { status: 200, body: { kind: 'session' } }]) {
      keys.answer = answer;
      await expect(reader.keyById('key_1', [])).rejects.toMatchObject({ code: 'service_unavailable' });
    }
  });

  it('reports what the cache did and how each lookup ended', async () => {
    await reader.resolve(credential);
    await reader.resolve(credential);
    await reader.reload(credential);
    away();
    await expect(reader.reload(credential)).rejects.toThrow();
    keys.answer = { status: 401 };
    const unknown: Credential = { kind: 'key', digest: 'd2' };
    for (let asked = 0; asked < 2; asked += 1) await expect(reader.resolve(unknown)).rejects.toThrow();
    expect(outcomes).toEqual(['loaded', 'hit', 'unchanged', 'failed', 'unknown', 'negative']);
  });

  it('asks once for many callers at a time', async () => {
    await Promise.all(Array.from({ length: 50 }, () => reader.resolve(credential)));
    expect(keys.requests).toHaveLength(1);
  });

  it('K15 remembers an unknown credential for 5 s', async () => {
    keys.answer = { status: 401 };
    const refusal = expect.objectContaining({ code: 'unauthorized' });
    await expect(reader.resolve(credential)).rejects.toThrow(refusal);
    await expect(reader.resolve(credential)).rejects.toThrow(refusal);
    expect(keys.requests).toHaveLength(1);
    await clock.advance(5_000);
    keys.answer = { status: 200, body: keyPrincipal() };
    expect(await reader.resolve(credential)).toMatchObject({ keyId: 'key_1' });
  });

  it.each([500, 403, 404, 200])(
    'K07 503, never 401, 403 or 404, where the lookup answers %s without a key',
    async (status) => {
      keys.answer = { status, body: { nothing: true } };
      await expect(reader.resolve(credential)).rejects.toThrow(
        expect.objectContaining({ code: 'service_unavailable', status: 503 }),
      );
    },
  );

  it('tries a lookup that had no answer once more', async () => {
    away();
    await expect(reader.resolve(credential)).rejects.toThrow(ApiError);
    expect(keys.requests).toHaveLength(2);
  });

  it.each([
    ['first look-up', 500, () => reader.resolve(credential)],
    ['reload', 250, () => reader.reload(credential)],
  ])('gives up a %s after %i ms and one more', async (_name, milliseconds, look) => {
    await http.close();
    readBy(new SystemClock());
    let open: () => void = () => undefined;
    keys.gate = new Promise((resolve) => (open = resolve));
    const startedAt = performance.now();
    await expect(look()).rejects.toThrow(expect.objectContaining({ status: 503 }));
    expect(performance.now() - startedAt).toBeGreaterThan(2 * milliseconds - 10);
    open();
  });

  it('asks for 64 new keys at once, and a flood of unknown ones takes 4 requests at a time', async () => {
    let open: () => void = () => undefined;
    keys.gate = new Promise((resolve) => (open = resolve));
    const lookUp = (n: number): Promise<unknown> =>
      reader.resolve({ kind: 'key', digest: `d${n}` }, { clientIp: `10.0.0.${n % 20}` });
    const answers = Array.from({ length: 1_000 }, (_, n) => lookUp(n));
    await eventually(() => keys.wire.seen.length === 4);
    expect(keys.requests).toHaveLength(4 * 64);
    open();
    await Promise.all(answers);
    expect(keys.wire.seen).toHaveLength(Math.ceil(1_000 / 64));
  });

  it('K15 a flood of unknown keys refuses no new key of its own address, and keeps no known one from being confirmed', async () => {
    const known: Credential = { kind: 'key', digest: 'known' };
    await reader.resolve(known);
    await clock.advance(MINUTE);
    let open: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (open = resolve));
    const keysService = keys.wire.answer;
    keys.wire.answer = async (request) => {
      if (request.path !== NEW_KEYS) return keysService(request);
      await gate;
      const { digests } = JSON.parse(request.body.toString()) as { digests: string[] };
      const found = { principal: keyPrincipal(), etag: '"1"' };
      return {
        status: 200,
        json: { keys: digests.map((digest) => (digest.startsWith('new') ? found : null)) },
      };
    };
    const ask = (digest: string): Promise<unknown> =>
      reader.resolve({ kind: 'key', digest }, { clientIp: '127.0.0.1' }).catch((refusal: unknown) => refusal);
    const flood = Array.from({ length: 3_000 }, (_, n) => ask(`unknown${n}`));
    const fresh = Array.from({ length: 20 }, (_, n) => ask(`new${n}`));
    const shed = await flood[300];
    expect(shed).toMatchObject({ status: 503 });
    await reader.resolve(known);
    await eventually(() => outcomes.includes('unchanged'));
    open();
    for (const each of await Promise.all(fresh)) expect(each).toMatchObject({ keyId: 'key_1' });
    const refused = (await Promise.all(flood)).map((refusal) => (refusal as ApiError).status);
    expect(refused.at(-1)).toBe(401);
    expect(outcomes.filter((outcome) => outcome === 'shed')).toHaveLength(
      refused.filter((status) => status === 503).length,
    );
    expect(outcomes).not.toContain('failed');
  });

  it('revalidates in the background after 60 s, by ETag', async () => {
    const first = await reader.resolve(credential);
    await clock.advance(MINUTE);
    expect(await reader.resolve(credential)).toBe(first);
    await eventually(() => keys.requests.length === 2);
    expect(keys.requests[1].etag).toBe('"1"');
  });

  it('does not ask again while admissions find the account unchanged, up to 15 min', async () => {
    const first = await reader.resolve(credential);
    for (let second = 0; second < 7 * 60; second += 15) {
      await clock.advance(15_000);
      confirmed = { at: clock.monotonic(), version: 1 };
      expect(await reader.resolve(credential)).toBe(first);
    }
    expect(keys.requests).toHaveLength(1);
    await clock.advance(8 * MINUTE);
    confirmed = { at: clock.monotonic(), version: 1 };
    expect(await reader.resolve(credential)).toBe(first);
    await eventually(() => keys.requests.length === 2);
  });

  it('K10 an account that admissions find changed, or that nobody admits, is asked for again', async () => {
    await reader.resolve(credential);
    await clock.advance(MINUTE);
    confirmed = { at: clock.monotonic(), version: 2 };
    await reader.resolve(credential);
    await eventually(() => keys.requests.length === 2);
    await eventually(() => outcomes.includes('unchanged'));
    confirmed = { at: clock.monotonic(), version: 1 };
    await clock.advance(MINUTE);
    await reader.resolve(credential);
    await eventually(() => keys.requests.length === 3);
  });

  it('keys that came at once are not all due at once, and none before 30 s', async () => {
    const many = Array.from({ length: 100 }, (_, n): Credential => ({ kind: 'key', digest: `d${n}` }));
    const useAll = (): Promise<unknown> => Promise.all(many.map((each) => reader.resolve(each)));
    const useAllAt = (ms: number): Promise<unknown> => clock.advance(ms - clock.monotonic()).then(useAll);
    const answered = (): number =>
      outcomes.filter((outcome) => outcome === 'loaded' || outcome === 'unchanged').length;
    await useAllAt(0);
    await useAllAt(29_999);
    expect(answered()).toBe(100);
    await useAllAt(45_000);
    await eventually(() => useAll().then(() => answered() > 120));
    expect(answered()).toBeLessThan(180);
    await useAllAt(60_000);
    await eventually(() => useAll().then(() => answered() === 200));
  });

  it('asks 16 at once in the background, and has Redis vouch for the others that are due', async () => {
    const many = Array.from({ length: 40 }, (_, n): Credential => ({ kind: 'key', digest: `d${n}` }));
    const useAll = (): Promise<unknown> => Promise.all(many.map((each) => reader.resolve(each)));
    await useAll();
    let open: () => void = () => undefined;
    keys.gate = new Promise((resolve) => (open = resolve));
    await clock.advance(MINUTE);
    outcomes.length = 0;
    await useAll();
    await useAll();
    await eventually(() => keys.requests.length === 40 + 16);
    expect(outcomes.filter((outcome) => outcome === 'unconfirmed')).toHaveLength(2 * 24);
    open();
    await eventually(() =>
      useAll().then(() => outcomes.filter((each) => each === 'unchanged').length === 40),
    );
  });

  it('a failure holds back all for a second, and asks nothing of Redis while a record is young', async () => {
    const other: Credential = { kind: 'key', digest: 'd2' };
    await Promise.all([reader.resolve(credential), reader.resolve(other)]);
    away();
    version = () => Promise.reject(new Error('connection refused'));
    await clock.advance(MINUTE - 1);
    await reader.resolve(credential);
    await eventually(() => outcomes.at(-1) === 'failed');
    expect(await reader.resolve(other)).toMatchObject({ keyId: 'key_1' });
    expect(keys.requests).toHaveLength(3);
  });

  it('K10 reload reads past the cache, also past a lookup that was under way before', async () => {
    await reader.resolve(credential);
    let open: () => void = () => undefined;
    keys.gate = new Promise((resolve) => (open = resolve));
    const before = reader.reload(credential);
    await eventually(() => keys.requests.length === 2);
    keys.answer = { status: 200, body: keyPrincipal({ accountVersion: 2 }), etag: '"2"' };
    const after = [reader.reload(credential), reader.reload(credential)];
    open();
    expect(await before).toMatchObject({ accountVersion: 1 });
    for (const principal of await Promise.all(after)) expect(principal).toMatchObject({ accountVersion: 2 });
    expect(keys.requests).toHaveLength(3);
  });

  it('a key that was revoked is refused after its reload', async () => {
    await reader.resolve(credential);
    keys.answer = { status: 401 };
    await expect(reader.reload(credential)).rejects.toThrow(
      expect.objectContaining({ code: 'unauthorized' }),
    );
    await expect(reader.resolve(credential)).rejects.toThrow(
      expect.objectContaining({ code: 'unauthorized' }),
    );
  });

  describe('while the keys service is away', () => {
    async function unconfirmedFor(milliseconds: number): Promise<void> {
      await reader.resolve(credential);
      away();
      await clock.advance(MINUTE);
      await reader.resolve(credential);
      await eventually(() => keys.requests.length === 2);
      await reader.reload(credential).catch(() => undefined);
      await clock.advance(milliseconds - MINUTE);
    }

    it('K07 serves warm keys for 15 min while Redis says that nothing changed', async () => {
      await unconfirmedFor(14 * MINUTE);
      expect(await reader.resolve(credential)).toMatchObject({ keyId: 'key_1' });
      await clock.advance(MINUTE);
      await expect(reader.resolve(credential)).rejects.toThrow(expect.objectContaining({ status: 503 }));
    });

    it('K07 serves no key for longer that admissions confirm', async () => {
      await reader.resolve(credential);
      away();
      const useAt = async (ms: number): Promise<unknown> => {
        await clock.advance(ms - clock.monotonic());
        confirmed = { at: clock.monotonic(), version: 1 };
        return reader.resolve(credential);
      };
      expect(await useAt(15 * MINUTE - 1)).toMatchObject({ keyId: 'key_1' });
      await expect(useAt(15 * MINUTE)).rejects.toThrow(expect.objectContaining({ status: 503 }));
    });

    it.each([
      ['the account changed', async () => 2],
      ['Redis does not know the account', async () => null],
      [
        'Redis is away too',
        async () => {
          throw new Error('connection refused');
        },
      ],
    ])('K07 503 where %s', async (_name, answer) => {
      await unconfirmedFor(2 * MINUTE);
      version = answer;
      await expect(reader.resolve(credential)).rejects.toThrow(expect.objectContaining({ status: 503 }));
    });
  });

  it('K11 a session does not outlive its token', async () => {
    const claims = Buffer.from(JSON.stringify({ exp: clock.now() / 1000 + 10 })).toString('base64url');
    const session: Credential = { kind: 'session', token: `e30.${claims}.c2ln` };
    keys.answer = {
      status: 200,
      body: {
        kind: 'session',
        userId: 'usr_1',
        sessionId: 'ses_1',
        accountId: 'a',
        accountVersion: 1,
        memberships: [],
      },
    };
    expect(await reader.resolve(session)).toMatchObject({ userId: 'usr_1' });
    await clock.advance(10_000);
    await expect(reader.resolve(session)).rejects.toThrow(expect.objectContaining({ code: 'unauthorized' }));
  });
});
