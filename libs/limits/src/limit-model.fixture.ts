import {
  extraScope,
  type AdmitRequest,
  type AdmitResult,
  type ExtraCounter,
  type LimitStore,
  type LimitRejection,
  type Trial,
} from '@gateway/contracts';
import { fixedClock, type FixedClock } from '@gateway/testing';
import fc from 'fast-check';
import { put, request, SCOPES, type LimitDriver } from './conformance.fixture.js';
import { recordName } from './admission.js';
import { NaiveModel } from './naive-model.fixture.js';
import { trialChecks, trialHeld } from './trial-checks.js';

const START = '2026-03-01T23:58:30.000Z';

const money = fc.bigInt(0n, 40n);
const rare = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> =>
  fc.oneof({ weight: 5, arbitrary: fc.constant(null) }, { weight: 1, arbitrary });
/** Limits of one record: raised, lowered, set and cleared from one request to the next. */
const limits = fc.record({
  rpm: rare(fc.integer({ min: 1, max: 4 })),
  rpd: rare(fc.integer({ min: 1, max: 4 })),
  tpm: rare(fc.integer({ min: 1, max: 300 })),
  capNano: rare(fc.bigInt(0n, 90n)),
});
const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('admit' as const),
      unit: fc.nat(12),
      limits: fc.array(limits, { minLength: 6, maxLength: 6 }),
      outdated: fc.nat(9).map((drawn) => drawn === 0),
      credit: fc.option(money),
      nano: money,
      more: fc.bigInt(0n, 60n),
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
      history: fc.constantFrom(0, 0, 0, 1, 2 ** 20 - 1),
      version: fc.nat(6),
      balance: fc.bigInt(-20n, 300n),
      posted: fc.array(money, { minLength: 10, maxLength: 10 }),
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

const UNLIMITED = { rpm: null, rpd: null, tpm: null };
/** Two periods of one budget of the organization, and one of the key's. */
const BUDGETS = [
  budget('org', 'org-1', 0, 100),
  budget('org', 'org-1', 100, 200),
  budget('key', 'k1', 0, 7),
] as const;
const COUNTERS: readonly Pick<ExtraCounter, 'name' | 'budget'>[] = [
  { name: 'free' },
  { name: 'm:a/b' },
  ...BUDGETS,
];
/** Every record that a unit of these histories may count on, but the balance's. */
const COUNTED = [...SCOPES, ...COUNTERS.map((counter) => extraScope('k1', counter))];

function budget(
  kind: 'key' | 'org',
  id: string,
  startMs: number,
  endMs: number,
): Pick<ExtraCounter, 'name' | 'budget'> {
  return { name: `b:${startMs}-${endMs}`, budget: { id: 'bud_1', name: 'A', scope: { kind, id }, endMs } };
}

/**
 * A unit has the same counters whenever it is sent: none, those of free models, those of one model, and of the period of a
 * budget in which it came.
 */
function extraOf(unit: number, of: Omit<ExtraCounter, 'name' | 'budget'>): ExtraCounter[] {
  const counter = [undefined, ...COUNTERS][unit % (COUNTERS.length + 1)];
  if (counter === undefined) return [];
  return counter.budget === undefined
    ? [{ ...counter, ...of }]
    : [{ ...counter, ...UNLIMITED, capNano: of.capNano }];
}

/** A unit has the same scopes whenever it is sent. */
function scopesOf(unit: number): number[] {
  return [0, 1, 2, 3, 4].filter((index) => index === 0 || (unit >> index) % 2 === 0);
}

/** A dry run says of a new unit what the admission after it says, and by the same numbers. */
function expectSame(asked: AdmitRequest, dry: Trial, result: AdmitResult): void {
  if (result.kind === 'ok') expect(dry.result.kind).toBe('ok');
  else expect(dry.result).toEqual(result);
  const first = trialChecks(asked, dry).find(({ refuses }) => refuses);
  if (result.kind === 'ok') expect(first).toBeUndefined();
  if (result.kind !== 'refused') return;
  const { scope, scopeId, current, limit, budget: ofBudget } = result.rejection;
  const { metric, counter } =
    ofBudget === undefined ? result.rejection : { metric: 'budget' as const, counter: ofBudget.id };
  expect(first).toMatchObject({
    scope,
    scopeId,
    counter,
    metric,
    current: BigInt(current),
    limit: BigInt(limit),
  });
}

function refusedBy({ scope, scopeId, counter }: LimitRejection): string {
  const kind = scope === 'account' ? 'key' : scope;
  return recordName({ kind, id: counter === null ? scopeId : `${scopeId}/${counter}` });
}

/** One random history against a driver and the model; they must say the same at every step. */
class History {
  private readonly clock: FixedClock = fixedClock(START);
  private readonly model = new NaiveModel();
  private readonly asked = new Map<string, AdmitRequest>();
  private store: LimitStore;
  private gen = '';

  constructor(
    private readonly driver: LimitDriver,
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
          this.asked.get(unit) ??
          request({
            unitId: unit,
            scopes: scopesOf(one.unit).map((index) => SCOPES[index]),
            extra: extraOf(one.unit, UNLIMITED),
          });
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
        const scopes = COUNTED.map(({ kind, id }, index) => ({ kind, id, postedNano: one.posted[index] }));
        const units = one.units.map(({ unit, crash }) => ({ unit: `u${unit}`, crash }));
        const gen = one.living === null ? null : one.living ? this.gen : 'another';
        const sent = {
          accountId: 'acct_1',
          gen,
          history: one.history,
          version: one.version,
          balanceNano: one.balance,
          scopes,
          units,
        };
        this.model.mirror(sent, one.living === true);
        return void (await this.store.mirror(sent));
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
    const scopes = scopesOf(one.unit).map((index) => ({ ...SCOPES[index], ...one.limits[index] }));
    const extra = extraOf(one.unit, one.limits[5]);
    const unit = `u${one.unit}`;
    const { credit: creditLimitNano, nano: reservationNano, tokens: tokenEstimate, leaseMs } = one;
    const accountVersion = this.model.raised + (one.outdated ? 1 : 0);
    const asked = request({
      accountVersion,
      unitId: unit,
      scopes,
      extra,
      creditLimitNano,
      reservationNano,
      // What asks for no money cannot cost any.
      worstNano: reservationNano === 0n ? 0n : reservationNano + one.more,
      tokenEstimate,
      leaseMs,
    });
    const isNew = this.model.held(unit) === null;
    const dry = await this.store.trial(asked);
    const expected = this.model.admit(asked, this.clock.now());
    const result = await this.store.admit(asked);
    if (isNew) expectSame(asked, dry, result);
    if (isNew && result.kind === 'ok') expect(trialHeld(asked, dry)).toBe(this.model.held(unit));
    if (expected === 'ok' && result.kind === 'ok') this.asked.set(unit, asked);
    const said =
      result.kind !== 'refused'
        ? result.kind
        : result.rejection.scope === 'account'
          ? 'balance'
          : `${result.rejection.metric} of ${refusedBy(result.rejection)}`;
    expect(said).toBe(expected);
  }

  private async compare(): Promise<void> {
    const now = this.clock.now();
    this.model.lapse(now);
    const state = await this.store.read('acct_1', COUNTED);
    const expected = COUNTED.map(({ kind, id }) => {
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
    if (stale.kind === 'stale') this.gen = stale.gen;
    if (this.known === 'nothing') return;
    await this.take({ do: 'stamp', version: 1, living: true });
    if (this.known === 'version') return;
    const posted = COUNTED.map(() => 5n);
    await this.take({ do: 'mirror', living: true, history: 0, version: 1, balance: 200n, posted, units: [] });
  }
}

/** Plays random histories against a driver and a naive model, and compares each answer and what is kept. */
export async function expectEqualsModel(driver: LimitDriver, runs: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(known, fc.array(step, { minLength: 1, maxLength: 80, size: 'max' }), (start, steps) =>
      new History(driver, start).run(steps),
    ),
    { numRuns: runs, endOnFailure: false },
  );
}
