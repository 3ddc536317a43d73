import { seededRandom } from '@gateway/testing';
import { ExportsUnderWay } from './exports-under-way.js';

describe('exports under way', () => {
  it('READ-40 429 for a fifth of one account, 503 for a ninth of all, until one ends', () => {
    const underWay = new ExportsUnderWay(seededRandom(1));
    const begun = [1, 1, 1, 1, 2, 2, 3].map((n) => underWay.begin(`acct_${n}`));
    const refusalOf = (accountId: string): string | undefined => {
      try {
        begun.push(underWay.begin(accountId));
        return undefined;
      } catch (failure) {
        return (failure as { code: string }).code;
      }
    };
    expect(refusalOf('acct_1')).toBe('rate_limit_exceeded');
    expect(refusalOf('acct_2')).toBeUndefined();
    expect(refusalOf('acct_5')).toBe('service_unavailable');
    // A place is given back once, however often its end is noticed.
    for (const _ of [1, 2]) begun[0]();
    expect([refusalOf('acct_5'), refusalOf('acct_6')]).toEqual([undefined, 'service_unavailable']);
    for (const end of begun) end();
    expect([1, 1, 1, 1, 2, 2, 2, 2].map((n) => refusalOf(`acct_${n}`))).toEqual(Array(8).fill(undefined));
  });
});
