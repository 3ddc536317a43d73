import type { ReactNode } from 'react';
import { Money } from '../shell/money.js';
import { ProblemCard } from '../shell/problem-card.js';
import { Loading } from '../shell/states.js';
import { daysLeft } from './days-left.js';
import { Figure } from './figure.js';
import { useBalance, useSpendTrend } from './home.queries.js';

export function OwnBalance(): ReactNode {
  return <Balance org={null} buckets={[]} />;
}

/** With what the spend of the organization leaves of it. Where that is not known yet, or cannot be read, the balance stands. */
export function OrgBalance({ org }: { org: string }): ReactNode {
  return <Balance org={org} buckets={useSpendTrend(org).data?.buckets ?? []} />;
}

interface BalanceProps {
  org: string | null;
  buckets: Parameters<typeof daysLeft>[1];
}

function Balance({ org, buckets }: BalanceProps): ReactNode {
  const balance = useBalance(org);
  if (balance.isPending) return <Loading height={84} />;
  if (balance.isError) return <ProblemCard failure={balance.error} retry={() => void balance.refetch()} />;
  const { available_usd: available } = balance.data;
  return (
    <Figure name="Available balance" to="/billing" note={daysLeft(available, buckets)}>
      <Money usd={available} />
    </Figure>
  );
}
