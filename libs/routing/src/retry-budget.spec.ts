import { RetryBudget } from './run-attempts.js';

function takes(budget: RetryBudget, provider = 'p'): number {
  let taken = 0;
  while (budget.take(provider)) taken += 1;
  return taken;
}

describe('the retry budget', () => {
  it('lets a provider’s first three failures be tried again', () => {
    expect(takes(new RetryBudget())).toBe(3);
  });

  it('U03 earns a retry in 100 / 19 requests, and keeps ten at most', () => {
    const budget = new RetryBudget();
    expect(takes(budget)).toBe(3);
    for (let n = 0; n < 5; n += 1) budget.earn('p');
    expect(takes(budget)).toBe(0);
    budget.earn('p');
    expect(takes(budget)).toBe(1);
    for (let n = 0; n < 1_000; n += 1) budget.earn('p');
    expect(takes(budget)).toBe(10);
  });

  it('is each provider’s own', () => {
    const budget = new RetryBudget();
    takes(budget);
    expect(takes(budget, 'q')).toBe(3);
  });

  it('forgets all where providers become too many, and never grows', () => {
    const budget = new RetryBudget();
    takes(budget);
    for (let n = 0; n < 1_000; n += 1) budget.earn(`other-${n}`);
    expect(takes(budget)).toBe(0);
    budget.earn('one more');
    expect(takes(budget)).toBe(3);
  });
});
