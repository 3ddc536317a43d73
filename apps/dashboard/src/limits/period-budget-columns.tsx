import { Badge, Group, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { usdRatio } from '../format/money.js';
import { Money } from '../shell/money.js';
import { When } from '../shell/when.js';
import type { Column } from '../table/data-table.js';
import { BudgetBar, usedInWords } from './budget-bar.js';
import type { PeriodBudget } from './period-budgets.queries.js';

const PERIOD_WORDS = { day: 'a day', week: 'a week', month: 'a month', quarter: 'a quarter' } as const;

/** Returns the columns of a list of budgets; what each holds for, and what may be done with it, is the list's own. */
export function periodBudgetColumns(
  owner: Column<PeriodBudget>,
  actions: Column<PeriodBudget>,
): readonly Column<PeriodBudget>[] {
  return [
    {
      name: 'Name',
      cell: ({ name, is_enabled: isOn, is_hard: isHard }) => (
        <Group gap="xs" wrap="nowrap">
          <Text size="sm" fw={500}>
            {name}
          </Text>
          {!isOn && (
            <Badge variant="light" color="gray">
              paused
            </Badge>
          )}
          {!isHard && (
            <Badge variant="light" color="gray">
              warns only
            </Badge>
          )}
        </Group>
      ),
    },
    owner,
    { name: 'Used', width: 180, cell: (budget) => <UsedPart budget={budget} /> },
    {
      name: 'Spent',
      isFigure: true,
      cell: ({ spent_usd: usd }) => <Money usd={usd} none="unknown" />,
    },
    { name: 'Amount', isFigure: true, cell: (budget) => <Amount budget={budget} /> },
    {
      name: 'Next period',
      cell: ({ period_end: at }) => <When at={at} />,
    },
    actions,
  ];
}

/** Part of the amount that is posted; what is in flight is not known to stay. */
function UsedPart({ budget }: { budget: PeriodBudget }): ReactNode {
  const { spent_usd: spent, effective_amount_usd: amount, name } = budget;
  const used = spent === null ? null : usdRatio(spent, amount);
  if (used === null) return 'unknown';
  return (
    <Group gap="sm" wrap="nowrap">
      <div style={{ flex: 1, minWidth: 60 }}>
        <BudgetBar budget={{ name, used }} />
      </div>
      <Text size="sm" w={44} ta="right">
        {usedInWords(used)}
      </Text>
    </Group>
  );
}

function Amount({ budget }: { budget: PeriodBudget }): ReactNode {
  const { effective_amount_usd: amount, period, rolling_days: days, raise, thresholds_pct: told } = budget;
  return (
    <>
      <Money usd={amount} /> {period === 'rolling' ? `in ${days ?? 1} days` : PERIOD_WORDS[period]}
      {told.length > 0 && (
        <Text size="sm" c="dimmed">
          warns at {told.map((pct) => `${pct}%`).join(', ')}
        </Text>
      )}
      {raise !== null && (
        <Text size="sm" c="dimmed" component="div">
          <Money usd={raise.by_usd} /> of it ends <When at={raise.until} />
        </Text>
      )}
    </>
  );
}
