import {
  ID_PATTERN,
  type CreateBudgetBody,
  type ErrorDetail,
  type RaiseBudgetBody,
} from '@gateway/contracts';
import { isTimeZone } from '@gateway/platform';

const RAISE_MAX_MS = 366 * 86_400_000;
/** `name=value`, as a header or a key has it: a value of a header has neither a comma nor a blank at its ends. */
const TAG = /^[^\s=,][^=,]{0,63}=\S(.{0,254}\S)?$/u;

/** Faults of the scope's id; whether the organization has it is another question. */
export function scopeFaults({
  scope,
  scope_id,
}: Pick<CreateBudgetBody, 'scope' | 'scope_id'>): ErrorDetail[] {
  if (scope === 'end_user') return [];
  if (scope === 'tag') return TAG.test(scope_id) ? [] : [fault('scope_id', 'A tag has the form name=value.')];
  return ID_PATTERN.test(scope_id) ? [] : [fault('scope_id', `This is not the id of a ${scope}.`)];
}

function fault(field: string, msg: string): ErrorDetail {
  return { type: 'value_error', loc: [field], msg };
}

function isAmount(text: string): boolean {
  return /[1-9]/.test(text);
}

export function raiseFaults({ by_usd }: RaiseBudgetBody, aheadMs: number): ErrorDetail[] {
  const isAhead = aheadMs > 0 && aheadMs <= RAISE_MAX_MS;
  return [
    ...(isAmount(by_usd) ? [] : [fault('by_usd', 'by_usd must be above 0.')]),
    ...(isAhead ? [] : [fault('until', 'until must lie in the next 366 days.')]),
  ];
}

export function amountFaults({
  amount_usd,
  time_zone,
}: Partial<Pick<CreateBudgetBody, 'amount_usd' | 'time_zone'>>): ErrorDetail[] {
  return [
    ...(amount_usd === undefined || isAmount(amount_usd)
      ? []
      : [fault('amount_usd', 'amount_usd must be above 0.')]),
    ...(time_zone === undefined || isTimeZone(time_zone)
      ? []
      : [fault('time_zone', 'time_zone is not a known IANA name.')]),
  ];
}

/** Faults of a period: a rolling budget has days and no zone, each other one no days. */
export function rollingFaults({
  period,
  time_zone,
  rolling_days = null,
}: {
  period: string;
  time_zone: string;
  rolling_days?: number | null;
}): ErrorDetail[] {
  if (period !== 'rolling')
    return rolling_days === null ? [] : [fault('rolling_days', 'rolling_days is of period rolling alone.')];
  return [
    ...(rolling_days === null ? [fault('rolling_days', 'period rolling needs rolling_days.')] : []),
    ...(time_zone === 'UTC' ? [] : [fault('time_zone', 'A rolling budget has no zone.')]),
  ];
}
