import { Anchor, Code, Group, SegmentedControl, Stack, Switch, Text } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { absoluteTime, count } from '../format/time.js';
import { useZone } from '../session/me.queries.js';
import { ExportButton } from '../shell/export-button.js';
import { FilterChip } from '../shell/filter-chip.js';
import { useFilterNames } from '../shell/filter-names.queries.js';
import { useOrg } from '../shell/org.queries.js';
import { PageHead } from '../shell/page-head.js';
import { ProblemCard } from '../shell/problem-card.js';
import { RangePicker, rangeOfUrl } from '../shell/range.js';
import { SearchField } from '../shell/search-field.js';
import { useScopes } from '../shell/scope.js';
import { useParamsOfUrl } from '../shell/search-params.js';
import { Empty, Loading } from '../shell/states.js';
import { Views } from '../shell/views.js';
import { When } from '../shell/when.js';
import { VirtualTable } from '../table/virtual-table.js';
import type { Column } from '../table/data-table.js';
import { chosenColumns } from './chosen-columns.js';
import { ColumnChoice } from './column-choice.js';
import { Counts, COUNTS_PX } from './counts.js';
import { eventColumns } from './event-columns.js';
import {
  bodyOfFilter,
  useEvents,
  useRejections,
  type Rejection,
  type RequestFilter,
} from './requests.queries.js';
import { isHeld, opensWith } from './refusal-words.js';
import { resetOf } from './reset-of.js';

export default function RequestsPage(): ReactNode {
  const [url] = useParamsOfUrl();
  const [openedAt] = useState(() => Date.now());
  const zone = useZone();
  const { since, until, hours } = rangeOfUrl(url, '24h', zone, openedAt);
  const filter: RequestFilter = {
    since,
    until,
    model: url.model,
    status: url.show === 'failed' ? 'error' : undefined,
    keyId: url.key_id,
    isLive: url.live === 'yes',
  };
  return (
    <>
      <PageHead
        title="Requests"
        scope={useScopes().usage}
        about="Every unit that was billed or failed, and every refusal."
      >
        <RangePicker otherwise="24h" />
        <Views page="/requests" />
        {url.show !== 'rejected' && <ExportButton filter={{ ...bodyOfFilter(filter), time_zone: zone }} />}
      </PageHead>
      <Filters />
      {url.show === 'rejected' ? <Rejections filter={filter} /> : <Events filter={filter} hours={hours} />}
    </>
  );
}

function Filters(): ReactNode {
  const [url, change] = useParamsOfUrl();
  const { id: org, slug } = useOrg();
  const { key_id: keyName } = useFilterNames(org, { key_id: url.key_id });
  const navigate = useNavigate();
  const search = (value: string): void => {
    // A pasted id opens its request.
    if (/^req_[\w-]+$/.test(value)) void navigate({ to: `/o/${slug}/requests/${value}` });
    else change({ model: value });
  };
  return (
    <Group mb="md" gap="sm">
      <SegmentedControl
        aria-label="Show"
        data={[
          { value: 'all', label: 'All' },
          { value: 'failed', label: 'Failed' },
          { value: 'rejected', label: 'Refused' },
        ]}
        value={url.show ?? 'all'}
        onChange={(show) => change({ show: show === 'all' ? null : show })}
      />
      <SearchField label="Model or request id" text={url.model} onSearch={search} width={260} />
      {url.key_id !== undefined && (
        <FilterChip kind="Key" value={keyName ?? url.key_id} onRemove={() => change({ key_id: null })} />
      )}
      <Switch
        label="Live"
        checked={url.live === 'yes'}
        onChange={({ currentTarget }) => change({ live: currentTarget.checked ? 'yes' : null })}
      />
      {url.show !== 'rejected' && <ColumnChoice />}
    </Group>
  );
}

function Events({ filter, hours }: { filter: RequestFilter; hours: number }): ReactNode {
  const org = useOrg();
  const [url] = useParamsOfUrl();
  const events = useEvents(org.id, filter);
  if (events.isPending) {
    return (
      <Stack>
        <Loading height={COUNTS_PX} />
        <Loading height={40} rows={8} />
      </Stack>
    );
  }
  if (events.isError) return <ProblemCard failure={events.error} retry={() => void events.refetch()} />;
  const rows = events.data.pages.flatMap((page) => page.events);
  if (rows.length === 0) return <Empty>No request in this range and filter.</Empty>;
  const all = eventColumns(org.slug);
  const chosen = chosenColumns(
    url.columns,
    all.map(({ name }) => name),
  );
  const columns = all.filter(({ name }) => chosen.has(name));
  // The sums are asked for once the list is there: they may take longer, and it comes first.
  return (
    <Stack>
      <Counts filter={filter} hours={hours} />
      <div>
        <VirtualTable
          label="Requests"
          columns={columns}
          rows={rows}
          rowKey={({ id }) => id}
          total={events.data.pages[0].total}
          more={events.hasNextPage ? () => void events.fetchNextPage() : null}
          isLoadingMore={events.isFetchingNextPage}
        />
      </div>
    </Stack>
  );
}

function Rejections({ filter }: { filter: RequestFilter }): ReactNode {
  const org = useOrg();
  const refusals = useRejections(org.id, filter);
  if (refusals.isPending) return <Loading height={40} rows={8} />;
  if (refusals.isError) return <ProblemCard failure={refusals.error} retry={() => void refusals.refetch()} />;
  const rows = refusals.data.pages.flatMap((page) => page.rejections);
  if (rows.length === 0) return <Empty>No request was refused in this range and filter.</Empty>;
  const columns: Column<Rejection>[] = [
    { name: 'Time', width: 90, cell: ({ created_at: at }) => <When at={at} /> },
    {
      name: 'Code',
      width: 176,
      cell: ({ code, request_id: id }) => (
        <Anchor component={Link} to={`/o/${org.slug}/requests/${id}`} size="sm">
          <Code>{code}</Code>
        </Anchor>
      ),
    },
    { name: 'Why', width: 190, cell: ({ message }) => <span title={message}>{message}</span> },
    {
      name: 'Scope',
      width: 84,
      cell: ({ scope, limit_type: type }) => [scope, type].filter(Boolean).join(' · '),
    },
    {
      name: 'Open again',
      width: 96,
      cell: (refusal) => <OpenAgain refusal={refusal} />,
    },
    { name: 'Model', width: 110, cell: ({ model }) => <span title={model ?? ''}>{model ?? '–'}</span> },
    { name: 'Status', width: 46, isFigure: true, cell: ({ status }) => status },
    { name: 'Times', width: 46, isFigure: true, cell: ({ count: times }) => count(times) },
  ];
  return (
    <VirtualTable
      label="Refused requests"
      columns={columns}
      rows={rows}
      rowKey={(row) => `${row.request_id} ${row.created_at}`}
      total={refusals.data.pages[0].total}
      more={refusals.hasNextPage ? () => void refusals.fetchNextPage() : null}
      isLoadingMore={refusals.isFetchingNextPage}
    />
  );
}

/** Returns `opensWith` as short as a column. */
function openedShortly(refusal: Rejection): string {
  if (isHeld(refusal)) return 'when others end';
  return refusal.limit_type === 'balance' ? 'with credit' : 'when raised';
}

/** Rates are counted by minutes and by days of UTC; money that was held comes back, other money is to be added. */
function OpenAgain({ refusal }: { refusal: Rejection }): ReactNode {
  const { limit_type: type, created_at: at } = refusal;
  if (type === null) return '–';
  const reset = resetOf(type, at);
  if (reset === null) return <span title={opensWith(refusal)}>{openedShortly(refusal)}</span>;
  return (
    <Text size="sm" span title={absoluteTime(reset, 'UTC')}>
      {type === 'rpd' ? 'next day, UTC' : 'next minute'}
    </Text>
  );
}
