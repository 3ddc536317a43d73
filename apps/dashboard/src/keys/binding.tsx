import { Badge, Group, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { SCOPE_WORDS } from '../format/limit-words.js';
import { formatUsd } from '../format/money.js';
import { count } from '../format/time.js';
import { ProblemCard } from '../shell/problem-card.js';
import { Loading } from '../shell/states.js';
import { DataTable, type Column } from '../table/data-table.js';
import { useKeyLimits, type KeyLimits } from './keys.queries.js';

const METRICS = [
  { metric: 'rpm', name: 'Requests a minute', field: 'rpm_limit' },
  { metric: 'rpd', name: 'Requests a day', field: 'rpd_limit' },
  { metric: 'tpm', name: 'Tokens a minute', field: 'tpm_limit' },
  { metric: 'spend_cap', name: 'Spend cap', field: 'spend_cap_usd' },
] as const;
const SCOPES = ['key', 'team_member', 'member', 'team', 'org'] as const;
type Metric = (typeof METRICS)[number];

/** A column per scope; the one that decides is marked, in words too. */
export function Binding({ id }: { id: string }): ReactNode {
  const limits = useKeyLimits(id);
  if (limits.isPending) return <Loading height={180} />;
  if (limits.isError) return <ProblemCard failure={limits.error} retry={() => void limits.refetch()} />;
  const { data } = limits;
  const scopes = SCOPES.filter((scope) => data.scopes[scope] !== null);
  const columns: Column<Metric>[] = [
    { name: 'Limit', cell: ({ name }) => <span style={{ whiteSpace: 'nowrap' }}>{name}</span> },
    ...scopes.map((scope) => ({
      name: SCOPE_WORDS[scope],
      isFigure: true,
      cell: (metric: Metric) => <Limit limits={data} scope={scope} metric={metric} />,
    })),
  ];
  return (
    <DataTable
      label="Limits by scope"
      columns={columns}
      rows={METRICS}
      rowKey={({ metric }) => metric}
      minWidth={420}
    />
  );
}

function Limit({
  limits,
  scope,
  metric,
}: {
  limits: KeyLimits;
  scope: (typeof SCOPES)[number];
  metric: Metric;
}): ReactNode {
  const value = limits.scopes[scope]?.[metric.field] ?? null;
  const shown = typeof value === 'string' ? formatUsd(value) : value === null ? '–' : count(value);
  const binds = limits.binding[metric.metric] === scope;
  return (
    <Group gap={6} justify="flex-end" wrap="nowrap">
      {binds && (
        <Badge size="xs" variant="light" style={{ flexShrink: 0 }}>
          effective
        </Badge>
      )}
      <Text size="sm" fw={binds ? 700 : 400} span>
        {shown}
      </Text>
    </Group>
  );
}
