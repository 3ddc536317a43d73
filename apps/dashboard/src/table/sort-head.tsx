import { UnstyledButton } from '@mantine/core';
import { IconArrowDown, IconArrowUp } from '@tabler/icons-react';
import type { ReactNode } from 'react';

/** Order of the rows of a table. */
export interface Order {
  /** Field, with - before it for the largest first; undefined for the order that the server has without one. */
  by: string | undefined;
  onChange: (by: string | null) => void;
}

/** Returns the order of a column as `aria-sort` says it. */
export function directionOf(sort: string, order: Order | undefined): 'ascending' | 'descending' | 'none' {
  if (order?.by === sort) return 'ascending';
  return order?.by === `-${sort}` ? 'descending' : 'none';
}

/** The largest comes first, then the smallest, then the order of the server. */
function after(sort: string, order: Order): string | null {
  const direction = directionOf(sort, order);
  if (direction === 'none') return `-${sort}`;
  return direction === 'descending' ? sort : null;
}

const ICONS = { ascending: IconArrowUp, descending: IconArrowDown, none: null } as const;

/** Head of a column that sorts the rows on the server. */
export function SortHead({ name, sort, order }: { name: string; sort: string; order: Order }): ReactNode {
  const Icon = ICONS[directionOf(sort, order)];
  return (
    <UnstyledButton fz="inherit" c="inherit" fw="inherit" onClick={() => order.onChange(after(sort, order))}>
      {name}
      {Icon !== null && <Icon size={12} aria-hidden />}
    </UnstyledButton>
  );
}
