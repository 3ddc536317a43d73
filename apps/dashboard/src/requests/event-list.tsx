import { Stack } from '@mantine/core';
import { useEffect, type ReactNode } from 'react';
import { useOrg } from '../shell/org.queries.js';
import { ProblemCard } from '../shell/problem-card.js';
import { useParamsOfUrl } from '../shell/search-params.js';
import { Empty, Loading } from '../shell/states.js';
import { VirtualTable } from '../table/virtual-table.js';
import { chosenColumns } from './chosen-columns.js';
import { Counts, COUNTS_PX } from './counts.js';
import { eventColumns } from './event-columns.js';
import { useEvents, type RequestFilter } from './requests.queries.js';

interface EventListProps {
  filter: RequestFilter;
  /** Length of the range in hours. */
  hours: number;
  /** Called with the ids of the requests in the list, newest first. */
  onShown: (ids: readonly string[]) => void;
}

/** Counts over time, and below them the requests that were served or failed. */
export function EventList({ filter, hours, onShown }: EventListProps): ReactNode {
  const org = useOrg();
  const [url, change] = useParamsOfUrl();
  const { sort, ...narrowing } = filter.rows ?? {};
  // The sums of a chart know neither cost nor latency of one request.
  const hasCounts = Object.keys(narrowing).length === 0;
  const events = useEvents(org.id, filter);
  const { data } = events;
  useEffect(() => {
    const rows = data?.pages.flatMap((page) => page.events) ?? [];
    onShown([...new Set(rows.map(({ request_id: id }) => id))]);
  }, [data, onShown]);
  if (events.isPending) {
    return (
      <Stack>
        {hasCounts && <Loading height={COUNTS_PX} />}
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
      {hasCounts && <Counts filter={filter} hours={hours} />}
      <div>
        <VirtualTable
          label="Requests"
          columns={columns}
          rows={rows}
          rowKey={({ id }) => id}
          total={events.data.pages[0].total}
          more={events.hasNextPage ? () => void events.fetchNextPage() : null}
          isLoadingMore={events.isFetchingNextPage}
          order={{ by: sort, onChange: (by) => change({ sort: by, live: null }) }}
        />
      </div>
    </Stack>
  );
}
