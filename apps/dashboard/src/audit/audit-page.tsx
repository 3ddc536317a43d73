import { Button, Code, Group, Text, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useState, type ReactNode } from 'react';
import { FilterChip } from '../shell/filter-chip.js';
import { useFilterNames } from '../shell/filter-names.queries.js';
import { useOrg } from '../shell/org.queries.js';
import { PageHead } from '../shell/page-head.js';
import { ProblemCard } from '../shell/problem-card.js';
import { useParamsOfUrl } from '../shell/search-params.js';
import { Empty, Loading } from '../shell/states.js';
import { When } from '../shell/when.js';
import { DataTable, type Column } from '../table/data-table.js';
import { useAuditLog, type AuditRow } from './audit.queries.js';

const SEARCH_AFTER_MS = 300;

const COLUMNS: readonly Column<AuditRow>[] = [
  { name: 'When', cell: ({ created_at: at }) => <When at={at} /> },
  {
    name: 'Who',
    cell: ({ actor, actor_email: email, actor_kind: kind }) => (
      <Text size="sm" truncate maw={180}>
        {email ?? (kind === 'system' ? 'The gateway' : actor)}
      </Text>
    ),
  },
  { name: 'What', cell: ({ action }) => <Code>{action}</Code> },
  {
    name: 'To what',
    cell: ({ target, target_type: type }) => (
      <Text size="sm" truncate maw={230}>
        {type.replaceAll('_', ' ')} {target}
      </Text>
    ),
  },
  { name: 'Changed', cell: ({ changed_fields: fields }) => fields.join(', ') || '–' },
  { name: 'From', cell: ({ ip }) => ip },
];

export default function AuditPage(): ReactNode {
  const { id } = useOrg();
  return (
    <>
      <PageHead
        title="Audit log"
        about="Every change, who made it and from where. Names of fields only: a value could be a secret."
      />
      <Filters />
      {id !== null && <Log org={id} />}
    </>
  );
}

function Filters(): ReactNode {
  const [url, change] = useParamsOfUrl();
  const [action, setAction] = useState(url.action ?? '');
  const { member_id: person } = useFilterNames(useOrg().id, { member_id: url.actor });
  const search = useDebouncedCallback((text: string) => change({ action: text }), SEARCH_AFTER_MS);
  return (
    <Group mb="md" gap="sm">
      <TextInput
        aria-label="Action"
        placeholder="Any action"
        value={action}
        onChange={({ currentTarget }) => {
          setAction(currentTarget.value);
          search(currentTarget.value.trim());
        }}
        w={{ base: '100%', xs: 260 }}
      />
      {url.actor !== undefined && (
        <FilterChip kind="Person" value={person ?? url.actor} onRemove={() => change({ actor: null })} />
      )}
    </Group>
  );
}

function Log({ org }: { org: string }): ReactNode {
  const [url] = useParamsOfUrl();
  const log = useAuditLog(org, url);
  if (log.isPending) return <Loading height={40} rows={8} />;
  if (log.isError) return <ProblemCard failure={log.error} retry={() => void log.refetch()} />;
  const rows = log.data.pages.flatMap(({ data }) => data);
  if (rows.length === 0) return <Empty>No change matches this filter.</Empty>;
  return (
    <>
      <DataTable label="Changes" columns={COLUMNS} rows={rows} rowKey={({ id }) => id} minWidth={900} />
      {log.hasNextPage && (
        <Group justify="center" mt="md">
          <Button variant="default" loading={log.isFetchingNextPage} onClick={() => void log.fetchNextPage()}>
            Show older changes
          </Button>
        </Group>
      )}
    </>
  );
}
