import '@mantine/charts/styles.css';
import { LineChart } from '@mantine/charts';
import { Link } from '@tanstack/react-router';
import type { MouseEvent, ReactNode } from 'react';
import type { Lines as Content, Mark } from './bars.js';

interface LinesProps {
  lines: Content;
  label: string;
  /** A height, and that of the highest point where it stands on the axis. */
  format: (height: number, top?: number) => string;
}

const WHOLE = 'whole';

/**
 * A line for each group over time, and a thick one for all of them. Its keys are s0, s1 and so on as those of the bars are. It
 * is for the eye and the mouse: a table says the same to everybody else, with the same links.
 */
export default function Lines({ lines, label, format }: LinesProps): ReactNode {
  const { labels, series, whole } = lines;
  const rows = labels.map((bucket, at) => ({
    bucket,
    ...Object.fromEntries(series.map(({ heights }, index) => [`s${index}`, heights[at]])),
    ...(whole && { [WHOLE]: whole[at] }),
  }));
  const top = topOf(lines);
  const marks = new Map(series.map((group, index) => [`s${index}`, group.marks]));
  const drawn = series.map((group, index) => ({ name: `s${index}`, label: group.label, color: group.color }));
  return (
    <figure aria-label={label} style={NO_MARGIN}>
      <div aria-hidden onMouseDown={keepFocus}>
        <LineChart
          h={260}
          data={rows}
          dataKey="bucket"
          series={whole === null ? drawn : [...drawn, { name: WHOLE, label: 'All', color: ALL }]}
          curveType="linear"
          connectNulls={false}
          valueFormatter={(height) => format(height)}
          yAxisProps={{ width: 72, tickFormatter: (height: number) => format(height, top) }}
          lineProps={({ name }) => ({
            isAnimationActive: false,
            // Nothing that is drawn over the points takes their presses: they are links.
            activeDot: false,
            pointerEvents: 'none',
            strokeWidth: name === WHOLE ? 4 : 2,
            ...dotOf(marks.get(name)),
          })}
          lineChartProps={{ accessibilityLayer: false }}
          tickLine="none"
          gridAxis="x"
        />
      </div>
    </figure>
  );
}

const NO_MARGIN = { margin: 0 } as const;
const ALL = 'var(--mantine-color-text)';

/** A link that is pressed takes the focus, which is lost to what is hidden from screen readers. */
function keepFocus(event: MouseEvent): void {
  event.preventDefault();
}

function topOf({ series, whole }: Content): number {
  const all = [...series.flatMap(({ heights }) => heights), ...(whole ?? [])];
  return Math.max(0, ...all.map((height) => height ?? 0));
}

interface Dot {
  index?: number;
  cx?: number | null;
  cy?: number | null;
  stroke?: string;
}

function dotOf(marks: readonly Mark[] | undefined): { dot?: (dot: Dot) => ReactNode } {
  if (marks === undefined) return {};
  return { dot: (dot) => <LinkedDot key={dot.index} dot={dot} mark={marks[dot.index ?? 0]} /> };
}

/** A point as a link of its own; a bucket without a value has none. */
function LinkedDot({ dot: { cx, cy, stroke }, mark }: { dot: Dot; mark: Mark }): ReactNode {
  if (cx == null || cy == null) return <g />;
  return (
    <Link to={mark.to} search={mark.search} tabIndex={-1}>
      <circle cx={cx} cy={cy} r={4} fill={stroke} />
    </Link>
  );
}
