import type { Money } from '../catalogue/price-record.js';
import type { BudgetGrant } from '../ports/principal.js';

/** A budget, and what is used of it in the period that runs. */
export interface PeriodBudgetRecord {
  /** `bud_<uuidv7>`. */
  id: string;
  /** null of a budget of a provider, which is the platform's. */
  org_id: string | null;
  scope: BudgetGrant['scope'];
  /**
   * Id of the scope; that of a tag is `name=value`, that of a provider its slug. That of an end user is the HMAC of their
   * id under a key of the account.
   */
  scope_id: string;
  name: string;
  amount_usd: Money;
  period: BudgetGrant['period'];
  /** null of a rolling one. */
  time_zone: string | null;
  /** Number of times 24 hours that a rolling one counts; null of others. */
  rolling_days: number | null;
  /** Added to the amount until then; null where nothing is, or its time has passed. */
  raise: { by_usd: Money; until: string } | null;
  /** The amount with its raise. */
  effective_amount_usd: Money;
  /** False for one that refuses nothing. */
  is_hard: boolean;
  /** Percentages of the amount that are told as `budget.threshold`, once a period each. */
  thresholds_pct: number[];
  /** Posted spend of the requests that came in the period; null where the ledger cannot be asked. */
  spent_usd: Money | null;
  /** Reserved and unposted spend of the period; null where the store that counts cannot be asked. */
  held_usd: Money | null;
  /** First instant that counts now. */
  period_start: string;
  /** First instant after the period that runs; null of a rolling one. */
  period_end: string | null;
  is_enabled: boolean;
  created_at: string;
  updated_at: string;
}
