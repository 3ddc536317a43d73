import { Anchor, Group, Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { BudgetBar, usedInWords } from '../limits/budget-bar.js';
import { BudgetName } from '../limits/budget-name.js';
import { useBudgets } from '../limits/budgets.queries.js';
import { useRoles } from '../session/me.queries.js';
import { isAllowed } from '../session/rights.js';
import { useOrg } from '../shell/org.queries.js';
import { Panel } from '../shell/panel.js';
import { ProblemCard } from '../shell/problem-card.js';
import { useScopes } from '../shell/scope.js';

const SHOWN = 5;

/** Spend caps that are used most, for those who may change them; nothing where none is set. */
export function NearCaps({ org }: { org: string }): ReactNode {
  const { slug } = useOrg();
  return isAllowed(useRoles(slug), ['owner', 'admin']) ? <Caps org={org} /> : null;
}

function Caps({ org }: { org: string }): ReactNode {
  const { slug } = useOrg();
  const scope = useScopes().usage;
  const budgets = useBudgets(org, { limit: SHOWN });
  if (budgets.isPending) return null;
  if (budgets.isError) return <ProblemCard failure={budgets.error} retry={() => void budgets.refetch()} />;
  if (budgets.data.total === 0) return null;
  return (
    <Panel title="Budgets" scope={scope}>
      <Stack gap="sm">
        {budgets.data.data.map((budget) => (
          <Stack key={`${budget.scope} ${budget.team_id} ${budget.id}`} gap={4}>
            <Group justify="space-between" wrap="nowrap">
              <BudgetName budget={budget} />
              <Text size="sm" c="dimmed">
                {usedInWords(budget.used)}
              </Text>
            </Group>
            <BudgetBar budget={budget} />
          </Stack>
        ))}
        <Anchor component={Link} to={`/o/${slug}/budgets`} size="sm">
          All budgets
        </Anchor>
      </Stack>
    </Panel>
  );
}
