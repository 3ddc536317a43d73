import { Tooltip } from '@mantine/core';
import type { ReactNode } from 'react';
import { formatUsd } from '../format/money.js';

interface MoneyProps {
  usd: string | null;
  decimals?: number;
  /** What null means here. */
  none?: string;
}

/** An amount, all decimals of it on hover. */
export function Money({ usd, decimals = 2, none = 'not billed' }: MoneyProps): ReactNode {
  if (usd === null) return none;
  return (
    <Tooltip label={`$${usd}`}>
      <span style={{ whiteSpace: 'nowrap', fontVariantNumeric: 'tabular-nums' }}>
        {formatUsd(usd, decimals)}
      </span>
    </Tooltip>
  );
}
