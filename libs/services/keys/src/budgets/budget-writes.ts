import type { ErrorDetail, UpdateBudgetBody } from '@gateway/contracts';
import { refuseFaults, sentFields } from '@gateway/platform';
import type { Changed } from '../accounts/account-change.js';
import { changedValues } from '../audit/changed-values.js';
import type { Tx } from '../postgres/keys-database.js';
import { amountFaults, rollingFaults } from './budget-faults.js';
import type { BudgetRow } from './budget-wire.js';

/** An amount that is added until a time, with its faults. */
export interface WantedRaise {
  by: string;
  until: Date;
  faults: ErrorDetail[];
}

/** Throws ApiError `validation_error`. */
export async function updateBudget(
  tx: Tx,
  row: BudgetRow,
  body: UpdateBudgetBody,
  now: Date,
): Promise<Changed<BudgetRow>> {
  const isRolling = (body.period ?? row.period) === 'rolling';
  const rolling_days = isRolling ? (body.rolling_days ?? row.rolling_days) : (body.rolling_days ?? null);
  const zone = body.period === 'rolling' ? 'UTC' : row.time_zone;
  const becomes = { period: body.period ?? row.period, time_zone: body.time_zone ?? zone, rolling_days };
  refuseFaults('validation_error', [...amountFaults(body), ...rollingFaults(becomes)]);
  const fields = sentFields(body);
  if (fields.length === 0) return { answer: row, audit: null };
  const { name, amount_usd, period, is_hard, thresholds_pct, is_enabled } = body;
  // What came while it was disabled is in the ledger alone.
  const counted_from = is_enabled === true && !row.is_enabled ? now : undefined;
  const changed = { name, amount_usd, period, is_hard, thresholds_pct, is_enabled };
  const data = { ...changed, time_zone: becomes.time_zone, rolling_days, counted_from, updated_at: now };
  const answer = await tx.budget.update({ where: { id: row.id }, data });
  const audit = budgetAudit('budget.update', row, fields);
  return { answer, audit, values: changedValues(row, answer) };
}

/** Sets the raise, or ends it with null. Throws ApiError `validation_error`. */
export async function raiseBudget(
  tx: Tx,
  row: BudgetRow,
  raise: WantedRaise | null,
  now: Date,
): Promise<Changed<BudgetRow>> {
  refuseFaults('validation_error', raise?.faults ?? []);
  if (raise === null && row.raise_until === null) return { answer: row, audit: null };
  const raised = { raise_by_usd: raise?.by ?? null, raise_until: raise?.until ?? null };
  const answer = await tx.budget.update({ where: { id: row.id }, data: { ...raised, updated_at: now } });
  const audit = budgetAudit('budget.raise', row, ['raise']);
  return { answer, audit, values: changedValues(row, answer) };
}

export async function deleteBudget(tx: Tx, row: BudgetRow): Promise<Changed<BudgetRow>> {
  await tx.budget.delete({ where: { id: row.id } });
  return { answer: row, audit: budgetAudit('budget.delete', row, []) };
}

/** Returns the audit row of a change. */
export function budgetAudit(
  action: string,
  { id, org_id }: BudgetRow,
  changedFields: string[],
): NonNullable<Changed<unknown>['audit']> {
  return { action, targetType: 'budget', targetId: id, orgId: org_id, changedFields };
}
