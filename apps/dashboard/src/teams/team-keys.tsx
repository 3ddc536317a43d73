import { Anchor } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Money } from '../shell/money.js';
import { useOrg } from '../shell/org.queries.js';
import { ProblemCard } from '../shell/problem-card.js';
import { Empty, Loading } from '../shell/states.js';
import { When } from '../shell/when.js';
import { DataTable, type Column } from '../table/data-table.js';
import { TEAM_KEYS_MAX, useTeamKeys, type Team, type TeamKey } from './teams.queries.js';

/** Table of the keys of a team, those used last first. */
export function TeamKeys({ team }: { team: Team }): ReactNode {
  const { slug } = useOrg();
  const keys = useTeamKeys(team);
  if (keys.isPending) return <Loading height={44} rows={2} />;
  if (keys.isError) return <ProblemCard failure={keys.error} retry={() => void keys.refetch()} />;
  const { data, total } = keys.data;
  if (total === 0) return <Empty>No key is in this team. A key is put into it on the page of the key.</Empty>;
  const columns: Column<TeamKey>[] = [
    {
      name: 'Key',
      cell: ({ id, label, masked_key: masked }) => (
        <Anchor component={Link} to={`/o/${slug}/keys/${id}`} size="sm">
          {label ?? masked}
        </Anchor>
      ),
    },
    { name: 'Status', cell: ({ status }) => status },
    { name: 'Spent', isFigure: true, cell: ({ spent_usd: usd }) => <Money usd={usd} none="unknown" /> },
    { name: 'Cap', isFigure: true, cell: ({ spend_cap_usd: usd }) => <Money usd={usd} none="no cap" /> },
    { name: 'Last used', cell: ({ last_used_at: at }) => <When at={at} /> },
  ];
  return (
    <>
      <DataTable label="Keys of the team" columns={columns} rows={data} rowKey={({ id }) => id} />
      {total > TEAM_KEYS_MAX && `The ${TEAM_KEYS_MAX} used last of ${total}.`}
    </>
  );
}
