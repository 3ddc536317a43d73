import { Anchor, SimpleGrid, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import type { Schemas } from '../api/schemas.js';
import { daysLeft } from '../format/days-left.js';
import { forecastOf, monthAt } from '../format/forecast.js';
import { formatUsd } from '../format/money.js';
import { useMonthBudget } from '../limits/period-budgets.queries.js';
import { useRoles } from '../session/me.queries.js';
import { isAllowed } from '../session/rights.js';
import { Money } from '../shell/money.js';
import { useOrg } from '../shell/org.queries.js';
import { Panel } from '../shell/panel.js';
import { Loading } from '../shell/states.js';
import { useSpendTrend, useStatement } from './billing.queries.js';

const CARD_PX = 118;

/** Cards of the money: what is left and for how long, what was paid in, what is reserved, what the month will cost. */
export function Summary({ balance }: { balance: Schemas['BalanceRecord'] }): ReactNode {
  const { id, slug } = useOrg();
  // The statement is not a member's.
  const mayRead = isAllowed(useRoles(slug), ['owner', 'admin', 'alone']);
  const { reserved_breakdown: parts } = balance;
  return (
    <SimpleGrid cols={{ base: 1, sm: 2, lg: 4 }}>
      {id === null ? (
        <Amount name="Available" usd={balance.available_usd} about="For new requests" />
      ) : (
        <Available org={id} usd={balance.available_usd} />
      )}
      {mayRead && <Forecast />}
      <Amount name="Balance" usd={balance.balance_usd} about="Paid in and credited, less what was spent" />
      <Amount
        name="Reserved"
        usd={balance.reserved_usd}
        about={
          parts.length === 0
            ? 'Nothing runs now'
            : parts.map(({ kind, reserved_usd: usd }) => `${kind.replaceAll('_', ' ')} $${usd}`).join(', ')
        }
      />
    </SimpleGrid>
  );
}

function Available({ org, usd }: { org: string; usd: string }): ReactNode {
  const lasts = daysLeft(usd, useSpendTrend(org).data?.buckets ?? []);
  return <Amount name="Available" usd={usd} about={lasts === '' ? 'For new requests' : lasts} />;
}

/** Card of what the running month of UTC will cost, from the statement so far. */
function Forecast(): ReactNode {
  const { id, slug } = useOrg();
  const [{ month, passed }] = useState(() => monthAt(Date.now()));
  const statement = useStatement(id, month);
  const mayRead = isAllowed(useRoles(slug), ['owner', 'admin']);
  const budget = useMonthBudget(id ?? '', id !== null && mayRead);
  if (statement.isPending) return <Loading height={CARD_PX} />;
  if (statement.isError) return null;
  const { usage_usd: spent } = statement.data;
  return (
    <Amount
      name="Forecast of the month"
      usd={forecastOf(spent, passed)}
      about={
        <>
          {formatUsd(spent)} so far. {typeof budget === 'string' && `The budget is ${formatUsd(budget)}.`}
          {budget === null && (
            <Anchor component={Link} to={`/o/${slug}/budgets`} inherit underline="always">
              Set a budget
            </Anchor>
          )}
        </>
      }
    />
  );
}

/** Card of one sum; null = not known yet. */
function Amount({ name, usd, about }: { name: string; usd: string | null; about: ReactNode }): ReactNode {
  return (
    <Panel>
      <Text size="sm" c="dimmed">
        {name}
      </Text>
      <Text fz="xl" fw={650} component="div">
        {usd === null ? '–' : <Money usd={usd} />}
      </Text>
      <Text size="sm" c="dimmed" component="div">
        {about}
      </Text>
    </Panel>
  );
}
