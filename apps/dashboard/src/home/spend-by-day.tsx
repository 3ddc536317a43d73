import { lazy, Suspense, type ReactNode } from 'react';
import type { Schemas } from '../api/schemas.js';
import { axisUsd, barHeight } from '../chart/bar-height.js';
import type { Mark } from '../chart/bars.js';
import { MarkLink } from '../chart/mark-link.js';
import { ChartPanel } from '../chart/chart-panel.js';
import { bucketLabel, count, milliseconds } from '../format/time.js';
import { Money } from '../shell/money.js';
import { useOrg } from '../shell/org.queries.js';
import { spanOfBucket } from '../shell/span.js';
import { Loading } from '../shell/states.js';
import { DataTable, type Column } from '../table/data-table.js';

const StackedBars = lazy(() => import('../chart/stacked-bars.js'));

type Week = Schemas['UsageSeries'];

interface Day {
  label: string;
  /** The usage of that day. */
  mark: Mark;
  /** Without a grouping there is one group; a day without requests lacks it. */
  values: Schemas['SeriesValues'] | undefined;
}

/** The spend of a week; each day leads to its usage. */
export function SpendByDay({ week }: { week: Week }): ReactNode {
  const { slug } = useOrg();
  const days = daysOf(week, slug);
  const spend = {
    label: 'Spend',
    color: 'gateway.6',
    heights: days.map(({ values }) => barHeight(values?.cost_usd ?? '0')),
    marks: days.map(({ mark }) => mark),
  };
  return (
    <ChartPanel title="Spend by day" table={<Days days={days} />}>
      <Suspense fallback={<Loading height={260} />}>
        <StackedBars
          bars={{ labels: days.map(({ label }) => label), series: [spend] }}
          label="Spend by day; shown as a table, too"
          format={axisUsd}
        />
      </Suspense>
    </ChartPanel>
  );
}

function daysOf(week: Week, slug: string): Day[] {
  return week.buckets.map(({ start, values }, bucket) => ({
    label: bucketLabel(start, 'day', week.time_zone),
    mark: { to: `/o/${slug}/usage`, search: { ...spanOfBucket(week, bucket) } },
    values: values.all,
  }));
}

const COLUMNS: readonly Column<Day>[] = [
  {
    name: 'Day',
    cell: ({ label, mark }) => <MarkLink mark={mark}>{label}</MarkLink>,
  },
  {
    name: 'Spend',
    isFigure: true,
    cell: ({ values }) => <Money usd={values?.cost_usd ?? '0'} decimals={6} />,
  },
  { name: 'Requests', isFigure: true, cell: ({ values }) => count(values?.requests ?? 0) },
  {
    name: 'Latency p50',
    isFigure: true,
    cell: ({ values }) => milliseconds(values?.latency_p50_ms ?? null),
  },
];

function Days({ days }: { days: readonly Day[] }): ReactNode {
  return (
    <DataTable
      label="Spend by day"
      columns={COLUMNS}
      rows={[...days].reverse()}
      rowKey={({ mark }) => mark.search.from}
      minWidth={400}
    />
  );
}
