import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { keysOf, payingOrg } from '../api/asked-org.js';
import { api, bodyOf } from '../api/call.js';
import { freshness } from '../api/fresh-reads.js';
import type { Schemas } from '../api/schemas.js';
import { whyInWords } from '../billing/money-words.js';

/** Money is read anew each time. */
export function useBalance(org: string | null): UseQueryResult<Schemas['BalanceRecord']> {
  const query = payingOrg(org);
  return useQuery({
    queryKey: [org, 'balance'],
    queryFn: () => bodyOf(api.GET('/v1/balance', { params: { query } })),
    staleTime: 0,
  });
}

/** Reads why the balance changed last, in words; empty until it is known, and where nothing changed it. */
export function useWhyNewest(org: string | null, isAsked: boolean): string {
  const query = { ...payingOrg(org), limit: 1 };
  const newest = useQuery({
    queryKey: [org, 'ledger', query],
    queryFn: () => bodyOf(api.GET('/v1/billing/ledger', { params: { query } })),
    enabled: isAsked,
    staleTime: STALE_MS,
  }).data?.data[0];
  return newest === undefined || newest.kind === 'usage' ? '' : whyInWords(newest);
}

const STALE_MS = 60_000;

export function useWeek(org: string, since: string, zone: string): UseQueryResult<Schemas['UsageSeries']> {
  const body = { org_id: org, since, granularity: 'day' as const, time_zone: zone };
  return useQuery({
    queryKey: [org, 'series', body],
    queryFn: () => bodyOf(api.POST('/v1/usage/series', { body: { ...body, ...freshness(Date.now()) } })),
    staleTime: STALE_MS,
  });
}

const WEEK_MS = 7 * 86_400_000;

/** Reads the week before `since`. Of its sum no zone makes another, and a day of UTC costs the server least. */
export function useWeekBefore(org: string, since: string): UseQueryResult<Schemas['UsageSeries']> {
  const sinceMs = Date.parse(since);
  const [first, last] = [sinceMs - WEEK_MS, sinceMs - 1].map((ms) => new Date(ms).toISOString());
  const body = { org_id: org, since: first, until: last, granularity: 'week' as const };
  return useQuery({
    queryKey: [org, 'series', body],
    queryFn: () => bodyOf(api.POST('/v1/usage/series', { body: { ...body, ...freshness(Date.now()) } })),
    staleTime: STALE_MS,
  });
}

/** Reads the trend as Balance does: the spend of all members, in days of UTC. */
export function useSpendTrend(org: string): UseQueryResult<Schemas['SpendTrend']> {
  const query = { org_id: org, granularity: 'day' as const };
  return useQuery({
    queryKey: [org, 'spend-trend', query],
    queryFn: () =>
      bodyOf(api.GET('/v1/usage/spend-trend', { params: { query: { ...query, ...freshness(Date.now()) } } })),
    staleTime: STALE_MS,
  });
}

const SHOWN = 5;
/** Rejections that are read, to be shown by key and reason. */
const REJECTIONS = 50;

export function useNewestRejections(org: string, since: string): UseQueryResult<Schemas['RejectionsPage']> {
  const body = { org_id: org, since, limit: REJECTIONS };
  return useQuery({
    queryKey: [org, 'rejections', body],
    queryFn: () => bodyOf(api.POST('/v1/usage/rejections', { body: { ...body, ...freshness(Date.now()) } })),
  });
}

export function useActiveKeys(org: string | null): UseQueryResult<Schemas['PageOfApiKeyRecord']> {
  const query = { ...keysOf(org), status: 'active' as const, sort: '-last_used_at', limit: SHOWN };
  return useQuery({
    queryKey: [org, 'keys', query],
    queryFn: () => bodyOf(api.GET('/v1/keys', { params: { query } })),
  });
}

/** Read of the health of providers, for super admins. Home is whole without it. */
export const providersQuery = {
  queryKey: ['providers'],
  queryFn: async (): Promise<Schemas['ProviderRecord'][]> =>
    (await bodyOf(api.GET('/v1/admin/providers'))).data,
  staleTime: STALE_MS,
};
