import { lazy, Suspense, type ReactNode } from 'react';
import { ChartPanel } from '../chart/chart-panel.js';
import { Loading } from '../shell/states.js';
import { barsOf } from './bars-of.js';
import { Buckets } from './buckets.js';
import { markOf, type Shown } from './marks.js';
import type { Metric } from './metrics.js';
import type { Series } from './usage.queries.js';

const StackedBars = lazy(() => import('../chart/stacked-bars.js'));

interface OverTimeProps {
  title: string;
  shown: Shown;
  series: Series;
  metric: Metric;
  /** Content below the chart. */
  children?: ReactNode;
}

/** Groups stacked over time, and on demand as a table. */
export function OverTime({ title, shown, series, metric, children }: OverTimeProps): ReactNode {
  return (
    <ChartPanel title={title} table={<Buckets shown={shown} series={series} metric={metric} />}>
      <Suspense fallback={<Loading height={260} />}>
        <StackedBars
          bars={barsOf(series, metric, (group, bucket) => markOf(shown, group, bucket))}
          label={`${metric.label} over time; shown as a table, too`}
          format={metric.axis}
        />
      </Suspense>
      {children}
    </ChartPanel>
  );
}
