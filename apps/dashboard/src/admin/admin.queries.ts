import { useQuery, type UseMutationResult, type UseQueryResult } from '@tanstack/react-query';
import { api, bodyOf } from '../api/call.js';
import type { Problem } from '../api/problem.js';
import type { Schemas } from '../api/schemas.js';
import { useWrite } from '../api/use-write.js';

export type Org = Schemas['OrgRecord'];
export type Coupon = Schemas['CouponRecord'];
export type CouponBody = Schemas['CouponBody'];
export type Books = Schemas['BooksRecord'];
export type Import = Schemas['CatalogueImport'];
export type ImportBody = Schemas['ImportCatalogueBody'];

export const ROWS_A_PAGE = 50;

export function useAllOrgs(q: string | undefined, page: number): UseQueryResult<Schemas['PageOfOrgRecord']> {
  const query = { ...(q ? { q } : {}), limit: ROWS_A_PAGE, offset: (page - 1) * ROWS_A_PAGE };
  return useQuery({
    queryKey: ['orgs', 'all', query],
    queryFn: () => bodyOf(api.GET('/v1/orgs', { params: { query } })),
    placeholderData: (shown) => shown,
  });
}

export function useChangeTerms(
  id: string,
): UseMutationResult<Org, Problem, Pick<Schemas['UpdateOrgBody'], 'tier' | 'credit_limit_usd'>> {
  return useWrite({
    write: (body) => bodyOf(api.PATCH('/v1/orgs/{id}', { params: { path: { id } }, body })),
    touches: ([noun]) => noun === 'orgs',
  });
}

export function useGiveCredit(
  idempotencyKey: string,
): UseMutationResult<Schemas['CreditRecord'], Problem, Schemas['CreditBody']> {
  const headers = { 'Idempotency-Key': idempotencyKey };
  return useWrite({
    write: (body) => bodyOf(api.POST('/v1/admin/credits', { headers, body })),
    touches: ([, noun]) => noun === 'balance' || noun === 'ledger',
  });
}

export function useSetDiscount(
  account: string,
): UseMutationResult<Schemas['DiscountRecord'], Problem, Schemas['DiscountBody']> {
  return useWrite({
    write: (body) =>
      bodyOf(api.PUT('/v1/admin/discounts/{account}', { params: { path: { account } }, body })),
  });
}

export function useCoupons(page: number): UseQueryResult<Schemas['PageOfCouponRecord']> {
  const query = { limit: ROWS_A_PAGE, offset: (page - 1) * ROWS_A_PAGE };
  return useQuery({
    queryKey: ['coupons', query],
    queryFn: () => bodyOf(api.GET('/v1/admin/coupons', { params: { query } })),
    placeholderData: (shown) => shown,
  });
}

export function useCreateCoupon(idempotencyKey: string): UseMutationResult<Coupon, Problem, CouponBody> {
  const headers = { 'Idempotency-Key': idempotencyKey };
  return useWrite({
    write: (body) => bodyOf(api.POST('/v1/admin/coupons', { headers, body })),
    touches: ([noun]) => noun === 'coupons',
  });
}

export type Provider = Schemas['ProviderRecord'];

export function useProviders(): UseQueryResult<Provider[]> {
  return useQuery({
    queryKey: ['providers'],
    queryFn: async () => (await bodyOf(api.GET('/v1/admin/providers'))).data,
  });
}

/** A provider is written whole; what is not asked here stays as it is. */
export function useSwitchProvider(provider: Provider): UseMutationResult<unknown, Problem, boolean> {
  const { slug, name, dialects, regions, zero_retention } = provider;
  return useWrite({
    write: (is_enabled) =>
      bodyOf<unknown>(
        api.PUT('/v1/admin/providers/{slug}', {
          params: { path: { slug } },
          body: { name, dialects, regions, zero_retention, is_enabled },
        }),
      ),
    touches: ([noun]) => noun === 'providers' || noun === 'models' || noun === 'model',
  });
}

export function useBooks(): UseQueryResult<Books> {
  return useQuery({
    queryKey: ['books'],
    queryFn: () => bodyOf(api.GET('/v1/admin/books')),
    staleTime: 0,
  });
}

/** A dry run, which changes nothing, or the load itself. */
export function useImport(): UseMutationResult<Import, Problem, ImportBody> {
  return useWrite({
    write: (body) => bodyOf(api.POST('/v1/admin/catalogue/import', { body: { replace: true, ...body } })),
    touches: ([noun]) => noun === 'models' || noun === 'model',
  });
}
