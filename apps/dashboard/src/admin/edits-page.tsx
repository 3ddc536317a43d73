import { Badge, Button, Stack, Switch, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { PageHead } from '../shell/page-head.js';
import { ProblemCard } from '../shell/problem-card.js';
import { useParamsOfUrl } from '../shell/search-params.js';
import { Empty, Loading } from '../shell/states.js';
import { When } from '../shell/when.js';
import { DataTable, pageOf, Pager, type Column } from '../table/data-table.js';
import { ROWS_OF_CATALOGUE, useEdited, useFollow, type Edit } from './catalogue.queries.js';

interface Row extends Edit {
  model: string;
}

/** Page of the fields that operators have set; each can follow the data of the release or the feed again. */
export default function EditsPage(): ReactNode {
  const [url, change] = useParamsOfUrl();
  const page = pageOf(url.page);
  const edited = useEdited(page, url.moved === 'yes');
  const rows = (edited.data?.data ?? []).flatMap(({ id, edits }): Row[] =>
    edits.map((edit) => ({ ...edit, model: id })),
  );
  return (
    <>
      <PageHead
        title="Model edits"
        about="Fields that were set here and do not follow the release or the feed. The others of the model do."
      >
        <Switch
          label="Only where the data has moved"
          checked={url.moved === 'yes'}
          onChange={({ currentTarget }) => change({ moved: currentTarget.checked ? 'yes' : null })}
        />
      </PageHead>
      {edited.isPending && <Loading height={44} rows={4} />}
      {edited.isError && <ProblemCard failure={edited.error} retry={() => void edited.refetch()} />}
      {edited.isSuccess && rows.length === 0 && <Empty>No model has an edit.</Empty>}
      {edited.isSuccess && rows.length > 0 && (
        <div>
          <DataTable
            label="Model edits"
            columns={COLUMNS}
            rows={rows}
            rowKey={({ model, field, provider, upstream_model: upstream, layer }) =>
              [model, field, provider, upstream, layer].join(' ')
            }
            minWidth={900}
          />
          <Pager
            page={page}
            rows={ROWS_OF_CATALOGUE}
            total={edited.data.total}
            onChange={(next) => change({ page: next === 1 ? null : String(next) })}
          />
        </div>
      )}
    </>
  );
}

const LAYERS: Record<Edit['layer'], string> = {
  release: 'release',
  feed: 'feed',
  discovered: 'own upstream',
  file: 'gateway.yaml',
  operator: 'operator',
};

const COLUMNS: readonly Column<Row>[] = [
  { name: 'Model', cell: ({ model }) => model },
  {
    name: 'Field',
    cell: ({ field, provider }) => (
      <Stack gap={0}>
        <Text size="sm">{field.replaceAll('_', ' ')}</Text>
        {provider !== null && (
          <Text size="xs" c="dimmed">
            at {provider}
          </Text>
        )}
      </Stack>
    ),
  },
  { name: 'Set to', cell: ({ value }) => valueOf(value) },
  {
    name: 'Below',
    cell: ({ below, is_drifted: hasMoved }) => (
      <Stack gap={2} align="flex-start">
        <Text size="sm">
          {below === null ? 'nothing' : `${valueOf(below.value)} (${LAYERS[below.layer]})`}
        </Text>
        {hasMoved && (
          <Badge variant="light" color="yellow">
            has moved
          </Badge>
        )}
      </Stack>
    ),
  },
  {
    name: 'Set',
    cell: ({ layer, edited_at: at }) => (layer === 'file' ? LAYERS.file : <When at={at} never="earlier" />),
  },
  { name: 'Actions', cell: (row) => (row.layer === 'operator' ? <Follow row={row} /> : null) },
];

/** Returns a value as one line: a price by its rates. */
function valueOf(value: unknown): string {
  if (value === null || value === undefined) return 'none';
  if (Array.isArray(value)) return value.map(valueOf).join(', ');
  if (typeof value === 'string') return value;
  if (typeof value !== 'object') return JSON.stringify(value);
  return Object.entries(value)
    .filter(([, one]) => one !== null)
    .map(([name, one]) => `${name.replaceAll('_', ' ')} ${valueOf(one)}`)
    .join(', ');
}

function Follow({ row }: { row: Row }): ReactNode {
  const follow = useFollow(row.model);
  return (
    <Stack gap="xs" align="flex-start">
      <Button
        size="compact-sm"
        variant="default"
        aria-label={`Follow again: ${row.field.replaceAll('_', ' ')} of ${row.model}`}
        loading={follow.isPending}
        onClick={() => follow.mutate(row)}
      >
        Follow again
      </Button>
      {follow.error !== null && <ProblemCard failure={follow.error} />}
    </Stack>
  );
}
