import { rateChanges } from './rate-changes.js';

const rates = (prompt: string | null, completion: string | null) => ({
  prompt_usd_per_1m: prompt,
  completion_usd_per_1m: completion,
});

describe('the price of a successor', () => {
  it.each([
    [rates('1.25', '10'), rates('5', '10'), 'input costs 300% more, output costs the same'],
    [rates('2.5', '10'), rates('0.1', '0.5'), 'input costs 96% less, output costs 95% less'],
    [rates('0.02', null), rates('0.03', '1'), 'input costs 50% more'],
    [rates('0', null), rates('1', null), 'its price has other units'],
    [rates(null, null), rates('1', '2'), 'its price has other units'],
  ])('of %j is %j: %s', (before, after, words) => {
    expect(rateChanges(before, after)).toBe(words);
  });
});
