import type { AdmitResult } from '@gateway/contracts';
import { fixedClock } from '@gateway/testing/plain';
import { admissionEntries } from '../admission.js';
import { limited, request } from '../conformance.fixture.js';
import { minuteOf } from '../windows.js';
import { LocalShare } from './local-share.js';

/** The accounts are of version 1; each request has a principal of its own. */
function shareOf(heldMax: number) {
  const share = new LocalShare(fixedClock('2026-03-01T12:00:15.000Z'), 1, heldMax);
  const asked = (accountId: string) =>
    request({ accountId, scopes: limited('key', { rpm: 5 }), reservationNano: 0n });
  const refused: AdmitResult = {
    kind: 'refused',
    rejection: {
      ...{ scope: 'key', scopeId: 'key_1', counter: null, metric: 'rpm', resetsInSeconds: 45 },
      ...{ current: '5', limit: '5', reservationsOnly: false, held: null },
    },
  };
  return {
    /** The store refused a request of the account. */
    refuse: (accountId: string) => {
      const of = asked(accountId);
      share.note(of, admissionEntries(of), refused, []);
    },
    /** Admits while the store is unreachable. */
    admit: (accountId: string) => {
      const of = asked(accountId);
      share.stamp(accountId, 1);
      return share.admit(of, admissionEntries(of));
    },
    known: (...accounts: string[]) => accounts.filter((account) => share.version(account) === 1),
  };
}

describe('what one edge remembers of its accounts', () => {
  it('R05 is bounded by what the store said of them: the account that came first goes', () => {
    const { refuse, known } = shareOf(3);
    for (const account of ['a', 'b', 'c']) refuse(account);
    expect(known('a', 'b', 'c')).toEqual(['a', 'b', 'c']);
    // The same record again is no more.
    refuse('b');
    expect(known('a', 'b', 'c')).toEqual(['a', 'b', 'c']);
    refuse('d');
    expect(known('a', 'b', 'c', 'd')).toEqual(['b', 'c', 'd']);
  });

  it('R05 is bounded by the records and units of what it let in, and never forgets the account that asks', () => {
    const { admit, known } = shareOf(1);
    expect(admit('a')).toMatchObject({ kind: 'ok' });
    expect(known('a')).toEqual(['a']);
    expect(admit('b')).toMatchObject({ kind: 'ok' });
    expect(known('a', 'b')).toEqual(['b']);
  });
});

describe('what the store said last of a counter', () => {
  it('R05 stands while its minute and its day run, and no longer', async () => {
    const clock = fixedClock('2026-03-01T23:58:15.000Z');
    const share = new LocalShare(clock, 1);
    // One array for all requests of a principal.
    const scopes = limited('key', { rpm: 100, rpd: 1_000, tpm: 100_000 });
    const free = () => request({ scopes, reservationNano: 0n, tokenEstimate: 10 });
    const entries = admissionEntries(free());
    const counters = scopes.map(({ kind, id }) => ({ kind, id, rpm: 3, rpd: 30, tpm: 300 }));
    const minute = minuteOf(clock.now());
    share.note(free(), entries, { kind: 'ok', counters, minute, minuteResetSeconds: 45 }, []);
    const counted = () => {
      share.stamp('acct_1', 1);
      const result = share.admit(free(), entries);
      if (result?.kind !== 'ok') throw new Error('not let in');
      const { rpm, rpd, tpm } = result.counters.find(({ kind }) => kind === 'key') ?? {};
      return { rpm, rpd, tpm };
    };
    expect(counted()).toEqual({ rpm: 4, rpd: 31, tpm: 310 });
    await clock.advance(45_000);
    expect(counted()).toEqual({ rpm: 1, rpd: 32, tpm: 10 });
    await clock.advance(60_000);
    expect(counted()).toEqual({ rpm: 1, rpd: 1, tpm: 10 });
  });
});
