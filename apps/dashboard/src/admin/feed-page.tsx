import { Button, Checkbox, Group, Stack, Text } from '@mantine/core';
import { IconRefresh } from '@tabler/icons-react';
import { useState, type ReactNode } from 'react';
import { count } from '../format/time.js';
import { Line } from '../shell/line.js';
import { PageHead } from '../shell/page-head.js';
import { Panel } from '../shell/panel.js';
import { ProblemCard } from '../shell/problem-card.js';
import { useParamsOfUrl } from '../shell/search-params.js';
import { Empty, Loading } from '../shell/states.js';
import { When } from '../shell/when.js';
import { DataTable, pageOf, Pager, type Column } from '../table/data-table.js';
import {
  ROWS_OF_CATALOGUE,
  useFeed,
  usePending,
  useSettle,
  useSync,
  type Feed,
  type Pending,
  type PendingChange,
  type Sync,
} from './catalogue.queries.js';

/** Page of the signed catalogue and of its changes that wait for a super admin. */
export default function FeedPage(): ReactNode {
  const [url] = useParamsOfUrl();
  const feed = useFeed();
  const pending = usePending(pageOf(url.page));
  const sync = useSync();
  return (
    <>
      <PageHead
        title="Feed"
        about="Models and prices that are read from a signed document. Edits stand above it."
      >
        <Button
          leftSection={<IconRefresh size={16} />}
          disabled={feed.data === undefined || feed.data.url === null}
          loading={sync.isPending}
          onClick={() => sync.mutate()}
        >
          Read now
        </Button>
      </PageHead>
      <Stack gap="lg">
        {sync.error !== null && <ProblemCard failure={sync.error} />}
        {sync.isSuccess && <Text role="status">{saidOf(sync.data)}</Text>}
        {feed.isPending && <Loading height={160} />}
        {feed.isError && <ProblemCard failure={feed.error} retry={() => void feed.refetch()} />}
        {feed.isSuccess && <State feed={feed.data} />}
        {pending.isPending && <Loading height={44} rows={4} />}
        {pending.isError && <ProblemCard failure={pending.error} retry={() => void pending.refetch()} />}
        {pending.isSuccess && <Changes key={pending.data.change_id} pending={pending.data} />}
      </Stack>
    </>
  );
}

function saidOf({ applied, pending }: Sync): string {
  if (applied.length === 0 && pending.length === 0) return 'Nothing has changed.';
  return `${count(applied.length)} models changed, ${count(pending.length)} wait for you.`;
}

function policyOf({ policy, apply_below_pct: pct }: Feed): string {
  if (policy === 'apply') return 'Changes are applied.';
  if (policy === 'ask') return 'Every change waits for a super admin.';
  return `Prices that move by less than ${pct} % are applied; the others wait for a super admin.`;
}

function State({ feed }: { feed: Feed }): ReactNode {
  const { url, version, created_at: made, read_at: read, next_read_at: next, last_error: error } = feed;
  if (url === null) return <Empty>No feed is set. The catalogue is that of the release.</Empty>;
  return (
    <Panel title="State">
      <Stack gap="xs">
        <Line name="Address">{url}</Line>
        <Line name="Policy">{policyOf(feed)}</Line>
        <Line name="Version">
          {version}, made <When at={made} never="by the release" />
        </Line>
        <Line name="Read">
          <When at={read} />
        </Line>
        <Line name="Next reading">
          <When at={next} never="by hand" />
        </Line>
        {error !== null && (
          <Line name="Last failure">
            {error.message} <When at={error.at} />
          </Line>
        )}
      </Stack>
    </Panel>
  );
}

function Changes({ pending }: { pending: Pending }): ReactNode {
  const [url, change] = useParamsOfUrl();
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const { data, total, change_id: id } = pending;
  if (total === 0 || id === null) return <Empty>No change waits for you.</Empty>;
  const choose = (model: string): void => {
    const next = new Set(chosen);
    if (!next.delete(model)) next.add(model);
    setChosen(next);
  };
  const columns: Column<PendingChange>[] = [
    {
      name: 'Choose',
      isControl: true,
      cell: ({ model }) => (
        <Checkbox aria-label={`Choose ${model}`} checked={chosen.has(model)} onChange={() => choose(model)} />
      ),
    },
    ...COLUMNS,
  ];
  return (
    <Panel title="Changes that wait">
      <Stack gap="sm">
        <Settle id={id} chosen={chosen} total={total} onDone={() => setChosen(new Set())} />
        <div>
          <DataTable label="Changes that wait" columns={columns} rows={data} rowKey={({ model }) => model} />
          <Pager
            page={pageOf(url.page)}
            rows={ROWS_OF_CATALOGUE}
            total={total}
            onChange={(next) => change({ page: next === 1 ? null : String(next) })}
          />
        </div>
      </Stack>
    </Panel>
  );
}

interface SettleProps {
  id: string;
  chosen: ReadonlySet<string>;
  total: number;
  onDone: () => void;
}

/** Buttons that settle the chosen changes; without a choice all of them. */
function Settle({ id, chosen, total, onDone }: SettleProps): ReactNode {
  const apply = useSettle('apply');
  const dismiss = useSettle('dismiss');
  const body = { change_id: id, ...(chosen.size === 0 ? {} : { models: [...chosen] }) };
  const which = chosen.size === 0 ? `all ${count(total)}` : count(chosen.size);
  return (
    <>
      <Group gap="sm">
        <Button loading={apply.isPending} onClick={() => apply.mutate(body, { onSuccess: onDone })}>
          Apply {which}
        </Button>
        <Button
          variant="default"
          loading={dismiss.isPending}
          onClick={() => dismiss.mutate(body, { onSuccess: onDone })}
        >
          Dismiss {which}
        </Button>
      </Group>
      {apply.error !== null && <ProblemCard failure={apply.error} />}
      {dismiss.error !== null && <ProblemCard failure={dismiss.error} />}
    </>
  );
}

const COLUMNS: readonly Column<PendingChange>[] = [
  { name: 'Model', cell: ({ model }) => model },
  { name: 'Change', cell: ({ kind }) => kind },
  { name: 'Fields', cell: ({ fields }) => fields.map(inWords).join(', ') || '–' },
  {
    name: 'Prices',
    cell: ({ prices }) => (
      <Stack gap={0}>
        {prices.map((price) => (
          <Text key={`${price.provider} ${price.window} ${price.field}`} size="sm">
            {price.provider}: {inWords(price.field)} {price.from ?? 'none'} → {price.to ?? 'none'}
            {price.change_pct !== null && ` (${price.change_pct > 0 ? '+' : ''}${price.change_pct} %)`}
          </Text>
        ))}
      </Stack>
    ),
  },
];

/** Returns a field's name without the signs of code. */
function inWords(field: string): string {
  return field.replaceAll('_', ' ');
}
