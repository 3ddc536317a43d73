import { BooksController } from './books.controller.js';
import type { ProofState, Reconciler } from './reconciler.js';

function booksOf(more: Partial<ProofState>): unknown {
  const state: ProofState = {
    findings: [],
    accountsProved: 0,
    lastProved: 0,
    roundEndedAtMs: 1_000,
    ...more,
  };
  return new BooksController({ state } as Reconciler).read().is_proved;
}

describe('GET /v1/admin/books', () => {
  it.each<[string, Partial<ProofState>, boolean]>([
    ['a round that proved accounts and found nothing', { accountsProved: 2, lastProved: 2 }, true],
    ['a round that proved no account', {}, false],
    ['no round yet', { accountsProved: 3, roundEndedAtMs: null }, false],
    ['a difference', { lastProved: 2, findings: [{} as ProofState['findings'][number]] }, false],
  ])('after %s: is_proved is told as it is', (_case, state, isProved) => {
    expect(booksOf(state)).toBe(isProved);
  });
});
