import { Progress } from '@mantine/core';
import type { ReactNode } from 'react';
import { usdRatio } from '../format/money.js';
import { Money } from '../shell/money.js';
import type { Key } from './keys.queries.js';

const NEAR_PCT = 80;
const FULL_PCT = 100;

/** Spend of a key, with a bar of its cap where it has one. */
export function KeySpent({ record }: { record: Key }): ReactNode {
  const { spent_usd: spent, spend_cap_usd: cap } = record;
  const share = spent === null || cap === null ? null : usdRatio(spent, cap);
  const pct = share === null ? null : Math.min(FULL_PCT, Math.floor(share * FULL_PCT));
  return (
    <>
      <Money usd={spent} none="unknown" />
      {pct !== null && (
        <Progress
          size={4}
          mt={2}
          value={pct}
          color={pct >= FULL_PCT ? 'red' : pct >= NEAR_PCT ? 'yellow' : undefined}
          aria-label={`${pct}% of the cap`}
        />
      )}
    </>
  );
}
