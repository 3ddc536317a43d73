import { Anchor, Button, Group, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { codeWords } from '../format/code-words.js';
import { absoluteTime, count } from '../format/time.js';
import { useOrg } from '../shell/org.queries.js';
import { ProblemCard } from '../shell/problem-card.js';
import { rejectionsOf } from '../shell/rejections-of.js';
import { Empty, Loading } from '../shell/states.js';
import { When } from '../shell/when.js';
import { DataTable, type Column } from '../table/data-table.js';
import { OpenLink } from './open-link.js';
import { isHeld, limitWords, opensWith } from './rejection-words.js';
import { useKeyLabels, useRejections, type Rejection, type RequestFilter } from './requests.queries.js';
import { resetOf } from './reset-of.js';

/** Long names wrap, and short ones do not. */
const WRAPPED = { overflowWrap: 'break-word' } as const;
const NO_WRAP = { whiteSpace: 'nowrap' } as const;

type Reason = ReturnType<typeof rejectionsOf>[number];

/** Rejections by key and reason: a caller that hammers is one row. */
export function RejectionList({ filter }: { filter: RequestFilter }): ReactNode {
  const org = useOrg();
  const rejections = useRejections(org.id, filter);
  const rows = rejectionsOf(rejections.data?.pages.flatMap((page) => page.rejections) ?? []);
  const labels = useKeyLabels([...new Set(rows.map(({ newest }) => newest.key_id))]);
  if (rejections.isPending) return <Loading height={40} rows={8} />;
  if (rejections.isError)
    return <ProblemCard failure={rejections.error} retry={() => void rejections.refetch()} />;
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
      {rejections.hasNextPage && (
        <Group justify="center" mt="md">
          <Button
            variant="default"
            loading={rejections.isFetchingNextPage}
            onClick={() => void rejections.fetchNextPage()}
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
    { name: 'Open again', cell: ({ newest }) => <OpenAgain rejection={newest} /> },
    { name: 'Last time', cell: ({ newest }) => <When at={newest.created_at} /> },
  ];
}

/** Returns the limit that rejected the request, else the reason, as people say it. */
function whyOf(rejection: Rejection): string {
  return codeWords(limitWords(rejection) ?? rejection.code);
}

/** Returns `opensWith` as short as a column. */
function openedShortly(rejection: Rejection): string {
  if (isHeld(rejection)) return 'when others end';
  return rejection.limit_type === 'balance' ? 'with credit' : 'when raised';
}

/** Rates are counted by minutes and by days of UTC; money that was held comes back, other money is to be added. */
function OpenAgain({ rejection }: { rejection: Rejection }): ReactNode {
  const { limit_type: type, created_at: at } = rejection;
  if (type === null) return '–';
  const reset = resetOf(type, at);
  if (reset === null)
    return (
      <span title={opensWith(rejection)} style={NO_WRAP}>
        {openedShortly(rejection)}
      </span>
    );
  return (
    <Text size="sm" span title={absoluteTime(reset, 'UTC')} style={NO_WRAP}>
      {type === 'rpd' ? 'next day, UTC' : 'next minute'}
    </Text>
  );
}
