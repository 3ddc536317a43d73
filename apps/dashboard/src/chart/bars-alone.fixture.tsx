import type { ReactNode } from 'react';
import { BarLink } from './bar-link.js';
import type { Bars } from './bars.js';

const BAR = { x: 0, y: 0, width: 1, height: 1, fill: 'red' };

/** Bars of the chart by series, in place of the chart, which draws nothing in jsdom, where nothing has a size. */
export default function BarsAlone({ bars }: { bars: Bars }): ReactNode {
  return (
    <svg data-testid="bars">
      {bars.series.flatMap(({ label, marks = [] }) =>
        marks.map((mark, at) => <BarLink key={`${label} ${at}`} mark={mark} bar={BAR} hitPx={0} />),
      )}
    </svg>
  );
}
