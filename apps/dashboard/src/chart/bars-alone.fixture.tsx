import type { ReactNode } from 'react';
import { BarLink } from './bar-link.js';
import type { Bars } from './bars.js';

/** In place of the chart, which draws nothing in jsdom, where nothing has a size: its bars alone, by series. */
export default function BarsAlone({ bars }: { bars: Bars }): ReactNode {
  return (
    <svg data-testid="bars">
      {bars.series.flatMap(({ label, marks = [] }) =>
        marks.map((mark, at) => <BarLink key={`${label} ${at}`} mark={mark} bar={{}} />),
      )}
    </svg>
  );
}
