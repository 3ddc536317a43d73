import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LimitScope, LimitStore } from '@gateway/contracts';
import {
  fixedClock,
  ownRedis,
  redisScripts,
  seededRandom,
  type FixedClock,
  type OwnServer,
  type RedisScripts,
} from '@gateway/testing';
import fc from 'fast-check';
import { KEY, limited, mirror, open, put, request, SCOPES } from './conformance.fixture.js';
import { LocalShare } from './in-process/local-share.js';
import { RedisLimitStore } from './redis/redis-limit-store.js';

const CAP = 300n;
const capped = limited('key', { capNano: CAP });

describe('a Redis at its maxmemory', () => {
  let server: OwnServer;
  let redis: RedisScripts;
  let clock: FixedClock;
  let store: LimitStore;

  beforeAll(async () => {
    server = await ownRedis();
    redis = await redisScripts(server.address);
  });
  afterAll(async () => {
    redis?.close();
    await server?.drop();
  });
  beforeEach(async () => {
    await roomy();
    await redis.client.flushdb();
    clock = fixedClock('2026-03-01T12:00:15.000Z');
    store = new RedisLimitStore({ pipe: redis.pipe, random: seededRandom(1), testNow: () => clock.now() });
  });

  /** One byte: it is full whatever it holds. */
  const full = async (): Promise<void> => void (await redis.client.config('SET', 'maxmemory', '1'));
  const roomy = async (): Promise<void> => void (await redis.client.config('SET', 'maxmemory', '0'));
  const unavailable = { code: 'service_unavailable' };

  it('OPS refuses a unit with 503 and counts none of it, and admits it once there is room', async () => {
    await open(store);
    const first = request({ scopes: capped });
    expect(await store.admit(first)).toMatchObject({ kind: 'ok' });
    const before = await store.read('acct_1', [KEY]);
    await full();
    const second = request({ scopes: capped });
    await expect(store.admit(second)).rejects.toMatchObject(unavailable);
    await expect(store.put([put('settle', first, { nano: 7n })])).rejects.toMatchObject(unavailable);
    await expect(store.put([put('renew', request())])).rejects.toMatchObject(unavailable);
    expect(await store.read('acct_1', [KEY])).toEqual(before);
    await roomy();
    expect(await store.admit(second)).toMatchObject({ kind: 'ok' });
    await store.put([put('settle', first, { nano: 7n })]);
    expect(await store.read('acct_1', [KEY])).toMatchObject({ reservedUnits: 1, unpostedNano: 7n });
  });

  it('OPS takes what the ledger has posted while it is full: postings make the room', async () => {
    await open(store);
    const units = Array.from({ length: 50 }, () => request());
    await store.put(units.map((unit) => put('settle', unit, { nano: 2n })));
    await full();
    await mirror(store, null, {
      version: 2,
      balanceNano: 900n,
      units: units.map(({ unitId }) => ({ unit: unitId, crash: false })),
    });
    expect(await store.read('acct_1', [])).toMatchObject({ unpostedUnits: 0, unpostedNano: 0n });
    expect(await redis.client.hlen('units:{acct_1}')).toBe(0);
  });

  it('OPS frees reservations that lapse while it is full, keeps their names, and still answers reads', async () => {
    await open(store);
    const lost = request({ reservationNano: 40n });
    expect(await store.admit(lost)).toMatchObject({ kind: 'ok' });
    await full();
    await clock.advance(91_000);
    expect(await store.read('acct_1', [KEY])).toMatchObject({ reservedUnits: 0, reservedNano: 0n });
    const { units, unnamed } = await store.unheard('acct_1', '0');
    expect([units, unnamed]).toEqual([[{ unit: lost.unitId, nano: 40n, state: 'lapsed' }], 0]);
  });

  it('OPS lets each edge admit by its own share and answers 503 past it, never over the cap, and ends with every cost', async () => {
    const cap = 30_000n;
    const scopes = limited('key', { capNano: cap });
    await open(store);
    const edges = [0, 1].map(
      () =>
        new RedisLimitStore({
          ...{ pipe: redis.pipe, random: seededRandom(1), testNow: () => clock.now() },
          share: new LocalShare(clock, 2),
        }),
    );
    const admitted = [];
    for (const edge of edges) {
      const unit = request({ scopes, reservationNano: 100n });
      expect(await edge.admit(unit)).toMatchObject({ kind: 'ok' });
      admitted.push(unit);
    }
    await full();
    const kinds = new Set<string>();
    for (let n = 0; n < 40; n += 1) {
      const unit = request({ scopes, reservationNano: 100n });
      const result = await edges[n % 2].admit(unit);
      kinds.add(result.kind);
      if (result.kind === 'ok') admitted.push(unit);
    }
    expect([...kinds].toSorted()).toEqual(['ok', 'unavailable']);
    // One per cent of what was left for each, passed by one request at most.
    expect(admitted.length).toBeLessThanOrEqual(2 + 2 * 3);
    await roomy();
    await store.put(admitted.map((unit) => put('settle', unit, { nano: 100n })));
    const { reservedNano, unpostedNano } = await store.read('acct_1', [KEY]);
    expect([reservedNano, unpostedNano]).toEqual([0n, 100n * BigInt(admitted.length)]);
  });

  it('OPS never passes a cap by more than one request, however it fills and empties, and ends with every cost', async () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('admit' as const), nano: fc.bigInt(1n, 60n) }),
      fc.record({ kind: fc.constantFrom('settle' as const, 'full' as const, 'roomy' as const) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60, size: 'max' }), async (steps) => {
        await roomy();
        await redis.client.flushdb();
        await open(store);
        let admitted = 0n;
        const waiting: ReturnType<typeof put>[] = [];
        const sent = async (): Promise<void> => {
          for (let next = waiting.at(0); next !== undefined; next = waiting.at(0)) {
            await store.put([next]);
            waiting.shift();
          }
        };
        const running: { unit: ReturnType<typeof request>; nano: bigint }[] = [];
        for (const one of steps) {
          if (one.kind === 'full') await full();
          else if (one.kind === 'roomy') await roomy();
          else if (one.kind === 'admit') {
            const unit = request({ scopes: capped, reservationNano: one.nano });
            const result = await store.admit(unit).catch(() => null);
            if (result?.kind !== 'ok') continue;
            expect(admitted).toBeLessThan(CAP);
            admitted += one.nano;
            running.push({ unit, nano: one.nano });
          } else {
            const ended = running.pop();
            if (ended !== undefined) waiting.push(put('settle', ended.unit, { nano: ended.nano }));
            await sent().catch(() => undefined);
          }
        }
        await roomy();
        await sent();
        const { reservedNano, unpostedNano } = await store.read('acct_1', [KEY]);
        expect(reservedNano + unpostedNano).toBe(admitted);
      }),
      { numRuns: 10, endOnFailure: true },
    );
  });
});

/** Bytes of the table of managed-services.md, by the text of their row. */
function documented(row: RegExp): number {
  const page = readFileSync(
    join(import.meta.dirname, '../../../docs/operations/managed-services.md'),
    'utf8',
  );
  const bytes = row.exec(page)?.[1];
  if (bytes === undefined) throw new Error(`managed-services.md has no row ${row.source}`);
  return Number(bytes);
}

describe('the memory of Redis', () => {
  const uuid = (n: number): string => `0193f5a0-0000-7000-8000-${String(n).padStart(12, '0')}`;

  it.each([
    { accounts: 200, keys: 1, units: 10 },
    { accounts: 1, keys: 300, units: 20 },
    { accounts: 20, keys: 5, units: 200 },
  ])('OPS is what the formula of managed-services.md says: %o', async ({ accounts, keys, units }) => {
    const server = await ownRedis();
    const redis = await redisScripts(server.address);
    const store = new RedisLimitStore({ pipe: redis.pipe, random: seededRandom(1) });
    const used = async (): Promise<number> =>
      Number(/^used_memory_dataset:(\d+)/m.exec(await redis.client.info('memory'))?.[1]);
    const before = await used();
    let n = 0;
    for (let account = 0; account < accounts; account += 1) {
      const accountId = `org_${uuid(account)}`;
      for (let key = 0; key < keys; key += 1) {
        const scopes: LimitScope[] = [
          { ...SCOPES[0], kind: 'key', id: uuid(account * 1_000 + key) },
          { ...SCOPES[0], kind: 'member', id: uuid(account) },
          { ...SCOPES[0], kind: 'org', id: uuid(account) },
        ];
        const settled = Array.from({ length: units }, () => {
          n += 1;
          return put('settle', request({ accountId, scopes, unitId: `req_${uuid(n)}/0` }), { nano: 1n });
        });
        await store.put(settled);
      }
    }
    const measured = (await used()) - before;
    const accountBytes = documented(/live accounts × (\d+) bytes/);
    const scopeBytes = documented(/live scopes[^|]* × (\d+) bytes/);
    const unitBytes = documented(/R × (\d+) bytes × seconds without the ledger/);
    const scopes = accounts * (keys + 3);
    const predicted = accounts * accountBytes + scopes * scopeBytes + n * unitBytes;
    expect(measured).toBeGreaterThan(0.8 * predicted);
    expect(measured).toBeLessThan(1.2 * predicted);
    redis.close();
    await server.drop();
  });
});
