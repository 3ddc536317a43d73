import type { ReactNode } from 'react';
import { BarLink } from './bar-link.js';
import type { Lines } from './bars.js';

const BAR = { x: 0, width: 1, height: 1, fill: 'red' };

/** Points of the chart by line with their links, in place of the chart, which draws nothing in jsdom. */
export default function LinesAlone({ lines }: { lines: Lines }): ReactNode {
  const { series, whole } = lines;
  return (
    <svg data-testid="lines" data-whole={whole?.join()}>
      {series.flatMap(({ label, heights, marks = [] }) =>
        marks.map(
          (mark, at) =>
            heights[at] !== null && (
              <BarLink key={`${label} ${at}`} mark={mark} bar={{ ...BAR, y: heights[at] }} hitPx={0} />
            ),
        ),
      )}
    </svg>
  );
}
