import type { LimitStore, UnheardUnit } from '@gateway/contracts';
import { fixedClock, type FixedClock } from '@gateway/testing';
import { LAPSED_NAMES } from './admission.js';
import { limitDrivers, mirror, open, put, request } from './conformance.fixture.js';

// The store in memory ends with the process that has the journal: it has nothing to outlive.
const { drivers } = limitDrivers();

describe.each(drivers.filter(({ name }) => name !== 'in process'))(
  'lost units in LimitStore $name',
  (driver) => {
    let clock: FixedClock;
    let store: LimitStore;

    beforeEach(async () => {
      await driver.reset();
      clock = fixedClock('2026-03-01T12:00:15.000Z');
      store = driver.make(clock);
      await open(store);
    });

    const unheard = async (): Promise<UnheardUnit[]> => {
      const units: UnheardUnit[] = [];
      for (let cursor: string | null = '0'; cursor !== null;) {
        const page = await store.unheard('acct_1', cursor);
        units.push(...page.units);
        cursor = page.next;
      }
      return units.sort((a, b) => (a.unit < b.unit ? -1 : 1));
    };

    it('names a unit past its lease with its amount, before and after the account has gone on', async () => {
      const lost = request({ reservationNano: 7n });
      await store.admit(lost);
      expect(await unheard()).toEqual([]);
      await clock.advance(90_000);
      const named = [{ unit: lost.unitId, nano: 7n, state: 'lapsed' }];
      expect(await unheard()).toEqual(named);
      const next = request();
      expect(await store.admit(next)).toMatchObject({ kind: 'ok' });
      expect(await store.read('acct_1', [])).toMatchObject({ reservedUnits: 1 });
      expect(await unheard()).toEqual(named);
      await store.put([put('cancel', next)]);
      await clock.advance(29 * 86_400_000);
      expect(await unheard()).toEqual(named);
    });

    it('forgets a lapsed unit that is renewed, settled or posted after all', async () => {
      const [renewed, settled, posted, lost] = [request(), request(), request(), request()];
      for (const unit of [renewed, settled, posted, lost]) await store.admit(unit);
      await clock.advance(90_000);
      await store.read('acct_1', []);
      expect(await unheard()).toHaveLength(4);
      await store.put([put('renew', renewed), put('settle', settled, { nano: 4n })]);
      await mirror(store, null, { units: [{ unit: posted.unitId, crash: true }] });
      const left: UnheardUnit[] = [
        { unit: settled.unitId, nano: 4n, state: 'settled' },
        { unit: lost.unitId, nano: 10n, state: 'lapsed' },
      ];
      expect(await unheard()).toEqual(left.sort((a, b) => (a.unit < b.unit ? -1 : 1)));
      await mirror(store, null, {
        units: [settled, lost].map(({ unitId: unit }) => ({ unit, crash: false })),
      });
      expect(await unheard()).toEqual([]);
    });

    it('keeps a bounded number of names and counts the others, until a mirror forgets them', async () => {
      const more = 5;
      for (let left = LAPSED_NAMES + more; left > 0; left -= 1_000)
        await store.put(
          Array.from({ length: Math.min(left, 1_000) }, () => put('renew', request(), { leaseMs: 1 })),
        );
      await clock.advance(2);
      while ((await store.read('acct_1', [])).reservedUnits > 0);
      expect(await unheard()).toHaveLength(LAPSED_NAMES);
      expect(await store.unheard('acct_1', '0')).toMatchObject({ unnamed: more });
      await mirror(store, null, { units: [{ unit: 'unnamed', crash: true }] });
      expect(await store.unheard('acct_1', '0')).toMatchObject({ unnamed: 0 });
    });
  },
);
