import { Badge, Code, SegmentedControl, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { Money } from '../shell/money.js';
import { useOrg } from '../shell/org.queries.js';
import { PageHead } from '../shell/page-head.js';
import { ProblemCard } from '../shell/problem-card.js';
import { useScopes } from '../shell/scope.js';
import { useParamsOfUrl } from '../shell/search-params.js';
import { Empty, Loading } from '../shell/states.js';
import { When } from '../shell/when.js';
import { DataTable, pageOf, Pager, type Column } from '../table/data-table.js';
import { kindInWords, whyInWords } from './money-words.js';
import { ENTRIES_A_PAGE, useLedger, usePayments, type LedgerEntry, type Payment } from './billing.queries.js';

/** A charge may be a fraction of a cent: an entry shows as many decimals as a request. */
const ENTRY_DECIMALS = 6;

export default function LedgerPage(): ReactNode {
  const [url, change] = useParamsOfUrl();
  const shown = url.show === 'payments' ? 'payments' : 'ledger';
  return (
    <>
      <PageHead
        title="Ledger"
        scope={useScopes().money}
        about="Every change of the balance, newest first, with the balance after it."
      >
        <SegmentedControl
          aria-label="Show"
          data={[
            { value: 'ledger', label: 'Ledger' },
            { value: 'payments', label: 'Payments' },
          ]}
          value={shown}
          onChange={(show) => change({ show: show === 'ledger' ? null : show })}
        />
      </PageHead>
      {shown === 'ledger' ? <Ledger /> : <Payments />}
    </>
  );
}

const ENTRY_COLUMNS: readonly Column<LedgerEntry>[] = [
  {
    name: 'What',
    cell: ({ kind }) => (
      <Badge variant="light" color={kind === 'usage' ? 'gray' : 'green'}>
        {kindInWords(kind)}
      </Badge>
    ),
  },
  { name: 'When', cell: ({ created_at: at }) => <When at={at} /> },
  {
    name: 'Why',
    cell: (entry) => (
      <Text size="sm" lineClamp={2} maw={420}>
        {whyInWords(entry)}
      </Text>
    ),
  },
  {
    name: 'Amount',
    isFigure: true,
    cell: ({ amount_usd: usd }) => <Money usd={usd} decimals={ENTRY_DECIMALS} />,
  },
  {
    name: 'Balance after',
    isFigure: true,
    cell: ({ balance_after: usd }) => <Money usd={usd} decimals={ENTRY_DECIMALS} />,
  },
];

function Ledger(): ReactNode {
  const { id } = useOrg();
  const page = pageOf(useParamsOfUrl()[0].page);
  const ledger = useLedger(id, page);
  if (ledger.isPending) return <Loading height={44} rows={6} />;
  if (ledger.isError) return <ProblemCard failure={ledger.error} retry={() => void ledger.refetch()} />;
  if (ledger.data.total === 0) return <Empty>Nothing was paid in or charged yet.</Empty>;
  return (
    <>
      <DataTable
        label="Ledger"
        columns={ENTRY_COLUMNS}
        rows={ledger.data.data}
        rowKey={({ id: entry }) => entry}
        minWidth={760}
      />
      <ToPage page={page} total={ledger.data.total} />
    </>
  );
}

const PAYMENT_COLUMNS: readonly Column<Payment>[] = [
  { name: 'Payment', cell: ({ id }) => <Code>{id}</Code> },
  { name: 'When', cell: ({ created_at: at }) => <When at={at} /> },
  { name: 'How', cell: ({ kind }) => kindInWords(kind) },
  { name: 'Amount', isFigure: true, cell: ({ amount_usd: usd }) => <Money usd={usd} /> },
  {
    name: 'State',
    cell: ({ status, reason }) => (
      <Badge variant="light" color={STATES[status]} title={reason ?? undefined}>
        {status}
      </Badge>
    ),
  },
];
const STATES = { succeeded: 'green', pending: 'yellow', failed: 'red', expired: 'gray' } as const;

function Payments(): ReactNode {
  const { id } = useOrg();
  const page = pageOf(useParamsOfUrl()[0].page);
  const payments = usePayments(id, page);
  if (payments.isPending) return <Loading height={44} rows={6} />;
  if (payments.isError) return <ProblemCard failure={payments.error} retry={() => void payments.refetch()} />;
  if (payments.data.total === 0) return <Empty>There is no payment yet.</Empty>;
  return (
    <>
      <DataTable
        label="Payments"
        columns={PAYMENT_COLUMNS}
        rows={payments.data.data}
        rowKey={({ id: payment }) => payment}
        minWidth={720}
      />
      <ToPage page={page} total={payments.data.total} />
    </>
  );
}

function ToPage({ page, total }: { page: number; total: number }): ReactNode {
  const [, change] = useParamsOfUrl();
  return (
    <Pager
      page={page}
      rows={ENTRIES_A_PAGE}
      total={total}
      onChange={(next) => change({ page: next === 1 ? null : String(next) })}
    />
  );
}
