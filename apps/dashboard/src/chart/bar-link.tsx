import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Mark } from './bars.js';

interface BarLinkProps {
  mark: Mark;
  /** Bar in the layout of the chart. */
  bar: { x?: number; y?: number; width?: number; height?: number; fill?: string };
}

/**
 * A bar as a link of its own, for a new tab and a copied address too. The table of the chart has the same links for the
 * keyboard: hundreds of bars are no way through a page.
 */
export function BarLink({ mark, bar: { x, y, width, height, fill } }: BarLinkProps): ReactNode {
  return (
    <Link to={mark.to} search={mark.search} tabIndex={-1}>
      <rect x={x} y={y} width={width} height={height} fill={fill} />
    </Link>
  );
}
