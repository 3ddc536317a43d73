import { Anchor, Modal, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense, type ReactNode } from 'react';
import { SCOPE_WORDS } from '../format/limit-words.js';
import { useFilterNames } from '../shell/filter-names.queries.js';
import { useOrg } from '../shell/org.queries.js';
import { Panel } from '../shell/panel.js';
import { ProblemCard } from '../shell/problem-card.js';
import { useParamsOfUrl } from '../shell/search-params.js';
import { Empty, Loading } from '../shell/states.js';
import { DataTable, pageOf, Pager } from '../table/data-table.js';
import { PeriodBudgetActions } from './period-budget-actions.js';
import { periodBudgetColumns } from './period-budget-columns.js';
import { PERIOD_BUDGETS_A_PAGE, usePeriodBudgets, type PeriodBudget } from './period-budgets.queries.js';

const CreateBudget = lazy(async () => ({ default: (await import('./period-budget-form.js')).CreateBudget }));

const COLUMNS = periodBudgetColumns(
  { name: 'Of', cell: (budget) => <Owner budget={budget} /> },
  { name: 'Actions', cell: (budget) => <PeriodBudgetActions budget={budget} /> },
);

/** Budgets of calendar periods of an organization. */
export function PeriodBudgets({ org }: { org: string }): ReactNode {
  const [url, change] = useParamsOfUrl();
  const page = pageOf(url.page);
  const budgets = usePeriodBudgets(org, page);
  const close = (): void => change({ create: null, page: url.page });
  return (
    <Panel
      title="Budgets"
      about="Amounts of a day, week, month, quarter or of the last days. Requests above them are blocked, or only warned of."
    >
      {budgets.isPending && <Loading height={44} rows={3} />}
      {budgets.isError && <ProblemCard failure={budgets.error} retry={() => void budgets.refetch()} />}
      {budgets.data?.total === 0 && (
        <Empty>No budget is set. A budget holds what a team or a key may cost in a month, for example.</Empty>
      )}
      {budgets.isSuccess && budgets.data.total > 0 && (
        <>
          <DataTable
            label="Budgets of a period"
            columns={COLUMNS}
            rows={budgets.data.data}
            rowKey={({ id }) => id}
            minWidth={860}
          />
          <Pager
            page={page}
            rows={PERIOD_BUDGETS_A_PAGE}
            total={budgets.data.total}
            onChange={(next) => change({ page: next === 1 ? null : String(next) })}
          />
        </>
      )}
      <Modal opened={url.create === 'yes'} onClose={close} title="Create a budget">
        <Suspense>
          <CreateBudget org={org} onClose={close} />
        </Suspense>
      </Modal>
    </Panel>
  );
}

/** Kind and name of the scope, with the way to it. */
function Owner({ budget: { scope, scope_id: id, org_id: org } }: { budget: PeriodBudget }): ReactNode {
  const { slug } = useOrg();
  const names = useFilterNames(org, {
    ...(scope === 'key' ? { key_id: id } : {}),
    ...(scope === 'member' ? { member_id: id } : {}),
    ...(scope === 'team' ? { team_id: id } : {}),
  });
  if (scope === 'org') return SCOPE_WORDS.org;
  // Neither has a page of its own, and an end user is known by a hash alone.
  if (scope === 'tag') return `${SCOPE_WORDS.tag} ${id}`;
  if (scope === 'end_user') return SCOPE_WORDS.end_user;
  // Those of providers are the platform's, and in no list of an organization.
  if (scope === 'provider') return SCOPE_WORDS.provider;
  const to = { key: `/keys/${id}`, member: '/members', team: `/teams/${id}` }[scope];
  return (
    <Text size="sm" component="div">
      {SCOPE_WORDS[scope]}{' '}
      <Anchor component={Link} to={`/o/${slug}${to}`} inherit>
        {names.key_id ?? names.member_id ?? names.team_id}
      </Anchor>
    </Text>
  );
}
