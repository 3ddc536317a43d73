import type { ReactNode } from 'react';
import { axisUsd, barHeight } from '../chart/bar-height.js';
import { ChartPanel } from '../chart/chart-panel.js';
import { DATA } from '../chart/colours.js';
import { OverTimeChart } from '../chart/over-time-chart.js';
import { bucketLabel, count } from '../format/time.js';
import { Money } from '../shell/money.js';
import { ProblemCard } from '../shell/problem-card.js';
import { Loading } from '../shell/states.js';
import { DataTable, type Column } from '../table/data-table.js';
import { useSpendTrend, type Trend } from './billing.queries.js';

const COLUMNS: readonly Column<Trend['buckets'][number] & { label: string }>[] = [
  { name: 'Day', cell: ({ label }) => label },
  { name: 'Spend', isFigure: true, cell: ({ spend_usd: usd }) => <Money usd={usd} /> },
  {
    name: 'Average of 3 days',
    isFigure: true,
    cell: ({ moving_average_usd: usd }) => <Money usd={usd} />,
  },
  { name: 'Requests', isFigure: true, cell: ({ requests }) => count(requests) },
];

/** Card of the spend per day, in days of UTC as the ledger and caps count; on demand as a table. */
export function SpendByDay({ org }: { org: string }): ReactNode {
  const trend = useSpendTrend(org);
  if (trend.isPending) return <Loading height={320} />;
  if (trend.isError) return <ProblemCard failure={trend.error} retry={() => void trend.refetch()} />;
  const days = trend.data.buckets.map((bucket) => ({
    ...bucket,
    label: bucketLabel(bucket.start, 'day', 'UTC'),
  }));
  return (
    <ChartPanel
      title="Spend by day of UTC"
      table={
        <DataTable
          label="Spend by day"
          columns={COLUMNS}
          rows={days.filter(({ requests }) => requests > 0).reverse()}
          rowKey={({ start }) => start}
          minWidth={480}
        />
      }
    >
      <OverTimeChart
        shown={{
          bars: {
            labels: days.map(({ label }) => label),
            series: [
              { label: 'Spend', color: DATA, heights: days.map(({ spend_usd: usd }) => barHeight(usd)) },
            ],
          },
        }}
        label="Spend by day; shown as a table, too"
        format={axisUsd}
        empty="Nothing was spent yet. The first request shows here within a minute."
      />
    </ChartPanel>
  );
}
