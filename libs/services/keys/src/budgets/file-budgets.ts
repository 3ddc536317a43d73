import { ConfigError } from '@gateway/platform';
import type { OwnBudget } from '@gateway/providers';
import { configFaultsOf, gatewayFile } from '@gateway/upstream';
import { Prisma } from '../generated/prisma/client.js';
import type { KeysConfig } from '../keys.config.js';
import { amountFaults, rollingFaults } from './budget-faults.js';
import type { BudgetRow } from './budget-wire.js';

/** Nest token of the budgets of providers in gateway.yaml. */
export const FILE_BUDGETS = Symbol('FileBudgets');

const PREFIX = 'bud_file_';

/** True of a budget of gateway.yaml. */
export function isOfFile(id: string): boolean {
  return id.startsWith(PREFIX);
}

/** Returns the budgets of the operator's file as rows, each with the same id at every start. Throws ConfigError with all faults. */
export function fileBudgetsOf(config: Pick<KeysConfig, 'GATEWAY_CONFIG'>): BudgetRow[] {
  const file = gatewayFile(config);
  const { budgets } = file.config;
  const faults = budgets.flatMap((budget) => {
    const { amount_usd, time_zone = 'UTC', period, rolling_days } = budget;
    const found = [
      ...amountFaults({ amount_usd, time_zone }),
      ...rollingFaults({ period, time_zone, rolling_days }),
    ];
    return found.map(({ loc, msg }) => file.fault(budget, loc, msg));
  });
  if (faults.length > 0) throw new ConfigError(configFaultsOf({ faults }));
  const seen = new Map<string, number>();
  return budgets.map((budget) => {
    const n = (seen.get(budget.scope_id) ?? 0) + 1;
    seen.set(budget.scope_id, n);
    return rowOf(budget, `${PREFIX}${budget.scope_id}_${n}`);
  });
}

/** Counts since 1970: a restart does not begin anew. */
function rowOf(budget: OwnBudget, id: string): BudgetRow {
  const { scope, scope_id, name, is_hard = true, thresholds_pct = [] } = budget;
  const { amount_usd, time_zone = 'UTC', period, rolling_days = null } = budget;
  const began = new Date(0);
  return {
    ...{ id, org_id: null, scope, scope_id, name: name ?? `${scope_id} of gateway.yaml` },
    ...{ amount_usd: new Prisma.Decimal(amount_usd), period, time_zone, rolling_days },
    ...{ raise_by_usd: null, raise_until: null, is_hard, thresholds_pct, is_enabled: true },
    ...{ counted_from: began, created_at: began, updated_at: began },
  };
}
