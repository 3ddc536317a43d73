import { Badge, Group, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useIsBilled } from '../session/me.queries.js';
import { CopyText } from '../shell/copy-text.js';
import { Money } from '../shell/money.js';
import { PageHead } from '../shell/page-head.js';
import { ProblemCard } from '../shell/problem-card.js';
import { SearchField } from '../shell/search-field.js';
import { useParamsOfUrl } from '../shell/search-params.js';
import { Empty, Loading } from '../shell/states.js';
import { When } from '../shell/when.js';
import { DataTable, pageOf, Pager, type Column } from '../table/data-table.js';
import { ROWS_A_PAGE, useAllOrgs, type Org } from './admin.queries.js';
import { OrgActions } from './org-actions.js';

const CREDIT_LIMIT: Column<Org> = {
  name: 'Credit limit',
  isFigure: true,
  cell: ({ credit_limit_usd: usd }) => <Money usd={usd} none="any amount" />,
};

const columnsOf = (isBilled: boolean): readonly Column<Org>[] => [
  {
    name: 'Organization',
    cell: ({ id, name }) => (
      <Stack gap={2}>
        <Text size="sm" fw={500}>
          {name}
        </Text>
        <CopyText text={id} label={`the id of ${name}`} />
      </Stack>
    ),
  },
  { name: 'Tier', cell: ({ tier }) => <Badge variant="light">{tier}</Badge> },
  ...(isBilled ? [CREDIT_LIMIT] : []),
  { name: 'Since', cell: ({ created_at: at }) => <When at={at} /> },
  { name: 'Actions', cell: (org) => <OrgActions org={org} /> },
];

export default function OrgsPage(): ReactNode {
  const [url, change] = useParamsOfUrl();
  const page = pageOf(url.page);
  const orgs = useAllOrgs(url.q, page);
  const isBilled = useIsBilled();
  return (
    <>
      <PageHead
        title="Organizations"
        about={`All of this gateway: their tier${isBilled ? ', credit limit, credit' : ''} and discounts.`}
      />
      <Group mb="md">
        <SearchField label="Search organizations" text={url.q} onSearch={(q) => change({ q })} width={260} />
      </Group>
      {orgs.isPending && <Loading height={44} rows={6} />}
      {orgs.isError && <ProblemCard failure={orgs.error} retry={() => void orgs.refetch()} />}
      {orgs.data?.total === 0 && <Empty>No organization is called that.</Empty>}
      {orgs.data !== undefined && orgs.data.total > 0 && (
        <>
          <DataTable
            label="Organizations"
            columns={columnsOf(isBilled)}
            rows={orgs.data.data}
            rowKey={({ id }) => id}
            minWidth={900}
          />
          <Pager
            page={page}
            rows={ROWS_A_PAGE}
            total={orgs.data.total}
            onChange={(next) => change({ page: next === 1 ? null : String(next) })}
          />
        </>
      )}
    </>
  );
}
