import { Anchor, Badge, Select, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { eventWords } from '../format/event-words.js';
import { useOrg } from '../shell/org.queries.js';
import { PageHead } from '../shell/page-head.js';
import { ProblemCard } from '../shell/problem-card.js';
import { useParamsOfUrl } from '../shell/search-params.js';
import { Empty, Loading } from '../shell/states.js';
import { When } from '../shell/when.js';
import { DataTable, pageOf, Pager, type Column } from '../table/data-table.js';
import { DELIVERIES_A_PAGE, useDeliveries, type Delivery } from './alerts.queries.js';

const STATES: Record<Delivery['status'], string> = {
  pending: 'gray',
  sending: 'blue',
  delivered: 'green',
  retrying: 'yellow',
  exhausted: 'red',
  blocked: 'red',
  cancelled: 'gray',
};

export function DeliveryState({ status }: { status: Delivery['status'] }): ReactNode {
  return (
    <Badge variant="light" color={STATES[status]}>
      {status}
    </Badge>
  );
}

export default function DeliveriesPage(): ReactNode {
  const { id } = useOrg();
  const [url, change] = useParamsOfUrl();
  if (id === null) return null;
  return (
    <>
      <PageHead title="Deliveries" about="Every event that was sent to a channel, with each attempt." />
      <Select
        aria-label="State"
        placeholder="Any state"
        clearable
        clearButtonProps={{ 'aria-label': 'Clear the state' }}
        data={Object.keys(STATES)}
        value={url.status ?? null}
        onChange={(status) => change({ status })}
        w={{ base: '100%', xs: 180 }}
        mb="md"
      />
      <Log org={id} />
    </>
  );
}

function Log({ org }: { org: string }): ReactNode {
  const { slug } = useOrg();
  const [url, change] = useParamsOfUrl();
  const page = pageOf(url.page);
  const status =
    url.status !== undefined && url.status in STATES ? (url.status as Delivery['status']) : undefined;
  const deliveries = useDeliveries(org, { channel: url.channel, status, page });
  if (deliveries.isPending) return <Loading height={40} rows={8} />;
  if (deliveries.isError)
    return <ProblemCard failure={deliveries.error} retry={() => void deliveries.refetch()} />;
  const { data, total } = deliveries.data;
  if (total === 0) return <Empty>Nothing was sent that matches this filter.</Empty>;
  const columns: Column<Delivery>[] = [
    { name: 'When', cell: ({ created_at: at }) => <When at={at} /> },
    {
      name: 'Event',
      cell: ({ id, event_type: type }) => (
        <Anchor component={Link} to={`/o/${slug}/alerts/deliveries/${id}`} size="sm">
          {eventWords(type)}
        </Anchor>
      ),
    },
    {
      name: 'Destination',
      cell: ({ destination }) => (
        <Text size="sm" truncate maw={320}>
          {destination}
        </Text>
      ),
    },
    { name: 'State', cell: ({ status: state }) => <DeliveryState status={state} /> },
    { name: 'Attempts', isFigure: true, cell: ({ attempts }) => attempts },
    { name: 'Answer', isFigure: true, cell: ({ http_status: http, error }) => http ?? error ?? '–' },
    { name: 'Next', cell: ({ next_attempt_at: at }) => <When at={at} never="–" /> },
  ];
  return (
    <>
      <DataTable label="Deliveries" columns={columns} rows={data} rowKey={({ id }) => id} minWidth={860} />
      <Pager
        page={page}
        rows={DELIVERIES_A_PAGE}
        total={total}
        onChange={(next) => change({ page: next === 1 ? null : String(next) })}
      />
    </>
  );
}
