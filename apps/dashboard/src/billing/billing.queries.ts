import { useQuery, type UseMutationResult, type UseQueryResult } from '@tanstack/react-query';
import { payingOrg } from '../api/asked-org.js';
import { api, bodyOf } from '../api/call.js';
import { freshness } from '../api/fresh-reads.js';
import type { Problem } from '../api/problem.js';
import type { Schemas } from '../api/schemas.js';
import { useWrite } from '../api/use-write.js';

/** Money is read anew each time. */
export function useBalance(org: string | null): UseQueryResult<Schemas['BalanceRecord']> {
  const query = { refresh: true, ...payingOrg(org) };
  return useQuery({
    queryKey: [org, 'balance', query],
    queryFn: () => bodyOf(api.GET('/v1/balance', { params: { query } })),
    staleTime: 0,
  });
}

export type Trend = Schemas['SpendTrend'];

export function useSpendTrend(org: string): UseQueryResult<Trend> {
  const query = { org_id: org, granularity: 'day' as const };
  return useQuery({
    queryKey: [org, 'spend-trend', query],
    queryFn: () =>
      bodyOf(api.GET('/v1/usage/spend-trend', { params: { query: { ...query, ...freshness(Date.now()) } } })),
    staleTime: 60_000,
  });
}

export type LedgerEntry = Schemas['LedgerEntry'];
export type Payment = Schemas['PaymentRecord'];
export type AutoRecharge = Schemas['AutoRechargeRecord'];

export const ENTRIES_A_PAGE = 50;

const pageQuery = (org: string | null, page: number): { org_id: string; limit: number; offset: number } => ({
  ...payingOrg(org),
  limit: ENTRIES_A_PAGE,
  offset: (page - 1) * ENTRIES_A_PAGE,
});

export function useLedger(org: string | null, page: number): UseQueryResult<Schemas['PageOfLedgerEntry']> {
  const query = pageQuery(org, page);
  return useQuery({
    queryKey: [org, 'ledger', query],
    queryFn: () => bodyOf(api.GET('/v1/billing/ledger', { params: { query } })),
    placeholderData: (shown) => shown,
    staleTime: 0,
  });
}

export type Statement = Schemas['StatementRecord'];

export function useStatement(org: string | null, month: string): UseQueryResult<Statement> {
  const query = { ...payingOrg(org), month };
  return useQuery({
    queryKey: [org, 'ledger', 'statement', query],
    queryFn: () => bodyOf(api.GET('/v1/billing/statement', { params: { query } })),
    staleTime: 0,
  });
}

export function usePayments(
  org: string | null,
  page: number,
): UseQueryResult<Schemas['PageOfPaymentRecord']> {
  const query = pageQuery(org, page);
  return useQuery({
    queryKey: [org, 'payments', query],
    queryFn: () => bodyOf(api.GET('/v1/billing/payments', { params: { query } })),
    placeholderData: (shown) => shown,
    staleTime: 0,
  });
}

/** The payment provider's page, where the card is entered: the gateway never sees it. */
export function useCheckout(
  idempotencyKey: string,
): UseMutationResult<string, Problem, Schemas['CheckoutBody']> {
  return useWrite({
    write: async (body) => {
      const headers = { 'Idempotency-Key': idempotencyKey };
      const answer: unknown = await bodyOf(api.POST('/v1/billing/checkout', { body, headers }));
      return (answer as { checkout_url: string }).checkout_url;
    },
    touches: ([, noun]) => noun === 'payments',
  });
}

const MONEY_NOUNS = new Set<unknown>(['balance', 'ledger', 'auto-recharge']);

export function useRedeem(
  idempotencyKey: string,
): UseMutationResult<Schemas['RedemptionRecord'], Problem, Schemas['RedeemCouponBody']> {
  return useWrite({
    write: (body) =>
      bodyOf(
        api.POST('/v1/billing/coupons/redeem', { body, headers: { 'Idempotency-Key': idempotencyKey } }),
      ),
    touches: ([, noun]) => MONEY_NOUNS.has(noun),
  });
}

export function useAutoRecharge(org: string | null): UseQueryResult<AutoRecharge> {
  const query = payingOrg(org);
  return useQuery({
    queryKey: [org, 'auto-recharge'],
    queryFn: () => bodyOf(api.GET('/v1/billing/auto-recharge', { params: { query } })),
  });
}

export function useChangeAutoRecharge(): UseMutationResult<
  AutoRecharge,
  Problem,
  Schemas['AutoRechargeBody']
> {
  return useWrite({
    write: (body) => bodyOf(api.PUT('/v1/billing/auto-recharge', { body })),
    touches: ([, noun]) => noun === 'auto-recharge',
  });
}
