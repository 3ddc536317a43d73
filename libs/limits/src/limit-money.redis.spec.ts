import type { AdmitRequest, LimitStore } from '@gateway/contracts';
import { fixedClock, type FixedClock } from '@gateway/testing';
import fc from 'fast-check';
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

const { drivers } = limitDrivers();

const posted = (postedNano: bigint) => SCOPES.map(({ kind, id }) => ({ kind, id, postedNano }));

describe.each(drivers)('money in LimitStore $name', ({ make, reset }) => {
  let clock: FixedClock;
  let store: LimitStore;

  beforeEach(async () => {
    await reset();
    clock = fixedClock('2026-03-01T12:00:15.000Z');
    store = make(clock);
  });

  const held = async (): Promise<bigint> => (await store.read('acct_1', [])).reservedNano;

  it('holds the likely cost where all worst cases find room, and else the worst case', async () => {
    await open(store);
    const scopes = limited('team', { capNano: 250n });
    const dear = (): AdmitRequest => request({ scopes, reservationNano: 1n, worstNano: 100n });
    await store.admit(dear());
    await store.admit(dear());
    expect(await held()).toBe(2n);
    await store.admit(dear());
    expect(await held()).toBe(102n);
    expect(rejection(await store.admit(dear()))).toMatchObject({
      scope: 'team',
      current: '300',
      reservationsOnly: true,
    });
  });

  it('R1 a rejection says what is in flight at its worst case, in the scope, the account and its long work', async () => {
    await open(store, { balanceNano: 1_000n });
    const scopes = limited('team', { capNano: 100n });
    const batch = { name: 'held:batch', rpm: null, rpd: null, tpm: null };
    const elsewhere = SCOPES.filter(({ kind }) => kind !== 'team');
    await store.admit(request({ scopes: elsewhere, extra: [batch], reservationNano: 5n, worstNano: 300n }));
    await store.admit(request({ scopes, reservationNano: 1n, worstNano: 150n }));
    expect(rejection(await store.admit(request({ scopes }))).held).toEqual({
      ...{ scope: '150', account: '450', batch: '300', video: '0', realtime: '0' },
    });
    expect(rejection(await store.admit(request({ scopes: limited('org', { rpm: 0 }) }))).held).toBeNull();
  });

  it('R2 an admission says what the next unit finds under the tightest limit', async () => {
    await open(store, { balanceNano: 1_000n, scopes: posted(10n) });
    const room = async (change: Partial<AdmitRequest>): Promise<unknown> => {
      const result = await store.admit(request({ reservationNano: 1n, worstNano: 50n, ...change }));
      return 'remainingNano' in result ? result.remainingNano : result.kind;
    };
    expect(await room({})).toBe(950);
    expect(await room({ scopes: limited('member', { capNano: 200n }) })).toBe(90);
    expect(await room({ creditLimitNano: 30n, scopes: limited('member', { capNano: 5_000n }) })).toBe(880);
    expect(await room({ creditLimitNano: null })).toBeNull();
    expect(await room({ reservationNano: 0n, worstNano: 0n })).toBeNull();
    const model = { name: 'm:lab/one', rpm: null, rpd: null, tpm: null, capNano: 260n };
    const names = [...SCOPES, { kind: 'key' as const, id: 'k1/m:lab/one' }];
    const scopes = names.map(({ kind, id }) => ({ kind, id, postedNano: 10n }));
    const fresh = await store.admit(request({ extra: [model] }));
    if (fresh.kind === 'missing') await mirror(store, fresh.gen, { balanceNano: 1_000n, version: 2, scopes });
    expect(await room({ extra: [model] })).toBe(200);
  });

  it('LIM-31 LIM-32 B13 a cap and a balance are overrun by one request at most, however many come at once', async () => {
    const ways = fc.record({
      limit: fc.bigInt(1n, 500n),
      byCap: fc.boolean(),
      units: fc.array(fc.record({ likely: fc.bigInt(1n, 5n), more: fc.bigInt(0n, 400n) }), {
        minLength: 1,
        maxLength: 30,
      }),
    });
    await fc.assert(
      fc.asyncProperty(ways, async ({ limit, byCap, units }) => {
        await reset();
        store = make(clock);
        await open(store, byCap ? {} : { balanceNano: limit });
        const scopes = byCap ? limited('org', { capNano: limit }) : SCOPES;
        let admitted = 0n;
        let last = 0n;
        for (const { likely, more } of units) {
          const worstNano = likely + more;
          const { kind } = await store.admit(request({ scopes, reservationNano: likely, worstNano }));
          if (kind !== 'ok') continue;
          admitted += worstNano;
          last = worstNano;
        }
        // Each costs all that it may.
        expect(admitted - last).toBeLessThan(limit);
      }),
      { numRuns: 40 },
    );
  });

  it('gives back what a unit held when it is settled, cancelled or lapses', async () => {
    await open(store, { balanceNano: 100n });
    const dear = (): AdmitRequest => request({ reservationNano: 1n, worstNano: 90n });
    for (const end of ['settle', 'cancel', 'lapse', 'mirror']) {
      const unit = dear();
      expect(await store.admit(unit)).toMatchObject({ kind: 'ok' });
      expect(await store.admit(dear())).toMatchObject({ kind: 'ok' });
      expect(rejection(await store.admit(dear()))).toMatchObject({
        metric: 'balance',
        reservationsOnly: true,
      });
      if (end === 'settle') await store.put([put('settle', unit, { nano: 0n })]);
      if (end === 'cancel') await store.put([put('cancel', unit)]);
      if (end === 'mirror')
        await mirror(store, null, { balanceNano: 100n, units: [{ unit: unit.unitId, crash: true }] });
      await clock.advance(90_000);
      expect(await held()).toBe(0n);
    }
  });

  it('holds nothing once all are gone, however dear they were together', async () => {
    const amounts = [2n ** 53n - 1n, 1n, 3n, 2n ** 60n, 4n];
    await open(store);
    for (const end of ['settle', 'cancel'] as const) {
      const units = amounts.map((reservationNano) => request({ reservationNano, creditLimitNano: null }));
      for (const unit of units) expect(await store.admit(unit)).toMatchObject({ kind: 'ok' });
      expect(await held()).toBe(2n ** 53n - 1n);
      await store.put(units.map((unit) => put(end, unit, { nano: 0n })));
      expect(await held()).toBe(0n);
      const lost = amounts.map((nano) => ({ unit: request(), nano }));
      for (const { unit, nano } of lost) await store.put([put('renew', unit, { nano })]);
      expect(await held()).toBe(2n ** 53n - 1n);
      await store.put(lost.map(({ unit }) => put(end, unit, { nano: 0n })));
      expect(await held()).toBe(0n);
    }
  });

  it('refuses nothing for good while a settle that found no unit may be counted twice', async () => {
    await open(store, { balanceNano: 50n });
    const overtaken = request();
    await store.put([put('settle', overtaken, { nano: 60n })]);
    expect(await store.admit(request())).toEqual({ kind: 'doubted' });
    // Whoever asks for due units asks the ledger, which has it.
    expect(await store.due('acct_1', 10)).toEqual([overtaken.unitId]);
    await mirror(store, null, { balanceNano: 50n, units: [{ unit: overtaken.unitId, crash: false }] });
    expect(await store.admit(request())).toMatchObject({ kind: 'ok' });

    await store.put([put('settle', request(), { nano: 60n })]);
    expect(await store.admit(request())).toEqual({ kind: 'doubted' });
    await clock.advance(7_000);
    expect(rejection(await store.admit(request()))).toMatchObject({
      metric: 'balance',
      reservationsOnly: false,
    });
  });

  it('doubts survive the admission that makes the account again', async () => {
    await store.put([put('settle', request(), { nano: 60n })]);
    await open(store, { balanceNano: 50n });
    expect(await store.admit(request())).toEqual({ kind: 'doubted' });
    expect(await store.admit(request({ scopes: limited('org', { rpm: 0 }) }))).toMatchObject({
      kind: 'refused',
    });
  });

  it('takes lower versions of a ledger that was restored, and none of the same ledger', async () => {
    const scopes = limited('key', { capNano: 50n });
    const gen = await open(store, { history: 7, version: 900, scopes: posted(10n) });
    await mirror(store, null, { history: 7, version: 899, scopes: posted(50n) });
    expect(await store.admit(request({ scopes }))).toMatchObject({ kind: 'ok' });
    await mirror(store, null, { history: 8, version: 3, scopes: posted(50n) });
    expect(rejection(await store.admit(request({ scopes })))).toMatchObject({
      metric: 'spend_cap',
      reservationsOnly: false,
    });
    await mirror(store, gen, { history: 8, version: 2, scopes: posted(0n) });
    expect(rejection(await store.admit(request({ scopes }))).reservationsOnly).toBe(false);
    const { posted: reported } = await store.read('acct_1', [KEY]);
    expect(reported).toContainEqual({ kind: 'key', id: 'k1', nano: 50n, version: 3 });
  });

  it('tells whose mirror is of an older version which later one it holds, each account its own', async () => {
    const scopes = posted(10n);
    await open(store, { history: 7, version: 900, scopes });
    const told = (accountId: string, history: number, version: number): Promise<number | null> =>
      store.mirror({ accountId, gen: null, history, version, balanceNano: 1n, scopes, units: [] });
    const others = ['acct_2', 'acct_3'].map((accountId) => told(accountId, 7, 5));
    expect(await Promise.all(others)).toEqual([null, null]);
    const three = [told('acct_2', 7, 5), told('acct_1', 7, 899), told('acct_3', 7, 4)];
    expect(await Promise.all(three)).toEqual([null, 900, 5]);
    expect([await told('acct_1', 7, 901), await told('acct_1', 8, 3)]).toEqual([null, null]);
  });
});
