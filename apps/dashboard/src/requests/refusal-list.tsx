import { Anchor, Button, Group, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { codeWords } from '../format/code-words.js';
import { absoluteTime, count } from '../format/time.js';
import { useOrg } from '../shell/org.queries.js';
import { ProblemCard } from '../shell/problem-card.js';
import { refusalsOf } from '../shell/refusals-of.js';
import { Empty, Loading } from '../shell/states.js';
import { When } from '../shell/when.js';
import { DataTable, type Column } from '../table/data-table.js';
import { OpenLink } from './open-link.js';
import { isHeld, limitWords, opensWith } from './refusal-words.js';
import { useKeyLabels, useRejections, type Rejection, type RequestFilter } from './requests.queries.js';
import { resetOf } from './reset-of.js';

/** Long names wrap, and short ones do not. */
const WRAPPED = { overflowWrap: 'break-word' } as const;
const NO_WRAP = { whiteSpace: 'nowrap' } as const;

type Reason = ReturnType<typeof refusalsOf>[number];

/** Refusals by key and reason: a caller that hammers is one row. */
export function RefusalList({ filter }: { filter: RequestFilter }): ReactNode {
  const org = useOrg();
  const refusals = useRejections(org.id, filter);
  const rows = refusalsOf(refusals.data?.pages.flatMap((page) => page.rejections) ?? []);
  const labels = useKeyLabels([...new Set(rows.map(({ newest }) => newest.key_id))]);
  if (refusals.isPending) return <Loading height={40} rows={8} />;
  if (refusals.isError) return <ProblemCard failure={refusals.error} retry={() => void refusals.refetch()} />;
  if (rows.length === 0) return <Empty>No request was refused in this range and filter.</Empty>;
  return (
    <>
      <DataTable
        label="Refused requests"
        columns={columnsOf(org.slug, labels)}
        rows={rows}
        rowKey={({ newest }) => `${newest.request_id} ${newest.created_at}`}
        minWidth={860}
      />
      {refusals.hasNextPage && (
        <Group justify="center" mt="md">
          <Button
            variant="default"
            loading={refusals.isFetchingNextPage}
            onClick={() => void refusals.fetchNextPage()}
          >
            Show older refusals
          </Button>
        </Group>
      )}
    </>
  );
}

function columnsOf(slug: string, labels: ReadonlyMap<string, string>): Column<Reason>[] {
  return [
    {
      name: 'Why',
      width: 300,
      cell: ({ newest }) => (
        <>
          <OpenLink id={newest.request_id}>{whyOf(newest)}</OpenLink>
          <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
            {newest.message}
          </Text>
        </>
      ),
    },
    { name: 'Times', isFigure: true, cell: ({ times }) => count(times) },
    {
      name: 'Key',
      cell: ({ newest: { key_id: id } }) => (
        <Anchor component={Link} to={`/o/${slug}/keys/${id}`} size="sm" style={WRAPPED}>
          {labels.get(id) ?? id}
        </Anchor>
      ),
    },
    {
      name: 'Model',
      cell: ({ newest: { model } }) => <span style={WRAPPED}>{model ?? '–'}</span>,
    },
    { name: 'Open again', cell: ({ newest }) => <OpenAgain refusal={newest} /> },
    { name: 'Last time', cell: ({ newest }) => <When at={newest.created_at} /> },
  ];
}

/** Returns the limit that refused, else the reason, as people say it. */
function whyOf(refusal: Rejection): string {
  return codeWords(limitWords(refusal) ?? refusal.code);
}

/** Returns `opensWith` as short as a column. */
function openedShortly(refusal: Rejection): string {
  if (isHeld(refusal)) return 'when others end';
  return refusal.limit_type === 'balance' ? 'with credit' : 'when raised';
}

/** Rates are counted by minutes and by days of UTC; money that was held comes back, other money is to be added. */
function OpenAgain({ refusal }: { refusal: Rejection }): ReactNode {
  const { limit_type: type, created_at: at } = refusal;
  if (type === null) return '–';
  const reset = resetOf(type, at);
  if (reset === null)
    return (
      <span title={opensWith(refusal)} style={NO_WRAP}>
        {openedShortly(refusal)}
      </span>
    );
  return (
    <Text size="sm" span title={absoluteTime(reset, 'UTC')} style={NO_WRAP}>
      {type === 'rpd' ? 'next day, UTC' : 'next minute'}
    </Text>
  );
}
