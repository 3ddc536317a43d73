import { Anchor, Button, Modal, Text } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense, type ReactNode } from 'react';
import { useOrg } from '../shell/org.queries.js';
import { PageHead } from '../shell/page-head.js';
import { ProblemCard } from '../shell/problem-card.js';
import { useParamsOfUrl } from '../shell/search-params.js';
import { Empty, Loading } from '../shell/states.js';
import { DataTable } from '../table/data-table.js';
import { PeriodBudgetActions } from './period-budget-actions.js';
import { periodBudgetColumns } from './period-budget-columns.js';
import { useBudgetProviders, useProviderBudgets, type PeriodBudget } from './period-budgets.queries.js';

const CreateProviderBudget = lazy(async () => ({
  default: (await import('./period-budget-form.js')).CreateProviderBudget,
}));

/** Beginning of the ids of budgets that the operator's file sets. */
const OF_FILE = 'bud_file_';

const COLUMNS = periodBudgetColumns(
  { name: 'Of', cell: ({ scope_id: slug }) => <Provider slug={slug} /> },
  { name: 'Actions', cell: (budget) => <Actions budget={budget} /> },
);

/** Budgets of what the platform spends at its providers. */
export default function ProviderBudgetsPage(): ReactNode {
  const [url, change] = useParamsOfUrl();
  const budgets = useProviderBudgets();
  const close = (): void => change({ create: null });
  return (
    <>
      <PageHead
        title="Provider budgets"
        about="What the platform may spend at a provider in a day, week, month, quarter or in the last days. Above it requests go to other providers, or it only warns."
      >
        <Button leftSection={<IconPlus size={16} />} onClick={() => change({ create: 'yes' })}>
          Create budget
        </Button>
      </PageHead>
      {budgets.isPending && <Loading height={44} rows={3} />}
      {budgets.isError && <ProblemCard failure={budgets.error} retry={() => void budgets.refetch()} />}
      {budgets.data?.length === 0 && (
        <Empty>No budget is set. Providers are used whatever the platform spends at them.</Empty>
      )}
      {budgets.data !== undefined && budgets.data.length > 0 && (
        <DataTable
          label="Budgets of providers"
          columns={COLUMNS}
          rows={budgets.data}
          rowKey={({ id }) => id}
          minWidth={860}
        />
      )}
      <Modal opened={url.create === 'yes'} onClose={close} title="Create a budget">
        <Suspense>
          <CreateProviderBudget onClose={close} />
        </Suspense>
      </Modal>
    </>
  );
}

/** Name of the provider, which leads to its credentials. One that is gone has its slug alone. */
function Provider({ slug }: { slug: string }): ReactNode {
  const org = useOrg();
  const known = useBudgetProviders().find((provider) => provider.slug === slug);
  if (known === undefined) return slug;
  return (
    <Anchor component={Link} to={`/o/${org.slug}/admin/providers/${slug}`} size="sm">
      {known.name}
    </Anchor>
  );
}

/** Menu of a budget. That of the operator's file is changed there alone. */
function Actions({ budget }: { budget: PeriodBudget }): ReactNode {
  if (!budget.id.startsWith(OF_FILE)) return <PeriodBudgetActions budget={budget} />;
  return (
    <Text size="sm" c="dimmed">
      set in gateway.yaml
    </Text>
  );
}
