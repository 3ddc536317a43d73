import fc from 'fast-check';
import { AccountShare } from './account-share.js';

describe('A7 a share of what accounts have together', () => {
  it('is never more than what is left free, and never nothing for who has none', () => {
    const step = fc.record({ account: fc.constantFrom('a', 'b', 'c'), isTaken: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const share = new AccountShare(16);
        const own: Record<string, number> = { a: 0, b: 0, c: 0 };
        for (const { account, isTaken } of steps) {
          const taken = own.a + own.b + own.c;
          if (isTaken) {
            const found = share.take(account);
            expect(found).toBe(own[account] + 1 <= 16 - taken);
            if (found) own[account] += 1;
          } else if (own[account] > 0) {
            share.release(account);
            own[account] -= 1;
          }
        }
      }),
    );
  });

  it('lets one account take half, and another what it leaves', () => {
    const share = new AccountShare(64);
    const taken = (account: string): number => {
      let count = 0;
      while (share.take(account)) count += 1;
      return count;
    };
    expect([taken('a'), taken('b'), taken('a')]).toEqual([32, 16, 0]);
    share.release('a', 32);
    expect(share.take('b', 33)).toBe(false);
    expect(share.take('c', 24)).toBe(true);
  });
});
