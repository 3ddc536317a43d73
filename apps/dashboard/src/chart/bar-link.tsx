import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Mark } from './bars.js';

interface BarLinkProps {
  mark: Mark;
  /** Bar in the layout of the chart. */
  bar: { x: number; y: number; width: number; height: number; fill: string };
  /** Height that is pressed, also where the bar is lower. */
  hitPx: number;
}

/**
 * A bar as a link of its own, for a new tab and a copied address too. The table of the chart has the same links for the
 * keyboard: hundreds of bars are no way through a page.
 */
export function BarLink({ mark, bar, hitPx }: BarLinkProps): ReactNode {
  const { height, y } = bar;
  return (
    <Link to={mark.to} search={mark.search} tabIndex={-1}>
      <rect {...bar} />
      {height < hitPx && <rect {...bar} y={y + height / 2 - hitPx / 2} height={hitPx} fill="transparent" />}
    </Link>
  );
}
