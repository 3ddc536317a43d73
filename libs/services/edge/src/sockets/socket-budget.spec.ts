import { ApiError } from '@gateway/contracts';
import { SocketBudget, type Place } from './socket-budget.js';

function claimed(budget: SocketBudget, accountId: string): Place | string {
  try {
    return budget.claim(accountId);
  } catch (error) {
    if (error instanceof ApiError) return error.code;
    throw error;
  }
}

describe('the budget of WebSockets', () => {
  it('ends at 4,096 connections, those included that have not said who they are', () => {
    const budget = new SocketBudget();
    const places = Array.from({ length: 4_096 }, () => budget.enter());
    expect(places).not.toContain(null);
    expect(budget.enter()).toBeNull();
    places[0]?.();
    places[0]?.();
    expect(budget.enter()).not.toBeNull();
    expect(budget.enter()).toBeNull();
  });

  it('has 512 places for one account, so that none takes all of them', () => {
    const budget = new SocketBudget();
    const places = Array.from({ length: 512 }, () => budget.claim('acct_1'));
    expect(claimed(budget, 'acct_1')).toBe('concurrent_sessions_exceeded');
    expect(claimed(budget, 'acct_2')).toBeInstanceOf(Function);
    places[7]();
    places[7]();
    expect(claimed(budget, 'acct_1')).toBeInstanceOf(Function);
    expect(claimed(budget, 'acct_1')).toBe('concurrent_sessions_exceeded');
  });
});
