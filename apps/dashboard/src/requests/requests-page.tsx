import { Anchor, Badge, Button, Code, Group, SegmentedControl, Switch, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconSearch } from '@tabler/icons-react';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { count, milliseconds } from '../format/time.js';
import { Money } from '../shell/money.js';
import { useOrg } from '../shell/org.queries.js';
import { PageHead } from '../shell/page-head.js';
import { ProblemCard } from '../shell/problem-card.js';
import { RangePicker, rangeOf, sinceOf } from '../shell/range.js';
import { useParamsOfUrl } from '../shell/search-params.js';
import { Empty, Loading } from '../shell/states.js';
import { When } from '../shell/when.js';
import { VirtualTable } from '../table/virtual-table.js';
import type { Column } from '../table/data-table.js';
import {
  useEvents,
  useRejections,
  type Rejection,
  type RequestFilter,
  type UsageEvent,
} from './requests.queries.js';

const SEARCH_AFTER_MS = 300;

export default function RequestsPage(): ReactNode {
  const [url] = useParamsOfUrl();
  const [openedAt] = useState(() => Date.now());
  const filter: RequestFilter = {
    since: sinceOf(rangeOf(url.range, '24h'), openedAt),
    model: url.model,
    status: url.show === 'failed' ? 'error' : undefined,
    keyId: url.key_id,
    isLive: url.live === 'yes',
  };
  return (
    <>
      <PageHead title="Requests" about="Every unit that was billed or failed, and every refusal.">
        <RangePicker otherwise="24h" />
      </PageHead>
      <Filters />
      {url.show === 'rejected' ? <Rejections filter={filter} /> : <Events filter={filter} />}
    </>
  );
}

function Filters(): ReactNode {
  const [url, change] = useParamsOfUrl();
  const { slug } = useOrg();
  const navigate = useNavigate();
  const [text, setText] = useState(url.model ?? '');
  const search = useDebouncedCallback((value: string) => {
    // A pasted id opens its request.
    if (/^req_[\w-]+$/.test(value)) void navigate({ to: `/o/${slug}/requests/${value}` });
    else change({ model: value });
  }, SEARCH_AFTER_MS);
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
      <TextInput
        aria-label="Model or request id"
        placeholder="Model or request id"
        leftSection={<IconSearch size={16} />}
        value={text}
        onChange={({ currentTarget }) => {
          setText(currentTarget.value);
          search(currentTarget.value.trim());
        }}
        w={{ base: '100%', xs: 260 }}
      />
      {url.key_id !== undefined && (
        <Button variant="light" size="compact-sm" onClick={() => change({ key_id: null })}>
          Of one key · show all
        </Button>
      )}
      <Switch
        label="Live"
        checked={url.live === 'yes'}
        onChange={({ currentTarget }) => change({ live: currentTarget.checked ? 'yes' : null })}
      />
    </Group>
  );
}

function Events({ filter }: { filter: RequestFilter }): ReactNode {
  const org = useOrg();
  const events = useEvents(org.id, filter);
  if (events.isPending) return <Loading height={40} rows={8} />;
  if (events.isError) return <ProblemCard failure={events.error} retry={() => void events.refetch()} />;
  const rows = events.data.pages.flatMap((page) => page.events);
  if (rows.length === 0) return <Empty>No request in this range and filter.</Empty>;
  const columns: Column<UsageEvent>[] = [
    { name: 'Time', width: 120, cell: ({ created_at: at }) => <When at={at} /> },
    {
      name: 'Request',
      width: 200,
      cell: ({ request_id: id }) => (
        <Anchor
          component={Link}
          to={`/o/${org.slug}/requests/${id}`}
          size="sm"
          truncate
          display="block"
          maw={190}
        >
          {id}
        </Anchor>
      ),
    },
    { name: 'Model', width: 200, cell: ({ model }) => model },
    { name: 'Status', width: 100, cell: ({ status }) => <Outcome status={status} /> },
    { name: 'Input', width: 90, isFigure: true, cell: ({ prompt_tokens: tokens }) => count(tokens) },
    { name: 'Output', width: 90, isFigure: true, cell: ({ completion_tokens: tokens }) => count(tokens) },
    { name: 'Latency', width: 100, isFigure: true, cell: ({ latency_ms: ms }) => milliseconds(ms) },
    {
      name: 'Cost',
      width: 120,
      isFigure: true,
      cell: ({ cost_usd: usd }) => <Money usd={usd} decimals={6} />,
    },
  ];
  return (
    <VirtualTable
      label="Requests"
      columns={columns}
      rows={rows}
      rowKey={({ id }) => id}
      total={events.data.pages[0].total}
      more={events.hasNextPage ? () => void events.fetchNextPage() : null}
      isLoadingMore={events.isFetchingNextPage}
    />
  );
}

function Outcome({ status }: { status: string }): ReactNode {
  const isGood = status === 'success';
  return (
    <Badge variant="light" color={isGood ? 'green' : 'red'}>
      {isGood ? 'served' : status}
    </Badge>
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
    { name: 'Time', width: 120, cell: ({ created_at: at }) => <When at={at} /> },
    { name: 'Status', width: 80, isFigure: true, cell: ({ status }) => status },
    { name: 'Code', width: 200, cell: ({ code }) => <Code>{code}</Code> },
    {
      name: 'Scope',
      width: 130,
      cell: ({ scope, limit_type: type }) => [scope, type].filter(Boolean).join(' · '),
    },
    { name: 'Model', width: 180, cell: ({ model }) => model ?? '–' },
    { name: 'Why', width: 420, cell: ({ message }) => <span title={message}>{message}</span> },
    { name: 'Times', width: 80, isFigure: true, cell: ({ count: times }) => count(times) },
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
