import { Button, Group, Stack, Text } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { SCOPE_WORDS } from '../format/limit-words.js';
import { Money } from '../shell/money.js';
import { useOrg } from '../shell/org.queries.js';
import { PageHead } from '../shell/page-head.js';
import { Panel } from '../shell/panel.js';
import { ProblemCard } from '../shell/problem-card.js';
import { useScopes } from '../shell/scope.js';
import { useParamsOfUrl } from '../shell/search-params.js';
import { Empty, Loading } from '../shell/states.js';
import { DataTable, pageOf, Pager, type Column } from '../table/data-table.js';
import { BudgetBar, usedInWords } from './budget-bar.js';
import { BudgetName } from './budget-name.js';
import { useBudgets, type Budget } from './budgets.queries.js';
import { PeriodBudgets } from './period-budgets.js';

const ROWS = 50;

const COLUMNS: readonly Column<Budget>[] = [
  { name: 'Name', cell: (budget) => <BudgetName budget={budget} /> },
  { name: 'Of', cell: ({ scope }) => SCOPE_WORDS[scope] },
  {
    name: 'Used',
    width: 220,
    cell: (budget) => (
      <Group gap="sm" wrap="nowrap">
        <div style={{ flex: 1, minWidth: 60 }}>
          <BudgetBar budget={budget} />
        </div>
        <Text size="sm" w={44} ta="right">
          {usedInWords(budget.used)}
        </Text>
      </Group>
    ),
  },
  { name: 'Spent', isFigure: true, cell: ({ spent_usd: usd }) => <Money usd={usd} /> },
  { name: 'Cap', isFigure: true, cell: ({ spend_cap_usd: usd }) => <Money usd={usd} /> },
  { name: 'Counted', cell: ({ scope }) => (scope === 'key' ? 'Since the key was made' : 'Last 30 days') },
];

export default function BudgetsPage(): ReactNode {
  const { id } = useOrg();
  const [url, change] = useParamsOfUrl();
  return (
    <>
      <PageHead
        title="Budgets"
        scope={useScopes().usage}
        about="What may be spent: budgets of a calendar period, and caps."
      >
        <Button
          leftSection={<IconPlus size={16} />}
          onClick={() => change({ create: 'yes', page: url.page })}
        >
          Create budget
        </Button>
      </PageHead>
      {id !== null && (
        <Stack gap="lg">
          <PeriodBudgets org={id} />
          <Panel
            title="Spend caps"
            about="Every spend cap and what is spent of it, the one nearest to its end first."
          >
            <Caps org={id} />
          </Panel>
        </Stack>
      )}
    </>
  );
}

function Caps({ org }: { org: string }): ReactNode {
  const [url, change] = useParamsOfUrl();
  const page = pageOf(url.caps);
  const budgets = useBudgets(org, { limit: ROWS, offset: (page - 1) * ROWS });
  if (budgets.isPending) return <Loading height={44} rows={6} />;
  if (budgets.isError) return <ProblemCard failure={budgets.error} retry={() => void budgets.refetch()} />;
  const { data, total, is_partial: isPartial } = budgets.data;
  if (total === 0)
    return <Empty>No spend cap is set. Caps are set on a key, a team, a member or the organization.</Empty>;
  return (
    <>
      <DataTable
        label="Spend caps"
        columns={COLUMNS}
        rows={data}
        rowKey={({ scope, team_id: team, id }) => `${scope} ${team} ${id}`}
        minWidth={760}
      />
      {isPartial && (
        <Text size="sm" c="dimmed" mt="sm">
          There are {total.toLocaleString('en-US')} caps. Of the keys, those used last are compared.
        </Text>
      )}
      <Pager
        page={page}
        rows={ROWS}
        total={Math.min(total, 1_000)}
        onChange={(next) => change({ caps: next === 1 ? null : String(next), page: url.page })}
      />
    </>
  );
}
