import { Anchor, Button, Modal } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { newIdempotencyKey } from '../api/idempotency.js';
import { useMe } from '../session/me.queries.js';
import { isAllowed, rolesIn } from '../session/rights.js';
import { CreateForm, type CreateField } from '../shell/create-form.js';
import { Money } from '../shell/money.js';
import { useOrg } from '../shell/org.queries.js';
import { PageHead } from '../shell/page-head.js';
import { ProblemCard } from '../shell/problem-card.js';
import { useParamsOfUrl } from '../shell/search-params.js';
import { Empty, Loading } from '../shell/states.js';
import { When } from '../shell/when.js';
import { DataTable, pageOf, Pager, type Column } from '../table/data-table.js';
import { TEAMS_A_PAGE, useCreateTeam, useTeams, type Team } from './teams.queries.js';

export default function TeamsPage(): ReactNode {
  const { id, slug } = useOrg();
  const [url, change] = useParamsOfUrl();
  const me = useMe().data;
  if (id === null || me === undefined) return null;
  const mayChange = isAllowed(rolesIn(me, slug), ['owner', 'admin']);
  const create = (): void => change({ create: 'yes', page: url.page });
  const close = (): void => change({ create: null, page: url.page });
  return (
    <>
      <PageHead title="Teams" about="Keys of a team share its limits, above each member’s own.">
        {mayChange && (
          <Button leftSection={<IconPlus size={16} />} onClick={create}>
            Create team
          </Button>
        )}
      </PageHead>
      <Teams org={id} />
      <Modal opened={url.create === 'yes'} onClose={close} title="Create a team">
        <Form org={id} onClose={close} />
      </Modal>
    </>
  );
}

function Teams({ org }: { org: string }): ReactNode {
  const { slug } = useOrg();
  const [url, change] = useParamsOfUrl();
  const page = pageOf(url.page);
  const teams = useTeams(org, url.sort, page);
  if (teams.isPending) return <Loading height={44} rows={4} />;
  if (teams.isError) return <ProblemCard failure={teams.error} retry={() => void teams.refetch()} />;
  const { data, total } = teams.data;
  if (total === 0) return <Empty>There is no team yet.</Empty>;
  const columns: Column<Team>[] = [
    {
      name: 'Team',
      sort: 'name',
      cell: ({ id, name }) => (
        <Anchor component={Link} to={`/o/${slug}/teams/${id}`} size="sm" fw={500}>
          {name}
        </Anchor>
      ),
    },
    {
      name: 'Requests a minute',
      sort: 'rpm_limit',
      isFigure: true,
      cell: ({ rpm_limit: rpm }) => rpm ?? 'default',
    },
    {
      name: 'Cap, 30 days',
      sort: 'spend_cap_usd',
      isFigure: true,
      cell: ({ spend_cap_usd: cap }) => <Money usd={cap} none="no cap" />,
    },
    { name: 'Since', sort: 'created_at', cell: ({ created_at: at }) => <When at={at} /> },
  ];
  return (
    <>
      <DataTable
        label="Teams"
        columns={columns}
        rows={data}
        rowKey={({ id }) => id}
        order={{ by: url.sort, onChange: (sort) => change({ sort }) }}
      />
      <Pager
        page={page}
        rows={TEAMS_A_PAGE}
        total={total}
        onChange={(next) => change({ page: next === 1 ? null : String(next) })}
      />
    </>
  );
}

const FIELDS: readonly CreateField[] = [
  { name: 'name', label: 'Name', required: true },
  {
    name: 'spend_cap_usd',
    label: 'Spend cap, USD',
    description: 'Of all its keys in 30 days; empty = none',
    isMoney: true,
  },
];

function Form({ org, onClose }: { org: string; onClose: () => void }): ReactNode {
  const [idempotencyKey] = useState(newIdempotencyKey);
  const create = useCreateTeam(org, idempotencyKey);
  return (
    <CreateForm
      fields={FIELDS}
      write={create}
      action="Create team"
      onSubmit={({ name = '', spend_cap_usd }) =>
        create.mutate({ name, spend_cap_usd }, { onSuccess: onClose })
      }
    />
  );
}
