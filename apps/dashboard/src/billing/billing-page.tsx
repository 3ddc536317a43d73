import { Alert, Button, SimpleGrid, Stack, Text } from '@mantine/core';
import { IconPlus, IconRefresh } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { axisUsd, barHeight } from '../chart/bar-height.js';
import { DATA } from '../chart/colours.js';
import { OverTimeChart } from '../chart/over-time-chart.js';
import { absoluteTime, bucketLabel, count } from '../format/time.js';
import { useRoles, useZone } from '../session/me.queries.js';
import { isAllowed } from '../session/rights.js';
import { Money } from '../shell/money.js';
import { useOrg } from '../shell/org.queries.js';
import { PageHead } from '../shell/page-head.js';
import { Panel } from '../shell/panel.js';
import { ProblemCard } from '../shell/problem-card.js';
import { useScopes } from '../shell/scope.js';
import { useParamsOfUrl } from '../shell/search-params.js';
import { Loading } from '../shell/states.js';
import { DataTable, type Column } from '../table/data-table.js';
import { AddCredit } from './add-credit.js';
import { AutoRechargePanel } from './auto-recharge.js';
import { useBalance, useSpendTrend, type Trend } from './billing.queries.js';

export default function BillingPage(): ReactNode {
  const { id, slug } = useOrg();
  const zone = useZone();
  const balance = useBalance(id);
  const [url, change] = useParamsOfUrl();
  const mayPay = isAllowed(useRoles(slug), ['owner', 'admin', 'alone']);
  return (
    <>
      <PageHead
        title="Billing"
        scope={useScopes().money}
        about={balance.isSuccess ? `As of ${absoluteTime(balance.data.updated_at, zone)}` : undefined}
      >
        <Button
          variant="default"
          leftSection={<IconRefresh size={16} />}
          loading={balance.isFetching}
          onClick={() => void balance.refetch()}
        >
          Refresh
        </Button>
        {mayPay && (
          <Button leftSection={<IconPlus size={16} />} onClick={() => change({ add: 'credit' })}>
            Add credit
          </Button>
        )}
      </PageHead>
      <Stack gap="lg">
        {balance.isPending && <Loading height={120} />}
        {balance.isError && <ProblemCard failure={balance.error} retry={() => void balance.refetch()} />}
        {balance.isSuccess && (
          <SimpleGrid cols={{ base: 1, sm: 3 }}>
            <Amount name="Available" usd={balance.data.available_usd} about="What new requests may cost" />
            <Amount name="Balance" usd={balance.data.balance_usd} about="Paid in, less what was spent" />
            <Amount
              name="Reserved"
              usd={balance.data.reserved_usd}
              about={
                balance.data.reserved_breakdown.length === 0
                  ? 'Nothing runs now'
                  : balance.data.reserved_breakdown
                      .map(({ kind, reserved_usd: usd }) => `${kind} $${usd}`)
                      .join(', ')
              }
            />
          </SimpleGrid>
        )}
        {url.payment !== undefined && (
          <Alert color="green" role="status">
            Thank you. The credit stands here once the payment provider has confirmed the payment, as a rule
            within a minute.
          </Alert>
        )}
        {id !== null && <Burn org={id} />}
        {mayPay && <AutoRechargePanel />}
      </Stack>
      {mayPay && <AddCredit isOpen={url.add === 'credit'} onClose={() => change({ add: null })} />}
    </>
  );
}

function Amount({ name, usd, about }: { name: string; usd: string; about: string }): ReactNode {
  return (
    <Panel>
      <Text size="sm" c="dimmed">
        {name}
      </Text>
      <Text fz="xl" fw={650} component="div">
        <Money usd={usd} />
      </Text>
      <Text size="sm" c="dimmed">
        {about}
      </Text>
    </Panel>
  );
}

const COLUMNS: readonly Column<Trend['buckets'][number] & { label: string }>[] = [
  { name: 'Day', cell: ({ label }) => label },
  { name: 'Spend', isFigure: true, cell: ({ spend_usd: usd }) => <Money usd={usd} /> },
  {
    name: 'Average of 3 days',
    isFigure: true,
    cell: ({ moving_average_usd: usd }) => <Money usd={usd} />,
  },
  { name: 'Requests', isFigure: true, cell: ({ requests }) => count(requests) },
];

/** Card of the spend per day. */
function Burn({ org }: { org: string }): ReactNode {
  const trend = useSpendTrend(org);
  if (trend.isPending) return <Loading height={320} />;
  if (trend.isError) return <ProblemCard failure={trend.error} retry={() => void trend.refetch()} />;
  const days = trend.data.buckets.map((bucket) => ({
    ...bucket,
    label: bucketLabel(bucket.start, 'day', 'UTC'),
  }));
  const spent = days.filter(({ requests }) => requests > 0).reverse();
  return (
    <>
      <Panel title="Spend by day" about="Days of UTC, in which the ledger and caps count">
        <OverTimeChart
          shown={{
            bars: {
              labels: days.map(({ label }) => label),
              series: [
                {
                  label: 'Spend',
                  color: DATA,
                  heights: days.map((day) => barHeight(day.spend_usd)),
                },
              ],
            },
          }}
          label="Spend by day; the table below has the amounts"
          format={axisUsd}
          empty="Nothing was spent yet. The first request shows here within a minute."
        />
      </Panel>
      {spent.length > 0 && (
        <DataTable
          label="Spend by day"
          columns={COLUMNS}
          rows={spent}
          rowKey={({ start }) => start}
          minWidth={480}
        />
      )}
    </>
  );
}
