import { Alert, Code, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { count } from '../format/time.js';
import { PageHead } from '../shell/page-head.js';
import { Panel } from '../shell/panel.js';
import { ProblemCard } from '../shell/problem-card.js';
import { Loading } from '../shell/states.js';
import { When } from '../shell/when.js';
import { DataTable, type Column } from '../table/data-table.js';
import { useBooks, type Books } from './admin.queries.js';

type Difference = Books['differences'][number];

const COLUMNS: readonly Column<Difference>[] = [
  { name: 'What', cell: ({ kind }) => <Code>{kind}</Code> },
  { name: 'Meaning', cell: ({ meaning }) => meaning },
  { name: 'Account', cell: ({ account_id: id }) => id ?? '–' },
  { name: 'Of', cell: ({ scope }) => scope ?? 'the account as a whole' },
  { name: 'Expected', isFigure: true, cell: ({ expected }) => expected },
  { name: 'Found', isFigure: true, cell: ({ found }) => found },
];

export default function BooksPage(): ReactNode {
  const books = useBooks();
  return (
    <>
      <PageHead
        title="Ledger check"
        about="Accounts, sums and events are proved against the ledger, one account after another, all the time."
      />
      {books.isPending && <Loading height={120} />}
      {books.isError && <ProblemCard failure={books.error} retry={() => void books.refetch()} />}
      {books.isSuccess && <Proof books={books.data} />}
    </>
  );
}

function Proof({ books }: { books: Books }): ReactNode {
  const { is_proved: isProved, round_ended_at: endedAt, accounts_proved: proved, differences } = books;
  const title = isProved
    ? 'The books are proved'
    : differences.length > 0
      ? `${count(differences.length)} differences`
      : 'The first round has not ended yet';
  return (
    <Stack>
      <Alert
        color={isProved ? 'green' : differences.length > 0 ? 'red' : 'yellow'}
        title={title}
        role="status"
      >
        Last round over all accounts: <When at={endedAt} />. Accounts proved in the round under way:{' '}
        {count(proved)}.
      </Alert>
      {differences.length > 0 && (
        <Panel title="Differences">
          <DataTable
            label="Differences"
            columns={COLUMNS}
            rows={differences}
            rowKey={({ kind, account_id: id, scope, found }) => [kind, id, scope, found].join()}
            minWidth={900}
          />
        </Panel>
      )}
    </Stack>
  );
}
