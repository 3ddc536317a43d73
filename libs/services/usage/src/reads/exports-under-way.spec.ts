import { seededRandom } from '@gateway/testing';
import { ExportsUnderWay } from './exports-under-way.js';

describe('exports under way', () => {
  let underWay: ExportsUnderWay;
  let begun: (() => void)[];
  beforeEach(() => {
    underWay = new ExportsUnderWay(seededRandom(1));
    begun = [];
  });
  const refusalOf = (n: number): string | undefined => {
    try {
      begun.push(underWay.begin(`acct_${n}`));
      return undefined;
    } catch (failure) {
      return (failure as { code: string }).code;
    }
  };
  const refusals = (...accounts: number[]): (string | undefined)[] => accounts.map(refusalOf);

  it('READ-40 429 for a fifth of one account, until one of its own ends', () => {
    expect(refusals(1, 1, 1, 1, 1)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      'rate_limit_exceeded',
    ]);
    // A place is given back once, however often its end is noticed.
    for (const _ of [1, 2]) begun[0]();
    expect(refusals(1, 1)).toEqual([undefined, 'rate_limit_exceeded']);
  });

  it('READ-40 two accounts with readers who do not end leave a place for a third and a fourth; 503 when none is free', () => {
    refusals(1, 1, 1, 1, 2, 2);
    expect(refusals(1, 2)).toEqual(['rate_limit_exceeded', 'rate_limit_exceeded']);
    expect(refusals(3, 3, 4, 5, 2)).toEqual([
      undefined,
      'rate_limit_exceeded',
      undefined,
      'service_unavailable',
      'rate_limit_exceeded',
    ]);
    for (const end of begun) end();
    expect(refusals(1, 1, 1, 1)).toEqual(Array(4).fill(undefined));
  });
});
