import { Anchor, Button, Select, Stack, Text } from '@mantine/core';
import { IconDownload, IconPrinter } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { absoluteTime, count } from '../format/time.js';
import { Money } from '../shell/money.js';
import { useOrg } from '../shell/org.queries.js';
import { PageHead } from '../shell/page-head.js';
import { Panel } from '../shell/panel.js';
import { ProblemCard } from '../shell/problem-card.js';
import { useScopes } from '../shell/scope.js';
import { stringifySearch, useParamsOfUrl } from '../shell/search-params.js';
import { Loading } from '../shell/states.js';
import { DataTable, type Column } from '../table/data-table.js';
import { download } from '../table/download.js';
import { useStatement, type Statement } from './billing.queries.js';
import { kindInWords } from './money-words.js';
import { lastDay, monthChoices, monthName, monthOf } from './months.js';
import { printAs } from './print-as.js';
import { statementCsv, teamName } from './statement-csv.js';
import { balanceLines, decimalsOf, type BalanceLine } from './statement-lines.js';

export default function StatementPage(): ReactNode {
  const { id } = useOrg();
  const [url, change] = useParamsOfUrl();
  const [openedAt] = useState(() => Date.now());
  const choices = monthChoices(openedAt);
  const month = choices.find(({ value }) => value === url.month)?.value ?? monthOf(openedAt);
  const statement = useStatement(id, month);
  return (
    <>
      <PageHead
        title="Statement"
        scope={useScopes().money}
        about={`${monthName(month)}, days of UTC${asOf(statement.data)}. Usage belongs to the month in which its request came in.`}
      >
        <Select
          aria-label="Month"
          data={choices}
          allowDeselect={false}
          value={month}
          onChange={(picked) => change({ month: picked === monthOf(openedAt) ? null : picked })}
          w={180}
        />
        {statement.isSuccess && <Files statement={statement.data} />}
      </PageHead>
      {statement.isPending && <Loading height={44} rows={8} />}
      {statement.isError && <ProblemCard failure={statement.error} retry={() => void statement.refetch()} />}
      {statement.isSuccess && <Shown statement={statement.data} />}
    </>
  );
}

function asOf(statement: Statement | undefined): string {
  return statement === undefined ? '' : `, as of ${absoluteTime(statement.as_of, 'UTC')}`;
}

function Files({ statement }: { statement: Statement }): ReactNode {
  return (
    <>
      <Button
        variant="default"
        leftSection={<IconDownload size={16} />}
        onClick={() => download(`statement-${statement.month}.csv`, statementCsv(statement))}
      >
        Download CSV
      </Button>
      <Button
        variant="default"
        leftSection={<IconPrinter size={16} />}
        onClick={() => printAs(`statement-${statement.month}`)}
      >
        Print or save as PDF
      </Button>
    </>
  );
}

function Shown({ statement }: { statement: Statement }): ReactNode {
  return (
    <Stack gap="lg">
      <DataTable
        label="Balance of the month"
        columns={[
          { name: 'Balance', cell: ({ name }: BalanceLine) => name },
          amountColumn<BalanceLine>(statement, ({ usd }) => usd),
        ]}
        rows={balanceLines(statement)}
        rowKey={({ name }) => name}
        minWidth={320}
      />
      <Credits statement={statement} />
      <UsageRows statement={statement} />
      <Days statement={statement} />
    </Stack>
  );
}

/** Column of amounts as exact as the statement is, so that its rows add up on paper too. */
function amountColumn<Row>(statement: Statement, usdOf: (row: Row) => string, name = 'Amount'): Column<Row> {
  const decimals = decimalsOf(statement);
  return { name, isFigure: true, cell: (row) => <Money usd={usdOf(row)} decimals={decimals} /> };
}

type Credit = Statement['credits'][number];

function Credits({ statement }: { statement: Statement }): ReactNode {
  const { credits, credits_usd: sum } = statement;
  if (credits.length === 0) return null;
  const times = credits.reduce((all, { entries }) => all + entries, 0);
  const total: Credit = { kind: TOTAL, entries: times, amount_usd: sum };
  return (
    <DataTable
      label="Credits of the month"
      columns={[
        { name: 'Credit', cell: ({ kind }: Credit) => kindInWords(kind) },
        { name: 'Times', isFigure: true, cell: ({ entries }: Credit) => count(entries) },
        amountColumn<Credit>(statement, ({ amount_usd: usd }) => usd),
      ]}
      rows={[...credits, total]}
      rowKey={({ kind }) => kind}
      minWidth={480}
    />
  );
}

const TOTAL = 'total';
type UsageRow = Statement['usage'][number] & { isTotal?: boolean };

function UsageRows({ statement }: { statement: Statement }): ReactNode {
  const { slug } = useOrg();
  const { month, usage, usage_usd: sum } = statement;
  if (usage.length === 0)
    return (
      <Panel title="Usage by team and model">
        <Text size="sm" c="dimmed">
          No request in this month.
        </Text>
      </Panel>
    );
  const span = { from: `${month}-01`, to: lastDay(month), zone: 'UTC' };
  const requests = usage.reduce((all, row) => all + row.requests, 0);
  const total = { team_id: null, team_name: null, model: null, requests, amount_usd: sum, isTotal: true };
  const columns: Column<UsageRow>[] = [
    {
      name: 'Team',
      cell: (row) =>
        row.isTotal || row.team_id === null ? (
          row.isTotal ? (
            'Total'
          ) : (
            teamName(row)
          )
        ) : (
          <Anchor
            component={Link}
            to={`/o/${slug}/usage${stringifySearch({ ...span, team_id: row.team_id })}`}
            size="sm"
          >
            {teamName(row)}
          </Anchor>
        ),
    },
    { name: 'Model', cell: ({ model, isTotal }) => (isTotal ? '' : (model ?? 'Others')) },
    { name: 'Requests', isFigure: true, cell: (row) => count(row.requests) },
    amountColumn<UsageRow>(statement, ({ amount_usd: usd }) => usd),
  ];
  return (
    <DataTable<UsageRow>
      label="Usage by team and model"
      columns={columns}
      rows={[...usage, total]}
      rowKey={({ team_id: team, model, isTotal }) => `${team} ${model} ${isTotal}`}
      minWidth={560}
    />
  );
}

/** Days of the month; each leads to the keys that it was spent by. */
function Days({ statement }: { statement: Statement }): ReactNode {
  const { slug, id } = useOrg();
  const { days } = statement;
  if (days.length === 0) return null;
  const columns: Column<Statement['days'][number]>[] = [
    {
      name: 'Day',
      cell: ({ day, requests }) =>
        requests === 0 || id === null ? (
          day
        ) : (
          <Anchor
            component={Link}
            to={`/o/${slug}/usage${stringifySearch({ from: day, to: day, zone: 'UTC', by: 'key' })}`}
            size="sm"
          >
            {day}
          </Anchor>
        ),
    },
    { name: 'Requests', isFigure: true, cell: ({ requests }) => count(requests) },
    amountColumn<Statement['days'][number]>(statement, ({ usage_usd: usd }) => usd, 'Usage'),
    amountColumn<Statement['days'][number]>(statement, ({ credits_usd: usd }) => usd, 'Credited'),
  ];
  return (
    <DataTable
      label="Days of the month"
      columns={columns}
      rows={days}
      rowKey={({ day }) => day}
      minWidth={560}
    />
  );
}
