import '@mantine/charts/styles.css';
import { BarChart } from '@mantine/charts';
import type { ReactNode } from 'react';

interface Bars {
  /** One label per bucket. */
  labels: readonly string[];
  /** One per group: its name, and a height per bucket. */
  series: readonly { label: string; color: string; heights: readonly number[] }[];
}

interface StackedBarsProps {
  bars: Bars;
  label: string;
  /** A height, and that of the tallest bar where it stands on the axis. */
  format: (height: number, top?: number) => string;
}

/** Groups stacked over time. A dot in a key is read as a path, so series are called s0, s1 and so on. */
export default function StackedBars({ bars, label, format }: StackedBarsProps): ReactNode {
  const rows = bars.labels.map((bucket, at) => ({
    bucket,
    ...Object.fromEntries(bars.series.map(({ heights }, index) => [`s${index}`, heights[at] ?? 0])),
  }));
  const top = Math.max(
    ...bars.labels.map((_, at) => bars.series.reduce((sum, { heights }) => sum + (heights[at] ?? 0), 0)),
  );
  return (
    <div role="img" aria-label={label}>
      <BarChart
        h={260}
        data={rows}
        dataKey="bucket"
        type="stacked"
        series={bars.series.map((series, index) => ({
          name: `s${index}`,
          label: series.label,
          color: series.color,
        }))}
        valueFormatter={(height) => format(height)}
        yAxisProps={{ width: 72, tickFormatter: (height: number) => format(height, top) }}
        barProps={{ isAnimationActive: false, maxBarSize: 36 }}
        tickLine="none"
        gridAxis="x"
      />
    </div>
  );
}
