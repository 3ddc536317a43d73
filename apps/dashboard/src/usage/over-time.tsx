import { lazy, Suspense, type ReactNode } from 'react';
import type { Mark } from '../chart/bars.js';
import { ChartPanel } from '../chart/chart-panel.js';
import { OverTimeChart } from '../chart/over-time-chart.js';
import { Loading } from '../shell/states.js';
import { barsOf, linesOf } from './bars-of.js';
import { markOf, type Shown } from './marks.js';
import type { Metric } from './metrics.js';
import type { Series } from './usage.queries.js';

// Its table of any length is not of the first load.
const Buckets = lazy(() => import('./buckets.js'));

interface OverTimeProps {
  title: string;
  /** Owner of the figures; absent where the page says so. */
  scope?: string;
  shown: Shown;
  series: Series;
  /** All groups together, for a metric that does not add up; absent until it is known. */
  whole?: Series | undefined;
  metric: Metric;
  /** Content below the chart. */
  children?: ReactNode;
}

/** Groups over time, stacked where they add up, else as lines; on demand as a table. */
export function OverTime({ title, scope, shown, series, whole, metric, children }: OverTimeProps): ReactNode {
  const toMark = (group: string, bucket: number): Mark => markOf(shown, group, bucket);
  return (
    <ChartPanel
      title={title}
      scope={scope}
      table={
        <Suspense fallback={<Loading height={260} />}>
          <Buckets shown={shown} series={series} metric={metric} />
        </Suspense>
      }
    >
      <OverTimeChart
        shown={
          metric.isAdditive
            ? { bars: barsOf(series, metric, toMark) }
            : { lines: linesOf(series, whole, metric, toMark) }
        }
        label={`${metric.label} over time; shown as a table, too`}
        format={metric.axis}
        empty={metric.empty}
      />
      {children}
    </ChartPanel>
  );
}
