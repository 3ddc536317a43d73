import type { ProjectionRequest } from '@gateway/contracts';
import type { Posted } from '../posting/posting.store.js';
import type { ProjectionWish } from './projection.store.js';

export type PostedTotals = Pick<Posted, 'balances' | 'totals'>;

/**
 * Projections of the accounts whose every wished scope the posting has moved itself: its account row was locked until the
 * commit, so version, balance and totals are one snapshot. The rest has to be read.
 */
export function answered(
  wishes: readonly ProjectionWish[],
  { balances, totals }: PostedTotals,
): { requests: ProjectionRequest[]; rest: ProjectionWish[] } {
  const accounts = new Map(balances.map((balance) => [balance.id, balance]));
  const counted = new Map(
    totals.map((total) => [`${total.accountId}\n${total.scope}\n${total.scopeId}`, total.counted]),
  );
  const requests: ProjectionRequest[] = [];
  const rest: ProjectionWish[] = [];
  for (const wish of wishes) {
    const { accountId, gen, units } = wish;
    const account = accounts.get(accountId);
    const scopes = wish.scopes.flatMap(({ kind, id }) => {
      const spent = counted.get(`${accountId}\n${kind}\n${id}`);
      return spent === undefined ? [] : [{ kind, id, postedNano: spent.toNano('half-up') }];
    });
    if (account === undefined || scopes.length < wish.scopes.length) rest.push(wish);
    else {
      const balanceNano = account.posted.toNano('half-up');
      const { history, version } = account;
      requests.push({ accountId, gen, history, version, balanceNano, scopes, units: [...units] });
    }
  }
  return { requests, rest };
}
