import { Tooltip } from '@mantine/core';
import type { ClipboardEvent, ReactNode } from 'react';
import { formatPrice, formatUsd } from '../format/money.js';

interface MoneyProps {
  usd: string | null;
  decimals?: number;
  /** True for a price or the cost of one request, which is less than a cent more often than not. */
  isPrice?: boolean;
  /** Meaning of null at this place. */
  none?: string;
}

/** An amount, all decimals of it on hover; a click selects it, and a copy has them too. */
export function Money({ usd, decimals = 2, isPrice = false, none = 'not billed' }: MoneyProps): ReactNode {
  if (usd === null) return none;
  return (
    <Tooltip label={`$${usd}`}>
      <span data-exact={usd} style={FIGURE} onCopy={(event) => copyExact(event, usd)}>
        {isPrice ? formatPrice(usd) : formatUsd(usd, decimals)}
      </span>
    </Tooltip>
  );
}

const FIGURE = { whiteSpace: 'nowrap', fontVariantNumeric: 'tabular-nums', userSelect: 'all' } as const;

/** Copies the exact amount; of a selection with more than the amount the browser copies what is seen. */
function copyExact(event: ClipboardEvent, usd: string): void {
  const range = getSelection()?.getRangeAt(0);
  if (!range || !event.currentTarget.contains(range.commonAncestorContainer)) return;
  event.clipboardData.setData('text/plain', usd);
  event.preventDefault();
}
