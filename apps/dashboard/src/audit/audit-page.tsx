import { Anchor, Button, Group, Select, Text, TextInput } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { dayStart } from '../format/time.js';
import { useZone } from '../session/me.queries.js';
import { FilterChip } from '../shell/filter-chip.js';
import { useFilterNames } from '../shell/filter-names.queries.js';
import { useOrg } from '../shell/org.queries.js';
import { PageHead } from '../shell/page-head.js';
import { ProblemCard } from '../shell/problem-card.js';
import { useParamsOfUrl } from '../shell/search-params.js';
import { Empty, Loading } from '../shell/states.js';
import { When } from '../shell/when.js';
import { DataTable, type Column } from '../table/data-table.js';
import { actionChoices, actionWords } from './audit-words.js';
import { changesOf } from './change-words.js';
import { useAuditLog, type AuditRow } from './audit.queries.js';

const COLUMNS: readonly Column<AuditRow>[] = [
  { name: 'When', cell: ({ created_at: at }) => <When at={at} /> },
  { name: 'Who', cell: (row) => <Who row={row} /> },
  { name: 'What', cell: ({ action }) => actionWords(action) },
  { name: 'Which', cell: (row) => <Which row={row} /> },
  { name: 'Changed', cell: (row) => <Changed row={row} />, width: 320 },
  { name: 'From', cell: ({ ip }) => ip },
];

/** Person or program that made a change; a person leads to all that they did. */
function Who({ row: { actor, actor_email: email, actor_kind: kind } }: { row: AuditRow }): ReactNode {
  const { slug } = useOrg();
  if (kind === 'system') return 'The gateway';
  return (
    <Text size="sm" truncate maw={200} component="div">
      <Anchor component={Link} to={`/o/${slug}/audit?actor=${actor}`} inherit>
        {email ?? `${kind === 'admin_key' ? 'Admin key' : 'Key'} ${actor}`}
      </Anchor>
    </Text>
  );
}

/** Fields that a change set, each with the value before and after it where they were kept. */
function Changed({ row }: { row: AuditRow }): ReactNode {
  const zone = useZone();
  const changes = changesOf(row, zone);
  if (changes.length === 0) return '–';
  return changes.map(({ field, values }) => (
    <Text key={field} size="sm" style={{ overflowWrap: 'anywhere' }} component="div">
      {values === undefined ? (
        field
      ) : (
        <>
          {field}:{' '}
          <Text span c="dimmed" inherit>
            {values.before}
          </Text>{' '}
          → {values.after}
        </>
      )}
    </Text>
  ));
}

/** Thing that was changed: by its name and with its page where it has them. */
function Which({ row }: { row: AuditRow }): ReactNode {
  const { target, target_type: type, target_name: name } = row;
  const { slug } = useOrg();
  const page = { api_key: 'keys', team: 'teams', template: 'prompts' }[type];
  return (
    <Text size="sm" truncate maw={230} component="div">
      {page === undefined ? (
        (name ?? target)
      ) : (
        <Anchor component={Link} to={`/o/${slug}/${page}/${target}`} inherit>
          {name ?? target}
        </Anchor>
      )}
    </Text>
  );
}

export default function AuditPage(): ReactNode {
  const { id } = useOrg();
  return (
    <>
      <PageHead
        title="Audit log"
        about="Every change, the newest first: who made it, from where, and the values that hold no secret."
      />
      <Filters />
      {id !== null && <Log org={id} />}
    </>
  );
}

function Filters(): ReactNode {
  const [url, change] = useParamsOfUrl();
  const { member_id: person } = useFilterNames(useOrg().id, { member_id: url.actor });
  const day = (name: 'from' | 'to', label: string): ReactNode => (
    <TextInput
      type="date"
      label={label}
      value={url[name] ?? ''}
      onChange={({ currentTarget }) => change({ [name]: currentTarget.value })}
    />
  );
  return (
    <Group mb="md" gap="sm" align="flex-end">
      <Select
        label="What"
        placeholder="Any change"
        data={actionChoices(url.action)}
        searchable
        clearable
        clearButtonProps={{ 'aria-label': 'Clear the kind of change' }}
        value={url.action ?? null}
        onChange={(action) => change({ action })}
        w={{ base: '100%', xs: 260 }}
      />
      {day('from', 'First day')}
      {day('to', 'Last day')}
      {url.actor !== undefined && (
        <FilterChip kind="Person" value={person ?? url.actor} onRemove={() => change({ actor: null })} />
      )}
    </Group>
  );
}

function Log({ org }: { org: string }): ReactNode {
  const [{ actor, action, from = '', to = '' }] = useParamsOfUrl();
  const zone = useZone();
  const since = dayStart(from, zone);
  // The last day itself is a part of the range.
  const until = dayStart(to, zone, 1);
  const log = useAuditLog(org, { actor, action, since, until });
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
