import { Progress } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Budget } from './budgets.queries.js';

const FULL = 1;
const NEAR = 0.8;
const percent = new Intl.NumberFormat('en-US', { style: 'percent', maximumFractionDigits: 0 });

/** Returns the used part of a cap in words. One that is nearly used is not shown as used. */
export function usedInWords(used: number): string {
  return percent.format(used < FULL ? Math.floor(used * 100) / 100 : used);
}

/** Bar of a cap: yellow from 80 % on, red once it is used. */
export function BudgetBar({ budget: { name, used } }: { budget: Pick<Budget, 'name' | 'used'> }): ReactNode {
  return (
    <Progress
      size="md"
      value={Math.min(used, FULL) * 100}
      color={used >= FULL ? 'red' : used >= NEAR ? 'yellow' : 'teal'}
      aria-label={`${usedInWords(used)} of the cap of ${name ?? 'a key without a label'}`}
    />
  );
}
