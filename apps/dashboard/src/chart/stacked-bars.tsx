import '@mantine/charts/styles.css';
import { BarChart } from '@mantine/charts';
import type { MouseEvent, ReactNode } from 'react';
import { BarLink } from './bar-link.js';
import type { Bars, Mark } from './bars.js';

interface StackedBarsProps {
  bars: Bars;
  label: string;
  /** A height, and that of the tallest bar where it stands on the axis. */
  format: (height: number, top?: number) => string;
}

/**
 * Groups stacked over time. A dot in a key is read as a path, so series are called s0, s1 and so on. It is for the eye and the
 * mouse: a table says the same to everybody else, with the same links.
 */
export default function StackedBars({ bars, label, format }: StackedBarsProps): ReactNode {
  const rows = bars.labels.map((bucket, at) => ({
    bucket,
    ...Object.fromEntries(bars.series.map(({ heights }, index) => [`s${index}`, heights[at] ?? 0])),
  }));
  const top = Math.max(
    ...bars.labels.map((_, at) => bars.series.reduce((sum, { heights }) => sum + (heights[at] ?? 0), 0)),
  );
  const marks = new Map(bars.series.map((series, index) => [`s${index}`, series.marks]));
  return (
    <figure aria-label={label} style={NO_MARGIN}>
      <div aria-hidden onMouseDown={keepFocus}>
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
          barProps={({ name }) => ({ isAnimationActive: false, maxBarSize: 36, ...shapeOf(marks.get(name)) })}
          accessibilityLayer={false}
          tickLine="none"
          gridAxis="x"
        />
      </div>
    </figure>
  );
}

const NO_MARGIN = { margin: 0 } as const;

/** A link that is pressed takes the focus, which is lost to what is hidden from screen readers. */
function keepFocus(event: MouseEvent): void {
  event.preventDefault();
}

type Shape = Pick<Parameters<typeof BarLink>[0]['bar'], 'x' | 'y' | 'width' | 'height' | 'fill'>;

function shapeOf(marks: readonly Mark[] | undefined): {
  shape?: (bar: Shape & { index: number }) => ReactNode;
} {
  if (marks === undefined) return {};
  return { shape: ({ index, ...bar }) => <BarLink mark={marks[index]} bar={bar} /> };
}
