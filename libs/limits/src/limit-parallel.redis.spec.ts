import type { AdmitRequest, AdmitResult, LimitStore } from '@gateway/contracts';
import { fixedClock, redisScripts, seededRandom, testRedis } from '@gateway/testing';
import type { RedisScripts, TestRedis } from '@gateway/testing';
import { KEY, limited, mirror, open, put, rejection, request, SCOPES } from './conformance.fixture.js';
import { InProcessLimitStore } from './in-process/in-process-limit-store.js';
import { AdmitCalls, decodeAdmit, type Left } from './redis/admit-calls.js';
import { RedisLimitStore } from './redis/redis-limit-store.js';
import type { ScriptPipe } from './redis/script-pipe.js';

let database: TestRedis;
let connections: RedisScripts[];

beforeAll(async () => {
  database = await testRedis();
  connections = await Promise.all(Array.from({ length: 4 }, () => redisScripts(database.url)));
});

afterAll(async () => {
  for (const connection of connections) connection.close();
  await database.drop();
});

beforeEach(async () => void (await connections[0].client.flushdb()));

// A fixed time keeps a test that runs across a minute from counting in two windows; other tests use Redis TIME.
const AT = Date.parse('2026-03-01T12:00:15.000Z');

function stores(testNow?: () => number): RedisLimitStore[] {
  return connections.map(({ pipe }) => new RedisLimitStore({ pipe, random: seededRandom(1), testNow }));
}

function admitted(results: AdmitResult[]): number {
  return results.filter((result) => result.kind === 'ok').length;
}

describe('R01 the limit holds over parallel clients', () => {
  it('LIM-01 admits exactly 100 of 640 requests sent by 4 clients with 16 in flight each', async () => {
    const clients = stores(() => AT);
    await open(clients[0]);
    const scopes = limited('key', { rpm: 100 });
    const results: AdmitResult[] = [];
    const caller = async (store: LimitStore): Promise<void> => {
      for (let count = 0; count < 10; count += 1) results.push(await store.admit(request({ scopes })));
    };
    await Promise.all(clients.flatMap((store) => Array.from({ length: 16 }, () => caller(store))));
    expect(results).toHaveLength(640);
    expect(admitted(results)).toBe(100);
    expect((await clients[0].read('acct_1', [KEY])).scopes[0]).toMatchObject({
      rpm: 100,
      reservedNano: 1_000n,
    });
  });
});

describe('B13 money holds over parallel requests', () => {
  const makers: [string, () => LimitStore[]][] = [
    ['Redis', () => stores()],
    [
      'in process',
      () => [new InProcessLimitStore({ clock: fixedClock('2026-03-01T12:00:00Z'), random: seededRandom(1) })],
    ],
  ];

  it.each(makers)('LIM-31 200 at once at a cap overrun it by at most one request (%s)', async (_, make) => {
    const clients = make();
    await open(clients[0]);
    const scopes = limited('key', { capNano: 95n });
    const results = await Promise.all(
      Array.from({ length: 200 }, (_, n) => clients[n % clients.length].admit(request({ scopes }))),
    );
    expect(admitted(results)).toBe(10);
    for (const result of results)
      if (result.kind !== 'ok')
        expect(rejection(result)).toMatchObject({ metric: 'spend_cap', reservationsOnly: true });
  });

  it.each(makers)(
    'one unit left of a budget lets one of 200 at once through, whichever edge they come to (%s)',
    async (_, make) => {
      const clients = make();
      const of = { id: 'bud_1', name: 'Ours', scope: { kind: 'org' as const, id: 'org-1' }, endMs: 200 };
      const extra = [{ name: 'b:100-200', rpm: null, rpd: null, tpm: null, capNano: 60n, budget: of }];
      const gen = await open(clients[0]);
      const missing = await clients[0].admit(request({ extra }));
      expect(missing.kind).toBe('missing');
      const posted = { kind: 'org' as const, id: 'org-1/b:100-200', postedNano: 50n };
      await mirror(clients[0], gen, { scopes: [posted] });
      const results = await Promise.all(
        Array.from({ length: 200 }, (_, n) => clients[n % clients.length].admit(request({ extra }))),
      );
      expect(admitted(results)).toBe(1);
      for (const result of results)
        if (result.kind !== 'ok')
          expect(rejection(result)).toMatchObject({
            scope: 'org',
            scopeId: 'org-1',
            budget: of,
            limit: '60',
          });
    },
  );

  it.each(makers)(
    'at the turn of a period a unit in flight stays in that in which it came, and the next begins with nothing (%s)',
    async (_, make) => {
      const [store] = make();
      const during = (name: string, endMs: number): Pick<AdmitRequest, 'extra'> => {
        const of = { id: 'bud_1', name: 'Ours', scope: { kind: 'org' as const, id: 'org-1' }, endMs };
        return { extra: [{ name, rpm: null, rpd: null, tpm: null, capNano: 15n, budget: of }] };
      };
      const periods = ['b:100-200', 'b:200-300'].map((name) => ({
        kind: 'org' as const,
        id: `org-1/${name}`,
      }));
      const gen = await open(store);
      await mirror(store, gen, { scopes: periods.map((period) => ({ ...period, postedNano: 0n })) });
      const [last, first] = [request(during('b:100-200', 200)), request(during('b:200-300', 300))];
      expect((await store.admit(last)).kind).toBe('ok');
      expect((await store.admit(first)).kind).toBe('ok');
      await store.put([put('settle', last, { nano: 12n }), put('settle', last, { nano: 12n })]);
      const counted = (await store.read('acct_1', periods)).scopes;
      expect(counted.map(({ reservedNano, unpostedNano }) => [reservedNano, unpostedNano])).toEqual([
        [0n, 12n],
        [10n, 0n],
      ]);
      await mirror(store, null, {
        version: 2,
        scopes: [{ ...periods[0], postedNano: 12n }],
        units: [{ unit: last.unitId, crash: false }],
      });
      const { scopes, posted } = await store.read('acct_1', periods);
      expect(scopes.map(({ reservedNano, unpostedNano }) => reservedNano + unpostedNano)).toEqual([0n, 10n]);
      expect(posted?.filter(({ kind }) => kind === 'org').map(({ nano }) => nano)).toEqual([12n, 0n]);
    },
  );

  it.each(makers)(
    'LIM-32 200 at once at a balance of one unit: exactly one is let in (%s)',
    async (_, make) => {
      const clients = make();
      await open(clients[0], { balanceNano: 10n });
      const results = await Promise.all(
        Array.from({ length: 200 }, (_, n) => clients[n % clients.length].admit(request())),
      );
      expect(admitted(results)).toBe(1);
    },
  );
});

describe('R04 Redis loses what it knew', () => {
  it('after FLUSHALL nothing reads as zero spend, and units put again count once', async () => {
    const [store] = stores();
    const before = await open(store);
    const scopes = limited('key', { capNano: 100n });
    const [running, settled] = [request({ scopes }), request({ scopes })];
    await store.admit(running);
    await store.admit(settled);
    await store.put([put('settle', settled, { nano: 60n })]);
    await connections[0].client.flushdb();
    await store.put([put('renew', running), put('settle', settled, { nano: 60n })]);
    await store.put([put('renew', running), put('settle', settled, { nano: 60n })]);
    const asked = request({ scopes });
    const stale = await store.admit(asked);
    if (stale.kind !== 'stale') throw new Error(stale.kind);
    expect(stale.gen).not.toBe(before);
    await store.stamp('acct_1', 1, before);
    expect((await store.admit(asked)).kind).toBe('stale');
    await store.stamp('acct_1', 1, stale.gen);
    await mirror(store, before, {});
    expect(await store.admit(asked)).toEqual({ kind: 'missing', gen: stale.gen });
    await mirror(store, stale.gen, { scopes: SCOPES.map(({ kind, id }) => ({ kind, id, postedNano: 30n })) });
    expect(rejection(await store.admit(asked))).toMatchObject({
      metric: 'spend_cap',
      current: '100',
      reservationsOnly: true,
    });
  });

  it('after a failover to a replica that lags, every total is asked for again', async () => {
    const [store, other] = stores();
    const gen = await open(store);
    const node = connections[0].pipe.nodeOf();
    const asked = request();
    connections[0].pretendNode('f'.repeat(40));
    const stale = await store.admit(asked);
    expect(stale).toEqual({ kind: 'stale', gen: expect.stringMatching(/^f{16}/) });
    expect(await store.version('acct_1')).toBeNull();
    await other.stamp('acct_1', 1, gen);
    expect((await store.admit(asked)).kind).toBe('stale');
    const made = stale.kind === 'stale' ? stale.gen : '';
    await store.stamp('acct_1', 1, made);
    expect(await store.admit(asked)).toEqual({ kind: 'missing', gen: made });
    await mirror(store, made, {});
    expect((await store.admit(asked)).kind).toBe('ok');
    connections[0].pretendNode(node);
  });

  it('a resent admit counts once, also where the script had to be sent anew', async () => {
    const [store] = stores(() => AT);
    await open(store);
    const asked = request();
    await store.admit(asked);
    await connections[0].client.script('FLUSH');
    const resent = await store.admit(asked);
    expect(resent).toMatchObject({ kind: 'ok', counters: [{ rpm: 1, rpd: 1 }, {}, {}, {}, {}] });
  });

  it('throws 503 service_unavailable with Retry-After of 1 to 5 s while Redis is away', async () => {
    const pipe: ScriptPipe = {
      prepare: (_script, [key]) => ({ key }),
      send: (_call, _args, answered) => answered(new Error('connection lost'), Buffer.alloc(0)),
      nodeOf: () => 'a'.repeat(16),
      hashSlotOf: () => 0,
    };
    const random = seededRandom(3);
    const store = new RedisLimitStore({ pipe, random });
    const seen = new Set<number | undefined>();
    const calls = [
      () => store.admit(request()),
      () => store.put([put('settle', request())]),
      () => store.version('acct_1'),
      () => store.read('acct_1', []),
    ];
    for (let round = 0; round < 20; round += 1) {
      for (const call of calls) {
        const error = await call().catch((thrown: unknown) => thrown);
        expect(error).toMatchObject({
          code: 'service_unavailable',
          status: 503,
          options: { shouldRetry: true },
        });
        seen.add((error as { options: { retryAfterSeconds?: number } }).options.retryAfterSeconds);
      }
    }
    expect([...seen].sort()).toEqual([1, 2, 3, 4, 5]);
  });
});

describe('what is left of the money', () => {
  it('comes with each admission: caps in the order of checking, then the balance', async () => {
    const [{ pipe }] = connections;
    const [store] = stores();
    await open(store, { balanceNano: 1_000n });
    const scopes = limited('org', { capNano: 95n });
    const extra = [{ name: 'm:a/b', rpm: null, rpd: null, tpm: null, capNano: 50n }];
    const gen = (await store.admit(request({ scopes, extra }))) as { gen: string };
    await mirror(store, gen.gen, {
      balanceNano: 1_000n,
      scopes: [{ kind: 'key', id: 'k1/m:a/b', postedNano: 7n }],
    });
    const calls = new AdmitCalls(pipe);
    const leftOf = async (asked: AdmitRequest): Promise<Left> => {
      const call = calls.of(asked);
      const args = [pipe.nodeOf(), '', asked.unitId, calls.numbersOf(asked)];
      const bytes = await new Promise<Buffer>((resolve) =>
        pipe.send(call.prepared, args, (_failure, answer) => resolve(answer)),
      );
      return decodeAdmit(bytes, call, asked).left;
    };
    const capped = request({ scopes, extra, creditLimitNano: 5n });
    expect(await leftOf(capped)).toEqual([null, 33, null, null, null, 85, 995]);
    const unlimited = request({ creditLimitNano: null, reservationNano: 0n });
    expect(await leftOf(unlimited)).toEqual([null, null, null, null, null, null]);
  });
});

describe('windows by Redis TIME', () => {
  it('R03 counts by the clock of Redis, whatever the clients think the time is', async () => {
    const [store] = stores();
    await open(store);
    const [seconds] = await connections[0].client.time();
    const result = await store.admit(request());
    if (result.kind !== 'ok') throw new Error(result.kind);
    expect(result.minute - Math.floor(Number(seconds) / 60)).toBeLessThanOrEqual(1);
    expect(result.minute).toBeGreaterThanOrEqual(Math.floor(Number(seconds) / 60));
    expect(result.minuteResetSeconds).toBeGreaterThanOrEqual(1);
    expect(result.minuteResetSeconds).toBeLessThanOrEqual(60);
  });
});
