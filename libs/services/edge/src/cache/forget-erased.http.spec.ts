import { RequestContentsDouble, FixedClock } from '@gateway/testing';
import { hello, startEdge, testPrincipal, type EdgeUnderTest } from '../edge.fixture.js';
import { callerEndUserHash } from '../request/end-user-hash.js';
import { ForgetErased } from './forget-erased.js';
import { ResponseCache, type CachedAnswer } from './response-cache.js';

const MINUTE_MS = 60_000;
const NOON = Date.parse('2026-11-01T12:00:00Z');

function answerOf(endUserHash: string | null, requestedAtMs = NOON, accountId = 'acct_1'): CachedAnswer {
  const endUser = endUserHash === null ? null : { accountId, endUserHash, requestedAtMs };
  return { headers: {}, out: 'x', usage: {}, storedAtMs: NOON, endUser };
}

describe('kept answers of an erased end user', () => {
  let clock: FixedClock;
  let cache: ResponseCache;
  let erased: RequestContentsDouble;
  let failures: unknown[];
  let forgetting: ForgetErased;
  beforeEach(() => {
    clock = new FixedClock(new Date(NOON).toISOString());
    cache = new ResponseCache();
    erased = new RequestContentsDouble();
    failures = [];
    forgetting = new ForgetErased({
      cache,
      contents: erased,
      clock,
      onFailure: (failure) => failures.push(failure),
    });
  });
  afterEach(() => forgetting.stop());

  const kept = (...names: string[]): string[] => names.filter((name) => cache.find(name, Infinity, NOON));

  it('ERA-01 S10 go within seconds, of that account and up to the erasure alone', async () => {
    cache.store('ada', answerOf('ada'));
    cache.store('ada later', answerOf('ada', NOON + 1));
    cache.store('other account', answerOf('ada', NOON, 'acct_2'));
    cache.store('bob', answerOf('bob'));
    cache.store('nobody', answerOf(null));
    erased.erased.push({ accountId: 'acct_1', endUserHash: 'ada', erasedAtMs: NOON });
    await clock.advance(5_000);
    expect(kept('ada', 'ada later', 'other account', 'bob', 'nobody')).toEqual([
      'ada later',
      'other account',
      'bob',
      'nobody',
    ]);
  });

  it('go as well where the answer was under way at the erasure and is kept after it', async () => {
    cache.store('bob', answerOf('bob'));
    erased.erased.push({ accountId: 'acct_1', endUserHash: 'ada', erasedAtMs: NOON + 1 });
    await clock.advance(30 * MINUTE_MS);
    cache.store('ada', answerOf('ada', NOON));
    await clock.advance(5_000);
    expect(kept('ada', 'bob')).toEqual(['bob']);
  });

  it('go once the usage service can be asked again, however many were erased meanwhile', async () => {
    erased.isUnavailable = true;
    erased.atOnce = 3;
    for (let n = 0; n < 10; n += 1) {
      cache.store(`n${n}`, answerOf(`user ${n}`));
      erased.erased.push({ accountId: 'acct_1', endUserHash: `user ${n}`, erasedAtMs: NOON + n });
    }
    cache.store('bob', answerOf('bob'));
    await clock.advance(60 * MINUTE_MS);
    expect(failures.length).toBeGreaterThan(10);
    erased.isUnavailable = false;
    await clock.advance(5_000);
    expect(kept('n0', 'n5', 'n9', 'bob')).toEqual(['bob']);
  });

  it('nobody is asked while no answer of an end user is kept', async () => {
    cache.store('nobody', answerOf(null));
    await clock.advance(MINUTE_MS);
    expect(erased.asked).toBe(0);
    cache.store('ada', answerOf('ada'));
    await clock.advance(5_000);
    expect(erased.asked).toBeGreaterThan(0);
    erased.erased.push({ accountId: 'acct_1', endUserHash: 'ada', erasedAtMs: NOON });
    await clock.advance(10_000);
    const { asked } = erased;
    await clock.advance(MINUTE_MS);
    expect(erased.asked).toBe(asked);
  });
});

describe('an edge', () => {
  let edge: EdgeUnderTest;
  beforeAll(async () => {
    edge = await startEdge();
  });
  afterAll(() => edge.close());

  it('S10 keeps an answer under the end user it was for', async () => {
    const principal = testPrincipal('key_cached', { responseCache: { ttlMs: 60_000 } });
    const key = edge.addKey(principal);
    const cache = edge.app.app.get(ResponseCache, { strict: false });
    const ask = async (user?: string): Promise<string | null> => {
      const response = await edge.post(hello('simulator/chat', user === undefined ? {} : { user }), { key });
      await response.text();
      return response.headers.get('x-cache');
    };
    for (const user of ['ada', 'bob', undefined])
      expect([await ask(user), await ask(user)]).toEqual(['MISS', 'HIT']);
    cache.forget({
      accountId: 'acct_test',
      endUserHash: callerEndUserHash(principal, 'ada') ?? '',
      erasedAtMs: Infinity,
    });
    expect([await ask('bob'), await ask(), await ask('ada')]).toEqual(['HIT', 'HIT', 'MISS']);
  });
});
