import type { LimitStore } from '@gateway/contracts';
import { fixedClock, seededRandom, type FixedClock } from '@gateway/testing';
import { InProcessLimitStore } from './in-process/in-process-limit-store.js';
import {
  KEY,
  limitDrivers,
  limited,
  mirror,
  open,
  put,
  rejection,
  request,
  SCOPES,
} from './conformance.fixture.js';

const { drivers, redis } = limitDrivers();

describe.each(drivers)('units in LimitStore $name', ({ make, reset }) => {
  let clock: FixedClock;
  let store: LimitStore;

  beforeEach(async () => {
    await reset();
    clock = fixedClock('2026-03-01T12:00:15.000Z');
    store = make(clock);
  });

  it('follows the table of put for a unit that is missing, reserved and unposted', async () => {
    await open(store);
    const money = async (): Promise<[bigint, bigint]> => {
      const state = await store.read('acct_1', [KEY]);
      expect([state.scopes[0].reservedNano, state.scopes[0].unpostedNano]).toEqual([
        state.reservedNano,
        state.unpostedNano,
      ]);
      return [state.reservedNano, state.unpostedNano];
    };
    const unit = request();
    await store.put([put('cancel', unit)]);
    expect(await money()).toEqual([0n, 0n]);
    await store.put([put('renew', unit), put('renew', unit)]);
    expect(await money()).toEqual([10n, 0n]);
    await store.put([put('cancel', unit)]);
    expect(await money()).toEqual([0n, 0n]);
    await store.put([
      put('renew', unit),
      put('settle', unit, { nano: 7n }),
      put('settle', unit, { nano: 7n }),
    ]);
    expect(await money()).toEqual([0n, 7n]);
    await store.put([put('renew', unit), put('cancel', unit)]);
    expect(await money()).toEqual([0n, 7n]);
    await store.put([put('settle', request(), { nano: 5n })]);
    expect(await money()).toEqual([0n, 12n]);
    await store.put([put('settle', request(), { nano: 0n }), put('renew', request())]);
    expect(await store.read('acct_1', [])).toMatchObject({ unpostedUnits: 3, reservedUnits: 1 });
  });

  it('LIM-19 counts what was settled by a time of the store apart from what was settled later', async () => {
    await open(store);
    const [first, second] = [request(), request()];
    for (const asked of [first, second]) await store.admit(asked);
    await store.put([put('settle', first, { nano: 4n })]);
    const { asOf } = await store.read('acct_1', []);
    await clock.advance(10);
    await store.put([put('settle', second, { nano: 4n })]);
    const unposted = async (settledBy?: number): Promise<number> =>
      (await store.read('acct_1', [], settledBy)).unpostedUnits;
    expect([await unposted(asOf - 1), await unposted(asOf), await unposted(asOf + 9)]).toEqual([0, 1, 1]);
    expect([await unposted(asOf + 10), await unposted()]).toEqual([2, 2]);
  });

  it('frees a reservation past its lease, keeps one that was renewed, never a settled one', async () => {
    await open(store);
    const [lapsing, renewed, settled] = [request(), request(), request()];
    for (const asked of [lapsing, renewed, settled]) await store.admit(asked);
    await store.put([put('settle', settled, { nano: 4n })]);
    await clock.advance(60_000);
    await store.put([put('renew', renewed)]);
    await clock.advance(30_000);
    expect(await store.read('acct_1', [])).toMatchObject({ reservedNano: 10n, unpostedNano: 4n });
    await clock.advance(60_000);
    expect(await store.read('acct_1', [])).toMatchObject({ reservedNano: 0n, unpostedNano: 4n });
  });

  it('a mirror of an older ledger version is passed over, an equal one is taken, a crash frees reservations only', async () => {
    await open(store, { version: 5, balanceNano: 50n });
    const scopes = limited('org', { capNano: 100n });
    const [running, settled] = [request(), request()];
    await store.put([put('renew', settled)]);
    await store.put([put('renew', running), put('settle', settled, { nano: 30n })]);
    const crashed = [running, settled].map(({ unitId: unit }) => ({ unit, crash: true }));
    await mirror(store, null, {
      version: 4,
      balanceNano: 0n,
      scopes: [{ kind: 'org', id: 'org-1', postedNano: 100n }],
      units: crashed,
    });
    await mirror(store, null, { version: 4, balanceNano: 0n, units: crashed });
    expect(await store.read('acct_1', [])).toMatchObject({ reservedNano: 0n, unpostedNano: 30n });
    expect(await store.admit(request({ scopes, reservationNano: 1n }))).toMatchObject({ kind: 'ok' });
    await mirror(store, null, {
      version: 5,
      balanceNano: 50n,
      scopes: [{ kind: 'org', id: 'org-1', postedNano: 100n }],
    });
    expect(rejection(await store.admit(request({ scopes })))).toMatchObject({ scope: 'org', current: '131' });
  });

  it('names due units oldest first: settled after 5 s, reserved at the end of their lease', async () => {
    await open(store);
    const [reserved, first, second] = [request({ leaseMs: 6_000 }), request(), request()];
    for (const asked of [reserved, first, second]) await store.admit(asked);
    await store.put([put('settle', first)]);
    await clock.advance(2_000);
    await store.put([put('settle', second)]);
    expect(await store.due('acct_1', 10)).toEqual([]);
    await clock.advance(5_000);
    expect(await store.due('acct_1', 10)).toEqual([first.unitId, reserved.unitId, second.unitId]);
    await clock.advance(5_000);
    await mirror(store, null, { units: [{ unit: first.unitId, crash: false }] });
    expect(await store.due('acct_1', 10)).toEqual([reserved.unitId, second.unitId]);
  });

  it('names every due unit in turn, however many before it the ledger does not know yet', async () => {
    await open(store);
    const units = Array.from({ length: 7 }, () => request());
    for (const unit of units) {
      await store.admit(unit);
      await store.put([put('settle', unit)]);
      await clock.advance(1);
    }
    await clock.advance(5_000);
    const named: string[] = [];
    for (let round = 0; round < 4; round += 1) named.push(...(await store.due('acct_1', 2)));
    expect(named).toEqual(units.map(({ unitId: unit }) => unit));
  });

  it('a cancelled unit gives its counts back, in the windows that it was counted in', async () => {
    await open(store);
    const kept = request();
    const [first, second] = [request(), request()];
    for (const asked of [kept, first, second]) await store.admit(asked);
    await store.put([put('cancel', first), put('cancel', first)]);
    expect((await store.read('acct_1', [KEY])).scopes).toMatchObject([{ rpm: 2, rpd: 2, tpm: 200 }]);
    await clock.advance(60_000);
    await store.admit(request());
    await store.put([put('cancel', second)]);
    expect((await store.read('acct_1', [KEY])).scopes).toMatchObject([{ rpm: 1, rpd: 2, tpm: 100 }]);
    // A unit that is only known from a renewal was never counted here.
    const unknown = request();
    await store.put([put('renew', unknown)]);
    await store.put([put('cancel', unknown)]);
    expect((await store.read('acct_1', [KEY])).scopes).toMatchObject([{ rpm: 1, rpd: 2, tpm: 100 }]);
  });

  it('clamps money past 2^53 - 1 nano-USD towards refusing', async () => {
    const vast = 10n ** 20n;
    await open(store, {
      balanceNano: vast,
      scopes: SCOPES.map(({ kind, id }) => ({ kind, id, postedNano: vast })),
    });
    const scopes = limited('org', { capNano: 2n * vast });
    expect(rejection(await store.admit(request({ scopes })))).toMatchObject({
      metric: 'spend_cap',
      limit: '9007199254740991',
    });
    expect(await store.admit(request())).toMatchObject({ kind: 'ok' });
    await mirror(store, null, { version: 2, balanceNano: -vast });
    expect(rejection(await store.admit(request({ creditLimitNano: 2n * vast })))).toMatchObject({
      metric: 'balance',
    });
  });
});

describe('what a store keeps', () => {
  it('Redis: a record at rest expires after two days, one with unposted or reserved money never', async () => {
    await redis().client.flushdb();
    const clock = fixedClock('2026-03-01T12:00:15.000Z');
    const store = drivers[1].make(clock);
    await open(store);
    const record = 'scope:{acct_1}:key:k1';
    expect(await redis().client.ttl(record)).toBeGreaterThan(86_400);
    const unit = request();
    await store.admit(unit);
    expect(await redis().client.ttl(record)).toBe(-1);
    await store.put([put('settle', unit)]);
    expect(await redis().client.ttl(record)).toBe(-1);
    await mirror(store, null, { version: 2, units: [{ unit: unit.unitId, crash: false }] });
    expect(await redis().client.ttl(record)).toBeGreaterThan(86_400);
  });

  it('in process: idle accounts are swept, unposted money stays, and a start begins with the counts of today', async () => {
    const clock = fixedClock('2026-03-01T12:00:15.000Z');
    const store = new InProcessLimitStore({ clock, random: seededRandom(1) });
    store.seed([{ accountId: 'acct_1', kind: 'key', id: 'k1', rpm: 4, rpd: 40, tpm: 400 }]);
    await open(store);
    const scopes = limited('key', { rpd: 41 });
    expect(await store.admit(request({ scopes }))).toMatchObject({
      counters: [{ rpm: 5, rpd: 41, tpm: 500 }, {}, {}, {}, {}],
    });
    expect(rejection(await store.admit(request({ scopes }))).metric).toBe('rpd');
    await store.put([put('settle', request(), { nano: 9n })]);
    const idle = Array.from({ length: 50 }, (_, n) => ({
      accountId: `idle_${n}`,
      kind: 'key' as const,
      id: 'k',
      rpm: 1,
      rpd: 1,
      tpm: 1,
    }));
    store.seed(idle);
    // Their edges ended: nothing settles them, and no admission of theirs comes after the lease.
    for (let n = 0; n < 30; n++) {
      const unit = request({ accountId: `lapsed_${n}` });
      const stale = await store.admit(unit);
      if (stale.kind !== 'stale') throw new Error(`a new account answered ${stale.kind}`);
      await store.stamp(unit.accountId, 1, stale.gen);
      await mirror(store, stale.gen, { accountId: unit.accountId });
      expect(await store.admit(unit)).toMatchObject({ kind: 'ok' });
    }
    expect(store.size).toBeGreaterThan(80);
    await clock.advance(4 * 86_400_000);
    await store.admit(request({ accountId: 'other' }));
    expect(await store.read('acct_1', [KEY])).toMatchObject({ unpostedNano: 9n, reservedNano: 0n });
    expect(store.size).toBeLessThan(20);
  });

  it('in process: a sweep forgets no credential that was counted in this minute', async () => {
    const clock = fixedClock('2026-03-01T12:00:15.000Z');
    const store = new InProcessLimitStore({ clock, random: seededRandom(1) });
    const count = () => store.countOnCredential({ id: 'cred_a', rpm: 1, tpm: null, tokens: 1 });
    await open(store);
    await clock.advance(60 * 60_000);
    await count();
    await store.admit(request());
    expect(await count()).toEqual({ fullForMs: 45_000 });
  });
});
