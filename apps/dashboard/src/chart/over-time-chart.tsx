import { lazy, Suspense, type ReactNode } from 'react';
import { Empty, Loading } from '../shell/states.js';
import type { Bars, Lines as Content } from './bars.js';

const StackedBars = lazy(() => import('./stacked-bars.js'));
const Lines = lazy(() => import('./lines.js'));

interface OverTimeChartProps {
  /** Bars where the groups add up, lines where they do not. */
  shown: { bars: Bars } | { lines: Content };
  label: string;
  format: (height: number, top?: number) => string;
  /** The words in place of a chart that would have no mark: axes without one say nothing. */
  empty: string;
}

/** Groups over time. */
export function OverTimeChart({ shown, label, format, empty }: OverTimeChartProps): ReactNode {
  const { series } = 'bars' in shown ? shown.bars : shown.lines;
  if (!series.some(({ heights }) => heights.some(Boolean))) return <Empty>{empty}</Empty>;
  return (
    <Suspense fallback={<Loading height={260} />}>
      {'bars' in shown ? (
        <StackedBars bars={shown.bars} label={label} format={format} />
      ) : (
        <Lines lines={shown.lines} label={label} format={format} />
      )}
    </Suspense>
  );
}
