import type { ReactNode } from 'react';
import { BarLink } from './bar-link.js';
import type { Bars } from './bars.js';
import { Plot, type Scale } from './plot.js';

const BAR_PX = 36;
/** Part of a bucket that its bar takes. */
const FILLED = 0.8;
/** Height that a pointer finds. */
const HIT_PX = 8;

interface StackedBarsProps {
  bars: Bars;
  label: string;
  /** A height, and that of the tallest bar where it stands on the axis. */
  format: (height: number, top?: number) => string;
}

/** Groups stacked over time. It is for the eye and the mouse: a table says the same to everybody else, with the same links. */
export default function StackedBars({ bars, label, format }: StackedBarsProps): ReactNode {
  const { labels, series } = bars;
  const totals = labels.map((_, at) => series.reduce((sum, { heights }) => sum + heights[at], 0));
  return (
    <Plot
      label={label}
      labels={labels}
      top={Math.max(...totals)}
      format={format}
      readingsOf={(at) => ({
        readings: series
          .map(({ label: name, color, heights }) => ({ label: name, color, height: heights[at] }))
          .filter(({ height }) => height > 0)
          .sort((a, b) => b.height - a.height),
        total: series.length > 1 ? totals[at] : null,
      })}
      draw={(scale) => labels.map((_, at) => <Bar key={at} bars={bars} at={at} scale={scale} />)}
    />
  );
}

/** The groups of one bucket, the first at the bottom. */
function Bar({ bars: { series }, at, scale }: { bars: Bars; at: number; scale: Scale }): ReactNode {
  const width = Math.min(BAR_PX, scale.band * FILLED);
  let below = 0;
  return series.map(({ color, heights, marks }, group) => {
    const from = below;
    below += heights[at];
    if (heights[at] <= 0) return null;
    const bar = {
      x: scale.x(at) - width / 2,
      y: scale.y(below),
      width,
      height: scale.y(from) - scale.y(below),
      fill: color,
    };
    return marks === undefined ? (
      <rect key={group} {...bar} />
    ) : (
      <BarLink key={group} mark={marks[at]} bar={bar} hitPx={HIT_PX} />
    );
  });
}
