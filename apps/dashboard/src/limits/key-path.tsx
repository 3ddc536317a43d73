import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { SCOPE_WORDS } from '../format/limit-words.js';
import { usedOf } from '../format/time.js';
import { Money } from '../shell/money.js';
import { ProblemCard } from '../shell/problem-card.js';
import { Loading } from '../shell/states.js';
import { DataTable, type Column } from '../table/data-table.js';
import { useLimitsAbove, useRatesAbove, type KeyLimits, type Rates } from './limits.queries.js';
import { shareOf, Used } from './used.js';

const INDENT_PX = 18;

/** Scopes from the organization down to the key; a deeper scope counts against all above it. */
const SCOPES = [
  { scope: 'org', name: SCOPE_WORDS.org, depth: 0 },
  { scope: 'team', name: SCOPE_WORDS.team, depth: 1 },
  { scope: 'member', name: SCOPE_WORDS.member, depth: 1 },
  { scope: 'team_member', name: SCOPE_WORDS.team_member, depth: 2 },
  { scope: 'key', name: SCOPE_WORDS.key, depth: 3 },
] as const;
const RATES = [
  { metric: 'rpm', name: 'Requests this minute' },
  { metric: 'rpd', name: 'Requests today' },
  { metric: 'tpm', name: 'Tokens this minute' },
] as const;
type Scope = (typeof SCOPES)[number];

/** The scopes above one key, with what is used of each, and which of them decides. */
export function KeyPath({ org, limitedKey }: { org: string | null; limitedKey: string }): ReactNode {
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
            {usedOf(current, limit)}
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
            <Money usd={spent} none="unknown" />
            {cap === null ? ', ' : ' of '}
            <Money usd={cap} none="no cap" />
            {scope !== 'key' && cap !== null && ' in 30 days'}
          </Used>
        );
      },
    },
  ];
}
