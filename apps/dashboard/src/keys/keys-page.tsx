import { Anchor, Button, Group, Select, Text } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense, type ReactNode } from 'react';
import { count } from '../format/time.js';
import { useOrg } from '../shell/org.queries.js';
import { Money } from '../shell/money.js';
import { PageHead } from '../shell/page-head.js';
import { ProblemCard } from '../shell/problem-card.js';
import { SearchField } from '../shell/search-field.js';
import { useScopes } from '../shell/scope.js';
import { useParamsOfUrl } from '../shell/search-params.js';
import { Empty, Loading } from '../shell/states.js';
import { When } from '../shell/when.js';
import { DataTable, pageOf, Pager, type Column } from '../table/data-table.js';
import { CreateKey } from './create-key.js';
import { KeySpent } from './key-spent.js';
import { KeyStatus } from './key-status.js';
import { KEYS_A_PAGE, useKeyOwners, useKeys, type Key } from './keys.queries.js';

// The list stands without the menus of its rows.
const KeyMenu = lazy(() => import('./key-menu.js'));

export default function KeysPage(): ReactNode {
  const org = useOrg();
  const [url, change] = useParamsOfUrl();
  const page = pageOf(url.page);
  const keys = useKeys(org.id, { ...url, page });
  const isFiltered = Boolean(url.label ?? url.status);
  const create = (): void => change({ create: 'yes', page: url.page });
  return (
    <>
      <PageHead
        title="API keys"
        scope={useScopes().usage}
        about="One credential reaches every model. Each key has limits of its own."
      >
        <Button leftSection={<IconPlus size={16} />} onClick={create}>
          Create key
        </Button>
      </PageHead>
      <Filters />
      {keys.isPending && <Loading height={44} rows={6} />}
      {keys.isError && <ProblemCard failure={keys.error} retry={() => void keys.refetch()} />}
      {keys.isSuccess && keys.data.total === 0 && (
        <Empty action={isFiltered ? undefined : { label: 'Create the first key', run: create }}>
          {isFiltered ? 'No key matches this filter.' : 'There is no key yet.'}
        </Empty>
      )}
      {keys.isSuccess && keys.data.total > 0 && (
        <>
          <KeyTable rows={keys.data.data} />
          <Pager
            page={page}
            rows={KEYS_A_PAGE}
            total={keys.data.total}
            onChange={(next) => change({ page: next === 1 ? null : String(next) })}
          />
        </>
      )}
      <CreateKey isOpen={url.create === 'yes'} onClose={() => change({ create: null, page: url.page })} />
    </>
  );
}

function Filters(): ReactNode {
  const [url, change] = useParamsOfUrl();
  return (
    <Group mb="md" gap="sm">
      <SearchField
        label="Search labels"
        text={url.label}
        onSearch={(label) => change({ label })}
        width={240}
      />
      <Select
        aria-label="Status"
        placeholder="Any status"
        clearable
        clearButtonProps={{ 'aria-label': 'Clear the status' }}
        data={[
          { value: 'active', label: 'Active' },
          { value: 'suspended', label: 'Suspended' },
        ]}
        value={url.status ?? null}
        onChange={(status) => change({ status })}
        w={{ base: '100%', xs: 160 }}
      />
    </Group>
  );
}

function KeyTable({ rows }: { rows: readonly Key[] }): ReactNode {
  const org = useOrg();
  const [url, change] = useParamsOfUrl();
  const names = useKeyOwners(org.id).data;
  return (
    <DataTable
      label="API keys"
      columns={columnsOf(org.slug, names)}
      rows={rows}
      rowKey={({ id }) => id}
      minWidth={940}
      order={{ by: url.sort, onChange: (sort) => change({ sort }) }}
    />
  );
}

function columnsOf(slug: string, names: ReturnType<typeof useKeyOwners>['data']): Column<Key>[] {
  const { members = [], teams = [] } = names ?? {};
  return [
    {
      name: 'Key',
      sort: 'label',
      cell: (key) => (
        <Anchor
          component={Link}
          to={`/o/${slug}/keys/${key.id}`}
          fw={500}
          size="sm"
          title={key.masked_key}
          truncate
          display="block"
          maw={240}
        >
          {key.label ?? key.masked_key}
        </Anchor>
      ),
    },
    { name: 'Status', sort: 'status', cell: (key) => <KeyStatus keyRecord={key} /> },
    {
      name: 'Team',
      cell: ({ team_id: team }) => (
        <Text size="sm" truncate maw={120}>
          {team === null ? '–' : (teams.find(({ id }) => id === team)?.name ?? team)}
        </Text>
      ),
    },
    {
      name: 'Owner',
      cell: (key) => (
        <Text size="sm" truncate maw={120}>
          {members.find(({ id }) => id === key.created_by)?.name ?? key.created_by}
        </Text>
      ),
    },
    {
      name: 'A minute',
      isFigure: true,
      cell: ({ rpm_limit: limit }) => (limit === null ? '–' : count(limit)),
    },
    { name: 'Spent', isFigure: true, cell: (key) => <KeySpent record={key} /> },
    {
      name: 'Cap',
      sort: 'spend_cap_usd',
      isFigure: true,
      cell: (key) => <Money usd={key.spend_cap_usd} none="–" />,
    },
    { name: 'Last used', sort: 'last_used_at', cell: (key) => <When at={key.last_used_at} /> },
    { name: 'Expires', sort: 'expires_at', cell: (key) => <When at={key.expires_at} /> },
    {
      name: 'More',
      cell: ({ id, label, masked_key: masked }) => (
        <Suspense>
          <KeyMenu id={id} name={label ?? masked} />
        </Suspense>
      ),
    },
  ];
}
