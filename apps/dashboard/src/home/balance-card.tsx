import type { ReactNode } from 'react';
import { barHeight } from '../chart/bar-height.js';
import { Money } from '../shell/money.js';
import { ProblemCard } from '../shell/problem-card.js';
import { Loading } from '../shell/states.js';
import { daysLeft } from './days-left.js';
import { CARD_PX, Figure } from './figure.js';
import { useBalance, useSpendTrend } from './home.queries.js';

export function OwnBalance(): ReactNode {
  return <Balance org={null} buckets={null} />;
}

/**
 * With the days that the spend of the organization leaves of it; its line is the average by which they are counted. Where that
 * is not known yet, or cannot be read, the balance stands.
 */
export function OrgBalance({ org }: { org: string }): ReactNode {
  return <Balance org={org} buckets={useSpendTrend(org).data?.buckets ?? []} />;
}

interface BalanceProps {
  org: string | null;
  /** The spend by day; null where there is none to ask for. */
  buckets: Parameters<typeof daysLeft>[1] | null;
}

function Balance({ org, buckets }: BalanceProps): ReactNode {
  const balance = useBalance(org);
  if (balance.isPending) return <Loading height={CARD_PX} />;
  if (balance.isError) return <ProblemCard failure={balance.error} retry={() => void balance.refetch()} />;
  const { available_usd: available } = balance.data;
  const course = buckets && {
    heights: buckets.map(({ moving_average_usd: average }) => barHeight(average)),
    note: daysLeft(available, buckets),
  };
  return (
    <Figure name="Available balance" to="/billing" course={course}>
      <Money usd={available} />
    </Figure>
  );
}
