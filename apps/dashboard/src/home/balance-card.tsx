import type { ReactNode } from 'react';
import { useIsBilled, useRoles } from '../session/me.queries.js';
import { isAllowed } from '../session/rights.js';
import { Money } from '../shell/money.js';
import { useOrg } from '../shell/org.queries.js';
import { ProblemCard } from '../shell/problem-card.js';
import { useScopes } from '../shell/scope.js';
import { Loading } from '../shell/states.js';
import { daysLeft } from '../format/days-left.js';
import { CARD_PX, Figure } from './figure.js';
import { useBalance, useSpendTrend, useWhyNewest } from './home.queries.js';

export function OwnBalance(): ReactNode {
  return <Balance org={null} buckets={null} />;
}

/**
 * Card of the organization's balance with the days that its spend leaves. Where those are not known, the balance is
 * shown alone.
 */
export function OrgBalance({ org }: { org: string }): ReactNode {
  return <Balance org={org} buckets={useSpendTrend(org).data?.buckets} />;
}

interface BalanceProps {
  org: string | null;
  /** The spend by day; undefined until it is known, null where there is none to ask for. */
  buckets: Parameters<typeof daysLeft>[1] | null | undefined;
}

function Balance(props: BalanceProps): ReactNode {
  return useIsBilled() ? <Filled {...props} /> : null;
}

function Filled({ org, buckets }: BalanceProps): ReactNode {
  const balance = useBalance(org);
  const { slug } = useOrg();
  const scope = useScopes().money;
  const lasts = daysLeft(balance.data?.available_usd ?? '0', buckets ?? []);
  const isUnspent = Boolean(buckets) && balance.isSuccess && lasts === '';
  const mayRead = isAllowed(useRoles(slug), ['owner', 'admin']);
  // A new account did not pay in what it has.
  const whyNewest = useWhyNewest(org, isUnspent && mayRead);
  if (balance.isPending) return <Loading height={CARD_PX} />;
  if (balance.isError) return <ProblemCard failure={balance.error} retry={() => void balance.refetch()} />;
  const { available_usd: available } = balance.data;
  // The history of a balance is not read, and a line of the spend would climb while the balance falls.
  const course = buckets === null ? null : { heights: null, note: lasts === '' ? whyNewest : lasts };
  return (
    <Figure name="Available balance" scope={scope} to="/billing" course={course}>
      <Money usd={available} />
    </Figure>
  );
}
