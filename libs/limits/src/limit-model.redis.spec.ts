import type { AdmitRequest, LimitStore, MirrorRequest } from '@gateway/contracts';
import { fixedClock, redisScripts, seededRandom, testRedis } from '@gateway/testing';
import type { FixedClock, RedisScripts, TestRedis } from '@gateway/testing';
import fc from 'fast-check';
import { limitDrivers, put, request, SCOPES } from './conformance.js';
import { recordName } from './admission.js';

const START = '2026-03-01T23:58:30.000Z';

/**
 * The naive model: it keeps what happened and adds it up anew for every question. No window, total or index is
 * carried along, so it shares no arithmetic with the drivers.
 */
class NaiveModel {
  private stamped = false;
  raised = -1;
  private admitted: { at: number; records: string[]; tokens: number; unit: string; corrected: number }[] = [];
  private readonly units = new Map<
    string,
    { state: 'r' | 'u'; nano: bigint; records: string[]; until: number; counted: boolean }
  >();
  private posted = new Map<string, { nano: bigint; version: number; valid: boolean }>();

  flush(): void {
    this.stamped = false;
    this.raised = -1;
    this.admitted = [];
    this.units.clear();
    this.posted.clear();
  }

  stamp(version: number, living: boolean): void {
    this.raised = Math.max(this.raised, version);
    this.stamped ||= living;
  }

  money(record: string, state: 'r' | 'u'): bigint {
    let sum = 0n;
    for (const unit of this.units.values()) {
      if (unit.state === state && unit.records.includes(record)) sum += unit.nano;
    }
    return sum;
  }

  count(record: string, now: number, spanMs: number): number {
    const window = Math.floor(now / spanMs);
    return this.admitted.filter(
      (one) => one.records.includes(record) && Math.floor(one.at / spanMs) === window,
    ).length;
  }

  tokens(record: string, now: number): number {
    const inWindow = this.admitted.filter(
      (one) => one.records.includes(record) && Math.floor(one.at / 60_000) === Math.floor(now / 60_000),
    );
    return inWindow.reduce((sum, one) => sum + one.corrected, 0);
  }

  lapse(now: number): void {
    for (const [id, unit] of this.units) if (unit.state === 'r' && unit.until <= now) this.units.delete(id);
  }

  admit(asked: AdmitRequest, now: number): string {
    this.lapse(now);
    if (!this.stamped || this.raised !== asked.accountVersion) return 'stale';
    const records = [...asked.scopes.map(recordName), 'account'];
    const capped = asked.scopes.filter((scope) => scope.capNano !== null).map(recordName);
    const needed = asked.creditLimitNano === null ? capped : [...capped, 'account'];
    if (asked.reservationNano > 0n && needed.some((name) => !this.posted.get(name)?.valid)) return 'missing';
    const known = this.units.get(asked.unit);
    if (known) return known.state === 'r' ? 'ok' : 'gone';
    for (const scope of asked.scopes) {
      const name = recordName(scope);
      if (scope.rpm !== null && this.count(name, now, 60_000) + 1 > scope.rpm) return `rpm of ${name}`;
      if (scope.rpd !== null && this.count(name, now, 86_400_000) + 1 > scope.rpd) return `rpd of ${name}`;
      if (scope.tpm !== null && this.tokens(name, now) >= scope.tpm) return `tpm of ${name}`;
      const spent = (this.posted.get(name)?.nano ?? 0n) + this.money(name, 'u') + this.money(name, 'r');
      if (asked.reservationNano > 0n && scope.capNano !== null && spent >= scope.capNano)
        return `spend_cap of ${name}`;
    }
    const left =
      (this.posted.get('account')?.nano ?? 0n) - this.money('account', 'u') - this.money('account', 'r');
    if (asked.reservationNano > 0n && asked.creditLimitNano !== null && left + asked.creditLimitNano <= 0n)
      return 'balance';
    const tokens = asked.tokenEstimate;
    this.admitted.push({ at: now, records, tokens, unit: asked.unit, corrected: tokens });
    const unit = {
      state: 'r' as const,
      nano: asked.reservationNano,
      records,
      until: now + asked.leaseMs,
      counted: true,
    };
    this.units.set(asked.unit, unit);
    return 'ok';
  }

  put(
    action: 'renew' | 'settle' | 'cancel',
    asked: AdmitRequest,
    nano: bigint,
    tokens: number,
    now: number,
  ): void {
    const records = [...asked.scopes.map(recordName), 'account'];
    const known = this.units.get(asked.unit);
    if (known?.state === 'u') return;
    if (known?.counted && action === 'cancel') {
      // It never ran: as if it had not been admitted.
      const last = this.admitted.findLast((one) => one.unit === asked.unit);
      this.admitted = this.admitted.filter((one) => one !== last);
    }
    if (known?.counted && action === 'settle') {
      const last = this.admitted.findLast((one) => one.unit === asked.unit);
      // The correction lands in the minute that admission counted in, and only while that is the running one.
      if (last && Math.floor(last.at / 60_000) === Math.floor(now / 60_000)) last.corrected = tokens;
    }
    if (action === 'cancel') this.units.delete(asked.unit);
    else if (action === 'settle')
      this.units.set(asked.unit, { state: 'u', nano, records, until: 0, counted: false });
    else if (known) known.until = now + asked.leaseMs;
    else
      this.units.set(asked.unit, { state: 'r', nano, records, until: now + asked.leaseMs, counted: false });
  }

  mirror(sent: MirrorRequest, living: boolean): void {
    if (sent.gen !== null && !living) return;
    const totals = [...sent.scopes.map((scope) => ({ name: recordName(scope), nano: scope.postedNano }))];
    for (const { name, nano } of [...totals, { name: 'account', nano: sent.balanceNano }]) {
      const held = this.posted.get(name);
      const newer = held === undefined || sent.version >= held.version;
      const valid = sent.gen !== null || (held?.valid ?? false);
      this.posted.set(name, newer ? { nano, version: sent.version, valid } : { ...held, valid });
    }
    for (const { unit, crash } of sent.units) {
      if (!crash || this.units.get(unit)?.state === 'r') this.units.delete(unit);
    }
  }
}

const limit = fc.option(fc.integer({ min: 1, max: 4 }), { freq: 2 });
const money = fc.bigInt(0n, 40n);
const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('admit' as const),
      unit: fc.nat(12),
      rpm: limit,
      rpd: limit,
      tpm: fc.option(fc.integer({ min: 1, max: 300 })),
      cap: fc.option(fc.bigInt(0n, 90n)),
      outdated: fc.nat(9).map((drawn) => drawn === 0),
      on: fc.nat(4),
      credit: fc.option(money),
      nano: money,
      tokens: fc.nat(200),
      leaseMs: fc.constantFrom(5_000, 90_000),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('put' as const),
      action: fc.constantFrom('renew', 'settle', 'cancel'),
      unit: fc.nat(12),
      nano: money,
      tokens: fc.nat(300),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('mirror' as const),
      living: fc.constantFrom(true, true, false, null),
      version: fc.nat(6),
      balance: fc.bigInt(-20n, 300n),
      posted: fc.array(money, { minLength: 5, maxLength: 5 }),
      units: fc.array(fc.record({ unit: fc.nat(12), crash: fc.boolean() }), { maxLength: 3 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('stamp' as const),
      version: fc.nat(2),
      living: fc.constantFrom(true, false, null),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      ms: fc.constantFrom(1, 900, 4_100, 29_000, 61_000),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('flush' as const) }) },
);
const known = fc.constantFrom('all' as const, 'all' as const, 'version' as const, 'nothing' as const);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

let database: TestRedis;
let redis: RedisScripts;

beforeAll(async () => {
  database = await testRedis();
  redis = await redisScripts(database.url);
});

afterAll(async () => {
  redis.close();
  await database.drop();
});

const DRIVERS = limitDrivers(
  () => ({ pipe: redis.pipe, flush: () => redis.client.flushdb() }),
  () => seededRandom(1),
);

/** A unit has the same scopes whenever it is sent. */
function scopesOf(unit: number): number[] {
  return [0, 1, 2, 3, 4].filter((index) => index === 0 || (unit >> index) % 2 === 0);
}

/** One random history against a driver and the model; they must say the same at every step. */
class History {
  private readonly clock: FixedClock = fixedClock(START);
  private readonly model = new NaiveModel();
  private readonly asked = new Map<string, AdmitRequest>();
  private store: LimitStore;
  private gen = '';

  constructor(
    private readonly driver: (typeof DRIVERS)[number],
    private readonly known: 'nothing' | 'version' | 'all',
  ) {
    this.store = driver.make(this.clock);
  }

  async run(steps: Step[]): Promise<void> {
    await this.driver.reset();
    await this.learnGen();
    for (const one of steps) {
      await this.take(one);
      await this.compare();
    }
  }

  private async take(one: Step): Promise<void> {
    switch (one.do) {
      case 'admit':
        return this.admit(one);
      case 'put': {
        const unit = `u${one.unit}`;
        const asked =
          this.asked.get(unit) ?? request({ unit, scopes: scopesOf(one.unit).map((index) => SCOPES[index]) });
        const { action, nano, tokens } = one;
        this.model.lapse(this.clock.now());
        await this.store.read('acct_1', []);
        this.model.put(
          action,
          asked,
          action === 'renew' ? asked.reservationNano : nano,
          tokens,
          this.clock.now(),
        );
        return this.store.put([put(action, asked, action === 'renew' ? {} : { nano, tokens })]);
      }
      case 'mirror': {
        const scopes = SCOPES.map(({ kind, id }, index) => ({ kind, id, postedNano: one.posted[index] }));
        const units = one.units.map(({ unit, crash }) => ({ unit: `u${unit}`, crash }));
        const gen = one.living === null ? null : one.living ? this.gen : 'another';
        const sent = {
          accountId: 'acct_1',
          gen,
          version: one.version,
          balanceNano: one.balance,
          scopes,
          units,
        };
        this.model.mirror(sent, one.living === true);
        return this.store.mirror(sent);
      }
      case 'stamp':
        this.model.stamp(one.version, one.living === true);
        return this.store.stamp(
          'acct_1',
          one.version,
          one.living === null ? null : one.living ? this.gen : 'another',
        );
      case 'wait':
        return this.clock.advance(one.ms);
      case 'flush':
        await this.driver.reset();
        this.store = this.driver.make(this.clock);
        this.model.flush();
        return this.learnGen();
    }
  }

  private async admit(one: Extract<Step, { do: 'admit' }>): Promise<void> {
    const { rpm, rpd, tpm, cap } = one;
    const scopes = scopesOf(one.unit).map((index) =>
      index === one.on ? { ...SCOPES[index], rpm, rpd, tpm, capNano: cap } : SCOPES[index],
    );
    const unit = `u${one.unit}`;
    const { credit: creditLimitNano, nano: reservationNano, tokens: tokenEstimate, leaseMs } = one;
    const accountVersion = this.model.raised + (one.outdated ? 1 : 0);
    const asked = request({
      accountVersion,
      unit,
      scopes,
      creditLimitNano,
      reservationNano,
      tokenEstimate,
      leaseMs,
    });
    const expected = this.model.admit(asked, this.clock.now());
    const result = await this.store.admit(asked);
    if (expected === 'ok' && result.outcome === 'ok') this.asked.set(unit, asked);
    const said =
      result.outcome !== 'refused'
        ? result.outcome
        : result.refusal.scope === 'account'
          ? 'balance'
          : `${result.refusal.metric} of ${recordName({ kind: result.refusal.scope, id: result.refusal.scopeId })}`;
    expect(said).toBe(expected);
  }

  private async compare(): Promise<void> {
    const now = this.clock.now();
    this.model.lapse(now);
    const state = await this.store.read('acct_1', SCOPES);
    const expected = SCOPES.map(({ kind, id }) => {
      const name = recordName({ kind, id });
      const reservedNano = this.model.money(name, 'r');
      const unpostedNano = this.model.money(name, 'u');
      const rpm = this.model.count(name, now, 60_000);
      const rpd = this.model.count(name, now, 86_400_000);
      return { kind, id, rpm, rpd, tpm: this.model.tokens(name, now), reservedNano, unpostedNano };
    });
    expect(state.scopes).toEqual(expected);
    expect([state.reservedNano, state.unpostedNano]).toEqual([
      this.model.money('account', 'r'),
      this.model.money('account', 'u'),
    ]);
  }

  private async learnGen(): Promise<void> {
    const stale = await this.store.admit(request());
    if (stale.outcome === 'stale') this.gen = stale.gen;
    if (this.known === 'nothing') return;
    await this.take({ do: 'stamp', version: 1, living: true });
    if (this.known === 'version') return;
    const posted = SCOPES.map(() => 5n);
    await this.take({ do: 'mirror', living: true, version: 1, balance: 200n, posted, units: [] });
  }
}

describe.each(DRIVERS)('R08 $name', (driver) => {
  it('equals a naive model over random scopes, windows, settles, expiries, mirrors, crashes and flushes', async () => {
    const runs = driver.name === 'Redis' ? 80 : 200;
    await fc.assert(
      fc.asyncProperty(known, fc.array(step, { minLength: 1, maxLength: 80, size: 'max' }), (start, steps) =>
        new History(driver, start).run(steps),
      ),
      { numRuns: runs, endOnFailure: false },
    );
  });
});
