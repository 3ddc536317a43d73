import { Anchor } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Mark } from './bars.js';

interface MarkLinkProps {
  mark: Mark;
  isBold?: boolean;
  children: ReactNode;
}

/** Link of a chart's mark in a table. */
export function MarkLink({ mark: { to, search }, isBold = false, children }: MarkLinkProps): ReactNode {
  return (
    <Anchor
      size="sm"
      fw={isBold ? 700 : undefined}
      renderRoot={(anchor) => <Link {...anchor} to={to} search={search} />}
    >
      {children}
    </Anchor>
  );
}
