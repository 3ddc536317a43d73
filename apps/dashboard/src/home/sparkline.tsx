import type { ReactNode } from 'react';
import { DATA } from '../chart/colours.js';

const WIDTH = 100;
/** Height of a line, which has its place also where it is not drawn. */
export const LINE_PX = 28;
/** Half of the line's width: the top and the bottom are not cut. */
const EDGE = 1.5;

/** Small line for the eye alone: its content is beside it in words, and on the page that the card leads to. */
export function Sparkline({ heights }: { heights: readonly (number | null)[] }): ReactNode {
  return (
    <svg
      aria-hidden
      width="100%"
      height={LINE_PX}
      viewBox={`0 0 ${WIDTH} ${LINE_PX}`}
      preserveAspectRatio="none"
      display="block"
    >
      <path
        d={pathOf(heights)}
        fill="none"
        stroke={DATA}
        strokeWidth={2 * EDGE}
        strokeLinecap="round"
        strokeLinejoin="round"
        vectorEffect="non-scaling-stroke"
      />
    </svg>
  );
}

/**
 * Returns the path from zero at the bottom to the tallest at the top, broken where there is no value; a single height
 * is a dot.
 */
export function pathOf(heights: readonly (number | null)[]): string {
  const top = Math.max(...heights.map((height) => height ?? 0), 0);
  const step = WIDTH / Math.max(1, heights.length - 1);
  const steps = heights.map((height, at) => {
    if (height === null) return '';
    const y = LINE_PX - EDGE - (top === 0 ? 0 : (height / top) * (LINE_PX - 2 * EDGE));
    const place = `${(at * step).toFixed(2)} ${y.toFixed(2)}`;
    return isThere(heights[at - 1]) ? `L${place}` : `M${place}h0`;
  });
  return steps.join('');
}

function isThere(height: number | null | undefined): boolean {
  return height !== null && height !== undefined;
}
