import { useQuery, type UseMutationResult, type UseQueryResult } from '@tanstack/react-query';
import { api, bodyOf } from '../api/call.js';
import type { Problem } from '../api/problem.js';
import type { Schemas } from '../api/schemas.js';
import { useWrite } from '../api/use-write.js';

export type PeriodBudget = Schemas['PeriodBudgetRecord'];
export type NewBudget = Omit<Schemas['CreateBudgetBody'], 'org_id'>;
export type BudgetChange = Schemas['UpdateBudgetBody'];

export const PERIOD_BUDGETS_A_PAGE = 50;
/** Largest number that one read has; of providers there are fewer. */
const PROVIDER_BUDGETS_MAX = 200;

/** Returns the address of a budget: one that no organization has is the platform's. */
function addressOf({ org_id: org }: PeriodBudget) {
  return org === null ? '/v1/admin/budgets/{id}' : '/v1/budgets/{id}';
}

/** Reads the budgets of an organization with what is used of the period that runs. */
export function usePeriodBudgets(
  org: string,
  page: number,
): UseQueryResult<Schemas['PageOfPeriodBudgetRecord']> {
  const query = { org_id: org, limit: PERIOD_BUDGETS_A_PAGE, offset: (page - 1) * PERIOD_BUDGETS_A_PAGE };
  return useQuery({
    queryKey: [org, 'period-budgets', query],
    queryFn: () => bodyOf(api.GET('/v1/budgets', { params: { query } })),
    placeholderData: (shown) => shown,
    staleTime: 0,
  });
}

/** Reads the amount of the organization's own budget of a month; null where it has none, undefined until it is known. */
export function useMonthBudget(org: string, mayRead: boolean): string | null | undefined {
  const query = { org_id: org, scope: 'org' as const, scope_id: org };
  const budgets = useQuery({
    queryKey: [org, 'period-budgets', query],
    queryFn: () => bodyOf(api.GET('/v1/budgets', { params: { query } })),
    enabled: mayRead,
  });
  if (!budgets.isSuccess) return undefined;
  return budgets.data.data.find(({ period }) => period === 'month')?.effective_amount_usd ?? null;
}

/** Reads all budgets of providers, for super admins. */
export function useProviderBudgets(): UseQueryResult<PeriodBudget[]> {
  const query = { limit: PROVIDER_BUDGETS_MAX };
  return useQuery({
    queryKey: ['platform', 'period-budgets'],
    queryFn: async () => (await bodyOf(api.GET('/v1/admin/budgets', { params: { query } }))).data,
    staleTime: 0,
  });
}

/** Reads the providers that a budget may hold for, for super admins. */
export function useBudgetProviders(): Schemas['ProviderRecord'][] {
  const providers = useQuery({
    queryKey: ['providers'],
    queryFn: async () => (await bodyOf(api.GET('/v1/admin/providers'))).data,
  });
  return providers.data ?? [];
}

function useBudgetWrite<Sent, Answer>(
  write: (sent: Sent) => Promise<Answer>,
): UseMutationResult<Answer, Problem, Sent> {
  return useWrite({ write, touches: ([, noun]) => noun === 'period-budgets' });
}

export function useCreateBudget(
  org: string,
  idempotencyKey: string,
): UseMutationResult<PeriodBudget, Problem, NewBudget> {
  const headers = { 'Idempotency-Key': idempotencyKey };
  return useBudgetWrite((sent) =>
    bodyOf(api.POST('/v1/budgets', { headers, body: { org_id: org, ...sent } })),
  );
}

export function useCreateProviderBudget(
  idempotencyKey: string,
): UseMutationResult<PeriodBudget, Problem, Schemas['CreateProviderBudgetBody']> {
  const headers = { 'Idempotency-Key': idempotencyKey };
  return useBudgetWrite((body) => bodyOf(api.POST('/v1/admin/budgets', { headers, body })));
}

export function useChangeBudget(
  budget: PeriodBudget,
): UseMutationResult<PeriodBudget, Problem, BudgetChange> {
  const params = { path: { id: budget.id } };
  return useBudgetWrite((body) => bodyOf(api.PATCH(addressOf(budget), { params, body })));
}

export function useRaiseBudget(
  budget: PeriodBudget,
): UseMutationResult<PeriodBudget, Problem, Schemas['RaiseBudgetBody']> {
  const params = { path: { id: budget.id } };
  return useBudgetWrite((body) => bodyOf(api.POST(`${addressOf(budget)}/raise`, { params, body })));
}

export function useEndRaise(budget: PeriodBudget): UseMutationResult<unknown, Problem, void> {
  const params = { path: { id: budget.id } };
  return useBudgetWrite(() => bodyOf<unknown>(api.DELETE(`${addressOf(budget)}/raise`, { params })));
}

export function useDeleteBudget(budget: PeriodBudget): UseMutationResult<unknown, Problem, void> {
  const params = { path: { id: budget.id } };
  return useBudgetWrite(() => bodyOf<unknown>(api.DELETE(addressOf(budget), { params })));
}
