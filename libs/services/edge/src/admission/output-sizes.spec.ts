import { fixedClock } from '@gateway/testing/plain';
import { OutputSizes } from './output-sizes.js';

describe('what a reservation expects of the output', () => {
  it('is the p95 of the account’s own units of the last hour, from 20 on', async () => {
    const clock = fixedClock('2026-11-22T00:00:00Z');
    const sizes = new OutputSizes(clock);
    for (let n = 1; n <= 19; n += 1) sizes.add('acct_1', 'acme/swift', n);
    expect(sizes.p95('acct_1', 'acme/swift')).toBeNull();
    sizes.add('acct_1', 'acme/swift', 20);
    await clock.advance(1_000);
    expect(sizes.p95('acct_1', 'acme/swift')).toBe(19);
    expect(sizes.p95('acct_2', 'acme/swift')).toBeNull();
    expect(sizes.p95('acct_1', 'acme/deep')).toBeNull();
    await clock.advance(3_600_000);
    expect(sizes.p95('acct_1', 'acme/swift')).toBeNull();
  });

  it('forgets the account and model that rested longest', () => {
    const sizes = new OutputSizes(fixedClock('2026-11-22T00:00:00Z'));
    for (let n = 0; n < 20; n += 1) sizes.add('acct_old', 'm', 1);
    for (let n = 0; n < 20; n += 1) sizes.add('acct_kept', 'm', 1);
    for (let n = 0; n < 9_999; n += 1) sizes.add(`acct_${n}`, 'm', 1);
    expect([sizes.p95('acct_old', 'm'), sizes.p95('acct_kept', 'm')]).toEqual([null, 1]);
  });
});
