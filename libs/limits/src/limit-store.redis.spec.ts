import { counterScope, HELD_KINDS, heldCounter, type HeldKind, type LimitStore } from '@gateway/contracts';
import { fixedClock, type FixedClock } from '@gateway/testing';
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

describe.each(drivers)('LimitStore $name', ({ make, reset }) => {
  let clock: FixedClock;
  let store: LimitStore;

  beforeEach(async () => {
    await reset();
    clock = fixedClock('2026-03-01T12:00:15.000Z');
    store = make(clock);
  });

  it('asks for a stamp of its own generation, then for posted totals, and only then admits', async () => {
    const asked = request();
    const stale = await store.admit(asked);
    expect(stale).toEqual({ kind: 'stale', gen: expect.any(String) });
    const gen = stale.kind === 'stale' ? stale.gen : '';
    await store.stamp('acct_1', 1, 'another generation');
    expect(await store.admit(asked)).toEqual({ kind: 'stale', gen });
    expect(await store.version('acct_1')).toBeNull();
    await store.stamp('acct_1', 1, gen);
    expect(await store.version('acct_1')).toBe(1);
    expect(await store.admit(asked)).toEqual({ kind: 'missing', gen });
    await mirror(store, null, {});
    expect(await store.admit(asked)).toEqual({ kind: 'missing', gen });
    await mirror(store, 'another generation', {});
    expect(await store.admit(asked)).toEqual({ kind: 'missing', gen });
    await mirror(store, gen, {});
    expect(await store.admit(asked)).toMatchObject({ kind: 'ok', minuteResetSeconds: 45 });
  });

  it('R07 a raised account version is stale at once, a lower one written late changes nothing', async () => {
    const gen = await open(store);
    await store.stamp('acct_1', 3, null);
    expect(await store.admit(request())).toEqual({ kind: 'stale', gen });
    await store.stamp('acct_1', 2, gen);
    expect(await store.version('acct_1')).toBe(3);
    expect(await store.admit(request({ accountVersion: 3 }))).toMatchObject({ kind: 'ok' });
  });

  it('LIM-01 counts requests in a fixed UTC minute and refuses the one past the limit', async () => {
    await open(store);
    const scopes = limited('key', { rpm: 3 });
    for (let count = 1; count <= 3; count += 1) {
      const result = await store.admit(request({ scopes }));
      expect(result).toMatchObject({
        kind: 'ok',
        counters: [{ kind: 'key', id: 'k1', rpm: count }, {}, {}, {}, {}],
      });
    }
    expect(rejection(await store.admit(request({ scopes })))).toMatchObject({
      metric: 'rpm',
      current: '3',
      resetsInSeconds: 45,
    });
    await clock.advance(44_999);
    expect(rejection(await store.admit(request({ scopes }))).resetsInSeconds).toBe(1);
    await clock.advance(1);
    expect(await store.admit(request({ scopes }))).toMatchObject({
      kind: 'ok',
      counters: [{ rpm: 1, rpd: 4 }, {}, {}, {}, {}],
    });
  });

  it('LIM-02 counts requests in a fixed UTC day', async () => {
    await open(store);
    const scopes = limited('key', { rpd: 2 });
    await store.admit(request({ scopes }));
    await clock.advance(3_600_000);
    await store.admit(request({ scopes }));
    expect(rejection(await store.admit(request({ scopes })))).toMatchObject({
      metric: 'rpd',
      resetsInSeconds: 39_585,
    });
    await clock.advance(39_585_000);
    expect(await store.admit(request({ scopes }))).toMatchObject({ kind: 'ok' });
  });

  describe.each(SCOPES.map((scope) => scope.kind))('a limit of the %s alone', (kind) => {
    it.each([
      ['rpm', { rpm: 1 }, '1'],
      ['rpd', { rpd: 1 }, '1'],
      ['tpm', { tpm: 100 }, '100'],
      ['spend_cap', { capNano: 10n }, '10'],
    ] as const)(
      'LIM-21 R02 is named when its %s is used up, and the rejection counts nothing',
      async (metric, change, limit) => {
        await open(store);
        const scopes = limited(kind, change);
        const first = request({ scopes });
        expect(await store.admit(first)).toMatchObject({ kind: 'ok' });
        const before = await store.read('acct_1', SCOPES);
        const id = scopes.find((scope) => scope.kind === kind)?.id;
        const expected = { scope: kind, scopeId: id, metric, counter: null, current: limit, limit };
        expect(rejection(await store.admit(request({ scopes })))).toMatchObject(expected);
        expect(await store.read('acct_1', SCOPES)).toEqual(before);
        await store.put([put('settle', first)]);
        expect(rejection(await store.admit(request({ scopes })))).toMatchObject({
          ...expected,
          reservationsOnly: false,
        });
      },
    );
  });

  it.each([
    ['org', { rpm: 2 }],
    ['team', { rpd: 2 }],
    ['member', { tpm: 200 }],
    ['team_member', { capNano: 20n }],
    ['key', { rpm: 2 }],
  ] as const)(
    'LIM-37 the rejection by %s %j says what the key has asked in its minute',
    async (kind, change) => {
      await open(store);
      const scopes = limited(kind, change);
      for (let n = 0; n < 2; n += 1)
        expect(await store.admit(request({ scopes }))).toMatchObject({ kind: 'ok' });
      const refused = { kind: 'refused', rejection: { scope: kind }, keyMinute: { rpm: 2 } };
      expect(await store.admit(request({ scopes }))).toMatchObject(refused);
      expect((await store.trial(request({ scopes }))).result).toMatchObject(refused);
      await clock.advance(60_000);
      if (kind === 'team')
        expect(await store.admit(request({ scopes }))).toMatchObject({ keyMinute: { rpm: 0 } });
    },
  );

  it('LIM-05 R06 adds the estimate of tokens, corrects it once at settle, and only in its own minute', async () => {
    await open(store);
    const scopes = limited('key', { tpm: 150 });
    const [early, late] = [request({ scopes }), request({ scopes })];
    await store.admit(early);
    await store.admit(late);
    expect(rejection(await store.admit(request({ scopes })))).toMatchObject({
      metric: 'tpm',
      current: '200',
    });
    await store.put([put('settle', early, { tokens: 20 })]);
    await store.put([put('settle', early, { tokens: 20 })]);
    expect((await store.read('acct_1', [KEY])).scopes[0].tpm).toBe(120);
    await clock.advance(60_000);
    await store.admit(request({ scopes }));
    await store.put([put('settle', late, { tokens: 5 })]);
    expect((await store.read('acct_1', [KEY])).scopes[0].tpm).toBe(100);
  });

  it('LIM-06 a key without a cap is held by the balance alone', async () => {
    await open(store, { balanceNano: 9_000_000_000_000n, version: 2 });
    const spent = request({ reservationNano: 8_000_000_000_000n });
    expect(await store.admit(spent)).toMatchObject({ kind: 'ok' });
    await store.put([put('settle', spent)]);
    expect(await store.admit(request())).toMatchObject({ kind: 'ok' });
  });

  it('LIM-31 LIM-25 one request may cross the cap, the next is refused; spend that is posted counts on', async () => {
    const gen = await open(store);
    const scopes = limited('key', { capNano: 100n });
    const crossing = request({ scopes, reservationNano: 1_000n });
    expect(await store.admit(crossing)).toMatchObject({ kind: 'ok' });
    expect(rejection(await store.admit(request({ scopes })))).toMatchObject({
      metric: 'spend_cap',
      reservationsOnly: true,
    });
    await store.put([put('settle', crossing, { nano: 700n })]);
    expect(rejection(await store.admit(request({ scopes })))).toMatchObject({
      current: '700',
      reservationsOnly: false,
    });
    const posted = SCOPES.map(({ kind, id }) => ({ kind, id, postedNano: 700n }));
    await mirror(store, null, {
      version: 2,
      balanceNano: 999_300n,
      scopes: posted,
      units: [{ unit: crossing.unitId, crash: false }],
    });
    expect(rejection(await store.admit(request({ scopes })))).toMatchObject({ current: '700', limit: '100' });
    await clock.advance(40 * 86_400_000);
    // Records at rest may be gone by now: the protocol brings the posted total back.
    await store.stamp('acct_1', 1, gen);
    await mirror(store, gen, { version: 2, scopes: posted });
    expect(rejection(await store.admit(request({ scopes })))).toMatchObject({ current: '700' });
  });

  it('LIM-32 the balance may go below zero by a request under way, the next is refused', async () => {
    await open(store, { balanceNano: 1n });
    const under = request({ reservationNano: 500n });
    expect(await store.admit(under)).toMatchObject({ kind: 'ok' });
    expect(rejection(await store.admit(request()))).toEqual({
      scope: 'account',
      scopeId: 'acct_1',
      metric: 'balance',
      counter: null,
      current: '-499',
      limit: '0',
      resetsInSeconds: null,
      reservationsOnly: true,
      held: { scope: '500', account: '500', batch: '0', video: '0', realtime: '0' },
    });
    await store.put([put('settle', under)]);
    expect(rejection(await store.admit(request())).reservationsOnly).toBe(false);
    expect(await store.admit(request({ creditLimitNano: 500n }))).toMatchObject({ kind: 'ok' });
    expect(await store.admit(request({ creditLimitNano: null }))).toMatchObject({ kind: 'ok' });
  });

  it('a request that asks for no money passes a used-up cap and an empty balance, and still counts', async () => {
    await open(store, { balanceNano: 0n });
    const scopes = limited('org', { capNano: 0n });
    expect(rejection(await store.admit(request({ scopes }))).metric).toBe('spend_cap');
    const free = await store.admit(request({ scopes, reservationNano: 0n }));
    expect(free).toMatchObject({ kind: 'ok', counters: [{ rpm: 1 }, {}, {}, {}, { rpm: 1 }] });
  });

  it('LIM-12 R06 keeps extra counters on the key, beside its ordinary counts', async () => {
    await open(store);
    const free = { extra: [{ name: 'free', rpm: 1, rpd: 5, tpm: null }], reservationNano: 0n };
    expect(await store.admit(request(free))).toMatchObject({
      kind: 'ok',
      counters: [{ kind: 'key', rpm: 1 }, {}, {}, {}, {}],
    });
    expect(rejection(await store.admit(request(free)))).toMatchObject({
      scope: 'key',
      scopeId: 'k1',
      metric: 'rpm',
      counter: 'free',
    });
    expect(await store.admit(request())).toMatchObject({
      kind: 'ok',
      counters: [{ rpm: 2 }, {}, {}, {}, {}],
    });
    const capped = { extra: [{ name: 'm:acme/one', rpm: null, rpd: null, tpm: null, capNano: 5n }] };
    const asked = request(capped);
    const missing = await store.admit(asked);
    if (missing.kind !== 'missing') throw new Error(missing.kind);
    await mirror(store, missing.gen, { scopes: [{ kind: 'key', id: 'k1/m:acme/one', postedNano: 4n }] });
    expect(await store.admit(asked)).toMatchObject({ kind: 'ok' });
    expect(rejection(await store.admit(request(capped)))).toMatchObject({
      metric: 'spend_cap',
      counter: 'm:acme/one',
      current: '14',
    });
  });

  it('READ-57 adds up what long work of all keys holds, until it settles or is given up', async () => {
    await open(store);
    const heldBy = (kind: HeldKind) => ({
      extra: [{ name: heldCounter(kind), rpm: null, rpd: null, tpm: null }],
    });
    const ofKey = (id: string) => SCOPES.map((scope) => (scope.kind === 'key' ? { ...scope, id } : scope));
    const one = request({ ...heldBy('batch'), reservationNano: 70n });
    const two = request({ ...heldBy('batch'), reservationNano: 5n, scopes: ofKey('k2') });
    const video = request({ ...heldBy('video'), reservationNano: 100n });
    for (const asked of [one, two, video, request({ reservationNano: 3n })])
      expect(await store.admit(asked)).toMatchObject({ kind: 'ok' });
    const held = async (): Promise<bigint[]> => {
      const scopes = HELD_KINDS.map((kind) => counterScope('any', heldCounter(kind)));
      const state = await store.read('acct_1', scopes);
      return [state.reservedNano, ...state.scopes.map(({ reservedNano }) => reservedNano)];
    };
    expect(await held()).toEqual([178n, 0n, 75n, 100n]);
    await store.put([put('settle', one, { nano: 60n }), put('cancel', video)]);
    expect(await held()).toEqual([8n, 0n, 5n, 0n]);
    // Known to a store that has lost it, by whoever runs it.
    await store.put([put('renew', video)]);
    expect(await held()).toEqual([108n, 0n, 5n, 100n]);
  });

  it('a resent admit counts once, and a settled unit is gone', async () => {
    await open(store);
    const asked = request();
    await store.admit(asked);
    expect(await store.admit(asked)).toMatchObject({ kind: 'ok', counters: [{ rpm: 1 }, {}, {}, {}, {}] });
    await store.put([put('settle', asked)]);
    expect(await store.admit(asked)).toEqual({ kind: 'gone' });
  });
});
