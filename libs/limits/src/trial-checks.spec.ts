import type { AdmitRequest, Trial, TrialRecord } from '@gateway/contracts';
import { trialChecks, trialHeld } from './trial-checks.js';

const request: AdmitRequest = {
  accountId: 'a',
  accountVersion: 1,
  unitId: 'req_1/0',
  scopes: [
    { kind: 'key', id: 'k', rpm: 10, rpd: null, tpm: 500, capNano: 1_000n },
    { kind: 'org', id: 'o', rpm: null, rpd: 90, tpm: null, capNano: null },
  ],
  extra: [{ name: 'free', rpm: 3, rpd: null, tpm: null }],
  creditLimitNano: 50n,
  reservationNano: 20n,
  worstNano: 100n,
  tokenEstimate: 5,
  leaseMs: 1,
};
const record = (scope: TrialRecord['scope'], more: Partial<TrialRecord> = {}): TrialRecord => ({
  ...{ scope, scopeId: scope[0], counter: null, rpm: 0, rpd: 0, tpm: 0, spentNano: 0n, worstNano: 0n },
  ...more,
});
const result = { kind: 'unavailable' } as unknown as Trial['result'];
/** Returns a trial of the key, its free models, the organization and the balance. */
function trial(key: Partial<TrialRecord> = {}, balance: Partial<TrialRecord> = {}): Trial {
  const records = [record('key', key), record('key', { counter: 'free' }), record('org', { rpd: 90 })];
  return { result, records: [...records, record('account', { spentNano: 1_000n, ...balance })] };
}

describe('the checks of a trial', () => {
  it('are every limit that is set, in the order of admission, each with what it holds', () => {
    const made = trial({ rpm: 10, tpm: 499, spentNano: 700n, worstNano: 299n }, { worstNano: 30n });
    const seen = trialChecks(request, made).map(({ scope, counter, metric, current, limit, refuses }) => [
      ...[scope, counter, metric, current, limit, refuses],
    ]);
    expect(seen).toEqual([
      ['key', null, 'rpm', 10n, 10n, true],
      ['key', null, 'tpm', 499n, 500n, false],
      ['key', null, 'spend_cap', 999n, 1_000n, false],
      ['key', 'free', 'rpm', 0n, 3n, false],
      ['org', null, 'rpd', 90n, 90n, true],
      ['account', null, 'balance', 970n, -50n, false],
    ]);
  });

  it('refuse at the cap and at the end of the credit, not before', () => {
    const rejections = (made: Trial, asked = request): string[] =>
      trialChecks(asked, made).flatMap(({ metric, refuses }) => (refuses ? [metric] : []));
    expect(rejections(trial({ spentNano: 1_000n }))).toEqual(['spend_cap', 'rpd']);
    expect(rejections(trial({}, { spentNano: -50n }))).toEqual(['rpd', 'balance']);
    expect(rejections(trial({}, { spentNano: -49n }))).toEqual(['rpd']);
    expect(rejections(trial({}, { spentNano: -20n, worstNano: 30n }))).toEqual(['rpd', 'balance']);
    const unlimited = { ...request, creditLimitNano: null };
    expect(rejections(trial({}, { spentNano: -50n }), unlimited)).toEqual(['rpd']);
  });

  it('leave money out where the request asks for none, and are none of an empty trial', () => {
    const free = { ...request, reservationNano: 0n };
    expect(trialChecks(free, trial({ spentNano: 1_000n })).map(({ metric }) => metric)).toEqual([
      'rpm',
      'tpm',
      'rpm',
      'rpd',
    ]);
    expect(trialChecks(request, { result, records: [] })).toEqual([]);
  });

  it('are the balance alone where nothing else has a limit', () => {
    const alone = { ...request, scopes: [], extra: [] };
    const records = [record('account', { spentNano: -50n })];
    expect(trialChecks(alone, { result, records })).toMatchObject([{ metric: 'balance', refuses: true }]);
  });
});

describe('what an admission would hold', () => {
  it('is the reservation while the worst case has room under every cap and the credit, to the last nano-USD', () => {
    expect(trialHeld(request, trial({ spentNano: 700n, worstNano: 200n }))).toBe(20n);
    expect(trialHeld(request, trial({ spentNano: 701n, worstNano: 200n }))).toBe(100n);
    expect(trialHeld(request, trial({}, { spentNano: 80n, worstNano: 30n }))).toBe(20n);
    expect(trialHeld(request, trial({}, { spentNano: 79n, worstNano: 30n }))).toBe(100n);
  });

  it('needs room for the reservation alone where no worst case is known, and no balance of unlimited credit', () => {
    const { worstNano: _, ...plain } = request;
    expect(trialHeld(plain, trial({ spentNano: 980n }))).toBe(20n);
    const unlimited = { ...request, creditLimitNano: null };
    expect(trialHeld(unlimited, trial({}, { spentNano: -1_000n }))).toBe(20n);
    expect(trialHeld(unlimited, trial({ spentNano: 901n }))).toBe(100n);
  });
});
