import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Lines as Content, Mark } from './bars.js';
import { Plot, type Scale } from './plot.js';

interface LinesProps {
  lines: Content;
  label: string;
  /** A height, and that of the highest point where it stands on the axis. */
  format: (height: number, top?: number) => string;
}

const ALL = 'var(--mantine-color-text)';

/**
 * A line for each group over time, and a thick one for all of them. It is for the eye and the mouse: a table says the same to
 * everybody else, with the same links.
 */
export default function Lines({ lines: { labels, series, whole }, label, format }: LinesProps): ReactNode {
  const drawn: Drawn[] = [
    ...series.map(({ label: name, ...group }) => ({ ...group, name, thickness: 2 })),
    ...(whole === null ? [] : [{ name: 'All', color: ALL, heights: whole, thickness: 4 }]),
  ];
  const top = Math.max(0, ...drawn.flatMap(({ heights }) => heights.map((height) => height ?? 0)));
  return (
    <Plot
      label={label}
      labels={labels}
      top={top}
      format={format}
      readingsOf={(at) => ({
        readings: drawn
          .flatMap(({ name, color, heights }) => {
            const height = heights[at];
            return height === null ? [] : [{ label: name, color, height }];
          })
          .sort((a, b) => b.height - a.height),
        // A median or a share has no sum.
        total: null,
      })}
      draw={(scale) => drawn.map((line, group) => <OneLine key={group} line={line} scale={scale} />)}
    />
  );
}

interface Drawn {
  name: string;
  color: string;
  heights: readonly (number | null)[];
  /** One per bucket: its point is a link. */
  marks?: readonly Mark[];
  thickness: number;
}

function OneLine({
  line: { color, heights, marks, thickness },
  scale,
}: {
  line: Drawn;
  scale: Scale;
}): ReactNode {
  return (
    <>
      <path
        d={pathOf(heights, scale)}
        fill="none"
        stroke={color}
        strokeWidth={thickness}
        strokeLinecap="round"
        strokeLinejoin="round"
        // Nothing that is drawn over the points takes their presses: they are links.
        pointerEvents="none"
      />
      {marks?.map(({ to, search }, at) => {
        const height = heights[at];
        if (height === null) return null;
        return (
          <Link key={at} to={to} search={search} tabIndex={-1}>
            <circle cx={scale.x(at)} cy={scale.y(height)} r={4} fill={color} />
          </Link>
        );
      })}
    </>
  );
}

/** Returns the path of a line, broken where there is no value; a value alone is a dot. */
function pathOf(heights: readonly (number | null)[], { x, y }: Scale): string {
  const steps = heights.map((height, at) => {
    if (height === null) return '';
    const place = `${x(at).toFixed(1)} ${y(height).toFixed(1)}`;
    return at > 0 && heights[at - 1] !== null ? `L${place}` : `M${place}h0`;
  });
  return steps.join('');
}
