import { Anchor, Button, Group, Select, SimpleGrid, Stack, Text } from '@mantine/core';
import { IconDownload, IconPrinter } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { count } from '../format/time.js';
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
import { statementCsv, teamName } from './statement-csv.js';

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
        about={`${monthName(month)}, days of UTC. Usage belongs to the month in which its request came in.`}
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
      <Button variant="default" leftSection={<IconPrinter size={16} />} onClick={() => print()}>
        Print or save as PDF
      </Button>
    </>
  );
}

function Shown({ statement }: { statement: Statement }): ReactNode {
  const { is_over: isOver, opening_usd, credits_usd, usage_usd, closing_usd, credits } = statement;
  return (
    <Stack gap="lg">
      <SimpleGrid cols={{ base: 2, md: 4 }}>
        <Amount name="Opening balance" usd={opening_usd} />
        <Amount name="Paid in and credited" usd={credits_usd} />
        <Amount name="Usage" usd={usage_usd} />
        <Amount name={isOver ? 'Closing balance' : 'Balance so far'} usd={closing_usd} />
      </SimpleGrid>
      {credits.length > 0 && (
        <DataTable
          label="Credits of the month"
          columns={CREDITS}
          rows={credits}
          rowKey={({ kind }) => kind}
          minWidth={480}
        />
      )}
      <UsageRows statement={statement} />
      <Days statement={statement} />
    </Stack>
  );
}

const CREDITS: readonly Column<Statement['credits'][number]>[] = [
  { name: 'Credit', cell: ({ kind }) => kindInWords(kind) },
  { name: 'Times', isFigure: true, cell: ({ entries }) => count(entries) },
  { name: 'Amount', isFigure: true, cell: ({ amount_usd: usd }) => <Money usd={usd} decimals={6} /> },
];

function UsageRows({ statement: { month, usage } }: { statement: Statement }): ReactNode {
  const { slug } = useOrg();
  if (usage.length === 0)
    return (
      <Panel title="Usage by team and model">
        <Text size="sm" c="dimmed">
          No request in this month.
        </Text>
      </Panel>
    );
  const span = { from: `${month}-01`, to: lastDay(month), zone: 'UTC' };
  const columns: Column<Statement['usage'][number]>[] = [
    {
      name: 'Team',
      cell: (row) =>
        row.team_id === null ? (
          teamName(row)
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
    { name: 'Model', cell: ({ model }) => model ?? 'Others' },
    { name: 'Requests', isFigure: true, cell: ({ requests }) => count(requests) },
    { name: 'Amount', isFigure: true, cell: ({ amount_usd: usd }) => <Money usd={usd} decimals={6} /> },
  ];
  return (
    <DataTable
      label="Usage by team and model"
      columns={columns}
      rows={usage}
      rowKey={({ team_id: team, model }) => `${team} ${model}`}
      minWidth={560}
    />
  );
}

/** Days of the month; each leads to the keys that it was spent by. */
function Days({ statement: { days } }: { statement: Statement }): ReactNode {
  const { slug, id } = useOrg();
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
    { name: 'Usage', isFigure: true, cell: ({ usage_usd: usd }) => <Money usd={usd} decimals={6} /> },
    { name: 'Credited', isFigure: true, cell: ({ credits_usd: usd }) => <Money usd={usd} decimals={6} /> },
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

function Amount({ name, usd }: { name: string; usd: string }): ReactNode {
  return (
    <Panel>
      <Text size="sm" c="dimmed">
        {name}
      </Text>
      <Group>
        <Text fz="xl" fw={650} component="div">
          <Money usd={usd} />
        </Text>
      </Group>
    </Panel>
  );
}
