import { useQuery, type UseMutationResult, type UseQueryResult } from '@tanstack/react-query';
import { api, bodyOf } from '../api/call.js';
import type { Problem } from '../api/problem.js';
import type { Schemas } from '../api/schemas.js';
import { useWrite } from '../api/use-write.js';

export type PeriodBudget = Schemas['PeriodBudgetRecord'];
export type NewBudget = Omit<Schemas['CreateBudgetBody'], 'org_id'>;
export type BudgetChange = Schemas['UpdateBudgetBody'];

export const PERIOD_BUDGETS_A_PAGE = 50;
const ONE = '/v1/budgets/{id}';

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

export function useChangeBudget(id: string): UseMutationResult<PeriodBudget, Problem, BudgetChange> {
  return useBudgetWrite((body) => bodyOf(api.PATCH(ONE, { params: { path: { id } }, body })));
}

export function useRaiseBudget(
  id: string,
): UseMutationResult<PeriodBudget, Problem, Schemas['RaiseBudgetBody']> {
  return useBudgetWrite((body) => bodyOf(api.POST(`${ONE}/raise`, { params: { path: { id } }, body })));
}

export function useEndRaise(id: string): UseMutationResult<unknown, Problem, void> {
  return useBudgetWrite(() => bodyOf<unknown>(api.DELETE(`${ONE}/raise`, { params: { path: { id } } })));
}

export function useDeleteBudget(id: string): UseMutationResult<unknown, Problem, void> {
  return useBudgetWrite(() => bodyOf<unknown>(api.DELETE(ONE, { params: { path: { id } } })));
}
