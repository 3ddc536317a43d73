import { Alert, Button, Stack } from '@mantine/core';
import { IconPlus, IconRefresh } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { absoluteTime } from '../format/time.js';
import { useRoles, useZone } from '../session/me.queries.js';
import { isAllowed } from '../session/rights.js';
import { useOrg } from '../shell/org.queries.js';
import { PageHead } from '../shell/page-head.js';
import { ProblemCard } from '../shell/problem-card.js';
import { useScopes } from '../shell/scope.js';
import { useParamsOfUrl } from '../shell/search-params.js';
import { Loading } from '../shell/states.js';
import { AddCredit } from './add-credit.js';
import { AutoRechargePanel } from './auto-recharge.js';
import { useBalance } from './billing.queries.js';
import { SpendByDay } from './spend-by-day.js';
import { Summary } from './summary.js';

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
        {balance.isSuccess && <Summary balance={balance.data} />}
        {url.payment !== undefined && (
          <Alert color="green" role="status">
            Thank you. The credit stands here once the payment provider has confirmed the payment, as a rule
            within a minute.
          </Alert>
        )}
        {mayPay && <AutoRechargePanel />}
        {id !== null && <SpendByDay org={id} />}
      </Stack>
      {mayPay && <AddCredit isOpen={url.add === 'credit'} onClose={() => change({ add: null })} />}
    </>
  );
}
