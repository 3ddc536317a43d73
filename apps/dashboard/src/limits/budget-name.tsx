import { Anchor, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useOrg } from '../shell/org.queries.js';
import type { Budget } from './budgets.queries.js';

/** Name of a cap, with the way to where it is set. */
export function BudgetName({ budget }: { budget: Budget }): ReactNode {
  const { slug } = useOrg();
  const { scope, id, team_id: team, name } = budget;
  const to = {
    org: '/settings',
    team: `/teams/${id}`,
    member: '/members',
    team_member: `/teams/${team ?? ''}`,
    key: `/keys/${id}`,
  }[scope];
  return (
    <Text size="sm" component="div" truncate>
      <Anchor component={Link} to={`/o/${slug}${to}`} inherit>
        {name ?? 'Key without a label'}
      </Anchor>
    </Text>
  );
}
