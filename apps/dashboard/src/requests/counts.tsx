import { useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, type ReactNode } from 'react';
import { ChartPanel } from '../chart/chart-panel.js';
import type { Mark } from '../chart/bars.js';
import { MarkLink } from '../chart/mark-link.js';
import { bucketLabel, count, minuteLabel } from '../format/time.js';
import { useZone } from '../session/me.queries.js';
import { AsOf } from '../shell/as-of.js';
import { useOrg } from '../shell/org.queries.js';
import { ProblemCard } from '../shell/problem-card.js';
import { useParamsOfUrl, type Params } from '../shell/search-params.js';
import { spanOfBucket, type Span } from '../shell/span.js';
import { Loading } from '../shell/states.js';
import { VirtualTable } from '../table/virtual-table.js';
import type { Column } from '../table/data-table.js';
import { useCounts, type Counts as Series, type RequestFilter } from './requests.queries.js';

const CountBars = lazy(() => import('../chart/count-bars.js'));
const HOURLY_UP_TO_HOURS = 48;

/** The height of the chart with its panel: it stands there before it is drawn. */
export const COUNTS_PX = 218;

const LOOKS: Readonly<Record<string, { name: string; color: string; isStriped: boolean }>> = {
  success: { name: 'Served', color: 'var(--mantine-color-teal-6)', isStriped: false },
  error: { name: 'Failed', color: 'var(--mantine-color-red-6)', isStriped: true },
};

interface CountsProps {
  filter: RequestFilter;
  /** Length of the range in hours. */
  hours: number;
}

/**
 * Chart of served and failed requests of the list in each hour or day. What is dragged over is the range from then on.
 */
export function Counts({ filter, hours }: CountsProps): ReactNode {
  const org = useOrg();
  const zone = useZone();
  const granularity = hours <= HOURLY_UP_TO_HOURS ? 'hour' : 'day';
  const counts = useCounts(org.id, filter, { granularity, zone });
  if (counts.isPending) return <Loading height={COUNTS_PX} />;
  if (counts.isError) return <ProblemCard failure={counts.error} retry={() => void counts.refetch()} />;
  return <Drawn series={counts.data} until={filter.until} isReading={counts.isFetching} />;
}

interface DrawnProps {
  series: Series;
  until: string | undefined;
  isReading: boolean;
}

function Drawn({ series, until, isReading }: DrawnProps): ReactNode {
  const { slug } = useOrg();
  const [url] = useParamsOfUrl();
  const navigate = useNavigate();
  const { buckets, granularity, time_zone: zone } = series;
  const statuses = series.groups.map(({ id }) => id).toSorted((a, b) => placeOf(a) - placeOf(b));
  const labels = buckets.map(({ start }) =>
    granularity === 'hour' ? minuteLabel(start, zone) : bucketLabel(start, granularity, zone),
  );
  const countOf = (bucket: number, status: string): number => buckets[bucket].values[status]?.requests ?? 0;
  const markOf = (first: number, last: number): Mark => ({
    to: `/o/${slug}/requests`,
    search: picked(url, {
      ...spanOfBucket(series, first, until),
      to: spanOfBucket(series, last, until).to,
    }),
  });
  const pick = (first: number, last: number): void => {
    // All of it is the range that there is.
    if (first > 0 || last < buckets.length - 1) void navigate(markOf(first, last));
  };
  const rows = buckets.map((_, bucket) => bucket).reverse();
  const columns: Column<number>[] = [
    {
      name: granularity === 'hour' ? 'Hour' : 'Day',
      cell: (bucket) => <MarkLink mark={markOf(bucket, bucket)}>{labels[bucket]}</MarkLink>,
    },
    ...statuses.map((status): Column<number> => ({
      name: nameOf(status),
      isFigure: true,
      cell: (bucket) => count(countOf(bucket, status)),
    })),
  ];
  const table = (
    <VirtualTable
      label={`Requests by status and ${granularity}`}
      columns={columns}
      rows={rows}
      rowKey={String}
      total={rows.length}
      more={null}
      isLoadingMore={false}
    />
  );
  return (
    <ChartPanel table={table} beside={<AsOf at={series.as_of} isReading={isReading} />}>
      <Suspense fallback={<Loading height={150} />}>
        <CountBars
          label="Requests by status over time; shown as a table, too"
          labels={labels}
          series={statuses.map((status) => ({
            label: nameOf(status),
            color: LOOKS[status]?.color ?? 'var(--mantine-color-gray-5)',
            isStriped: LOOKS[status]?.isStriped ?? false,
            counts: buckets.map((_, bucket) => countOf(bucket, status)),
          }))}
          onPick={pick}
        />
      </Suspense>
    </ChartPanel>
  );
}

/** The address with another range, and everything else of it. */
function picked({ range: _range, page: _page, ...rest }: Params, span: Span): Params {
  return { ...rest, ...span };
}

function nameOf(status: string): string {
  return LOOKS[status]?.name ?? status;
}

/** Returns the place in the stack: served below failed, however dear each was. */
function placeOf(status: string): number {
  const at = Object.keys(LOOKS).indexOf(status);
  return at < 0 ? Object.keys(LOOKS).length : at;
}
