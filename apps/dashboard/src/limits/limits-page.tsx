import { Badge, Box, Button, Group, Progress, Stack, Text } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { barHeight } from '../chart/bar-height.js';
import { count } from '../format/time.js';
import { Money } from '../shell/money.js';
import { useOrg } from '../shell/org.queries.js';
import { PageHead } from '../shell/page-head.js';
import { ProblemCard } from '../shell/problem-card.js';
import { useParamsOfUrl } from '../shell/search-params.js';
import { Empty, Loading } from '../shell/states.js';
import { DataTable, type Column } from '../table/data-table.js';
import { KeyChoice } from './key-choice.js';
import {
  useKeyChoices,
  useLimitsAbove,
  useRatesAbove,
  type KeyLimits,
  type Rates,
} from './limits.queries.js';

const INDENT_PX = 18;
const FULL_PCT = 100;
const NEAR_PCT = 80;

/** From the organization down to the key; what stands deeper counts against all above it. */
const SCOPES = [
  { scope: 'org', name: 'Organization', depth: 0 },
  { scope: 'team', name: 'Team', depth: 1 },
  { scope: 'member', name: 'Member', depth: 1 },
  { scope: 'team_member', name: 'Member in the team', depth: 2 },
  { scope: 'key', name: 'Key', depth: 3 },
] as const;
const RATES = [
  { metric: 'rpm', name: 'Requests this minute' },
  { metric: 'rpd', name: 'Requests today' },
  { metric: 'tpm', name: 'Tokens this minute' },
] as const;
type Scope = (typeof SCOPES)[number];

export default function LimitsPage(): ReactNode {
  const { id, slug } = useOrg();
  const [url, change] = useParamsOfUrl();
  const navigate = useNavigate();
  const keys = useKeyChoices(id, '');
  const key = url.key_id ?? keys.data?.data.at(0)?.id;
  return (
    <>
      <PageHead
        title="Limits"
        about="What is used of each limit, from the organization down to one key. The smallest decides."
      >
        <Button component={Link} to={`/o/${slug}/limits/simulate`} variant="default">
          Simulate a request
        </Button>
      </PageHead>
      {keys.isPending && <Loading height={240} />}
      {keys.isError && <ProblemCard failure={keys.error} retry={() => void keys.refetch()} />}
      {keys.isSuccess && key === undefined && (
        <Empty action={{ label: 'Create a key', run: () => void navigate({ to: `/o/${slug}/start` }) }}>
          There is no key yet that limits could stop.
        </Empty>
      )}
      {key !== undefined && (
        <Stack>
          <Box maw={420}>
            <KeyChoice value={key} onChange={(chosen) => change({ key_id: chosen })} />
          </Box>
          <Tree org={id} limitedKey={key} />
        </Stack>
      )}
    </>
  );
}

function Tree({ org, limitedKey }: { org: string | null; limitedKey: string }): ReactNode {
  const limits = useLimitsAbove(limitedKey);
  const rates = useRatesAbove(org, limitedKey);
  if (limits.isPending || rates.isPending) return <Loading height={240} />;
  if (limits.isError) return <ProblemCard failure={limits.error} retry={() => void limits.refetch()} />;
  if (rates.isError) return <ProblemCard failure={rates.error} retry={() => void rates.refetch()} />;
  return (
    <DataTable
      label="Limits from the organization to the key"
      columns={columnsOf(limits.data, rates.data)}
      rows={SCOPES.filter(({ scope }) => limits.data.scopes[scope] !== null)}
      rowKey={({ scope }) => scope}
      minWidth={860}
    />
  );
}

function columnsOf({ scopes, binding }: KeyLimits, rates: Rates): Column<Scope>[] {
  return [
    {
      name: 'Scope',
      cell: ({ name, depth }) => (
        <Text size="sm" fw={500} pl={depth * INDENT_PX}>
          {name}
        </Text>
      ),
    },
    ...RATES.map(({ metric, name }): Column<Scope> => ({
      name,
      cell: ({ scope, name: scopeName }) => {
        const counted = rates.scopes[scope]?.[metric];
        if (counted === undefined) return '–';
        const { current, limit, pct } = counted;
        return (
          <Used
            label={`${name}, ${scopeName}`}
            pct={limit === null ? null : pct}
            binds={binding[metric] === scope}
          >
            {count(current)} of {limit === null ? 'any number' : count(limit)}
          </Used>
        );
      },
    })),
    {
      name: 'Spend',
      cell: ({ scope, name: scopeName }) => {
        const { spend_cap_usd: cap, spent_usd: spent } = scopes[scope] ?? {
          spend_cap_usd: null,
          spent_usd: null,
        };
        const pct = cap === null ? null : shareOf(spent ?? '0', cap);
        return (
          <Used label={`Spend, ${scopeName}`} pct={pct} binds={binding.spend_cap === scope}>
            <Money usd={spent} none="unknown" /> of <Money usd={cap} none="any amount" />
            {scope !== 'key' && cap !== null && ' in 30 days'}
          </Used>
        );
      },
    },
  ];
}

/** How long the bar is: a cap of nothing is full. */
function shareOf(spent: string, cap: string): number {
  const whole = barHeight(cap);
  return whole === 0 ? FULL_PCT : (barHeight(spent) / whole) * FULL_PCT;
}

interface UsedProps {
  label: string;
  /** null where there is no limit. */
  pct: number | null;
  binds: boolean;
  children: ReactNode;
}

function Used({ label, pct, binds, children }: UsedProps): ReactNode {
  return (
    <Stack gap={4}>
      <Group gap={6} wrap="nowrap">
        <Text size="sm" component="div" style={{ whiteSpace: 'nowrap', fontVariantNumeric: 'tabular-nums' }}>
          {children}
        </Text>
        {binds && (
          <Badge size="xs" variant="light" style={{ flexShrink: 0 }}>
            binds
          </Badge>
        )}
      </Group>
      {pct !== null && (
        <Progress
          size="sm"
          value={Math.min(pct, FULL_PCT)}
          color={pct >= FULL_PCT ? 'red' : pct >= NEAR_PCT ? 'yellow' : undefined}
          aria-label={label}
        />
      )}
    </Stack>
  );
}
