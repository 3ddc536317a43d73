import { ActionIcon, ColorSwatch, Group } from '@mantine/core';
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { MarkLink } from '../chart/mark-link.js';
import { usdRatio } from '../format/money.js';
import { count, milliseconds } from '../format/time.js';
import { Money } from '../shell/money.js';
import { DataTable, type Column } from '../table/data-table.js';
import { coloursOfGroups, nameOf } from './bars-of.js';
import { filterOf } from '../shell/usage-filter.js';
import { isOne, markOf, type Shown } from './marks.js';
import { spendBefore } from './totals-csv.js';
import type { Series, SeriesValues, Split } from './usage.queries.js';

interface Row {
  key: string;
  /** null = all groups. */
  id: string | null;
  /** Group whose part this is; null for a group itself. */
  within: string | null;
  name: string;
  colour: string | null;
  values: SeriesValues;
  /** Its spend of the period before; null where that is not known. */
  beforeUsd: string | null;
}

interface TotalsProps {
  shown: Shown;
  series: Series;
  /** The period before, to compare with. */
  before?: Series | undefined;
  /** Split of the groups by another; null without one. */
  split: SplitTotals | null;
}

/** Second group of the table, and the groups that are open. */
export interface SplitTotals {
  by: string;
  open: readonly Split[];
  toggle: (group: string) => void;
}

/** The sums of the groups; each leads to what it is the sum of. */
export default function Totals({ shown, series, before, split }: TotalsProps): ReactNode {
  const colours = coloursOfGroups(series);
  const groups = series.groups.flatMap((group): Row[] => [
    {
      key: group.id,
      id: group.id,
      within: null,
      name: nameOf(group),
      colour: colours.get(group.id) ?? null,
      values: series.totals[group.id],
      beforeUsd: spendBefore(before, group.id),
    },
    ...partsOf(group.id, split),
  ]);
  const total = { name: 'Total', values: series.total, beforeUsd: before?.total.cost_usd ?? null };
  const rows: Row[] = [...groups, { key: 'total', id: null, within: null, colour: null, ...total }];
  const columns: Column<Row>[] = [
    {
      name: 'Group',
      cell: (row) => <GroupName row={row} shown={shown} split={split} />,
    },
    { name: 'Spend', isFigure: true, cell: ({ values }) => <Money usd={values.cost_usd} /> },
    { name: 'Share', isFigure: true, cell: ({ values }) => shareOf(values, series.total) },
    ...(before === undefined ? [] : COMPARED),
    { name: 'Requests', isFigure: true, cell: ({ values }) => count(values.requests) },
    { name: 'Errors', isFigure: true, cell: ({ values }) => count(values.errors) },
    { name: 'Input tokens', isFigure: true, cell: ({ values }) => count(values.prompt_tokens) },
    { name: 'Output tokens', isFigure: true, cell: ({ values }) => count(values.completion_tokens) },
    { name: 'Latency p50', isFigure: true, cell: ({ values }) => milliseconds(values.latency_p50_ms) },
    { name: 'First token p50', isFigure: true, cell: ({ values }) => milliseconds(values.ttft_p50_ms) },
  ];
  return (
    <DataTable
      label="Sums of the range"
      columns={columns}
      rows={rows}
      rowKey={({ key }) => key}
      minWidth={960}
      hasFile={split !== null}
    />
  );
}

/** Returns the parts of a group that is open, as far as they are read. */
function partsOf(group: string, split: SplitTotals | null): Row[] {
  const series = split?.open.find((one) => one.group === group)?.read.data;
  if (series === undefined) return [];
  return series.groups.map((part) => ({
    key: `${group} ${part.id}`,
    ...{ id: part.id, within: group, name: nameOf(part), colour: null, beforeUsd: null },
    values: series.totals[part.id],
  }));
}

interface GroupNameProps {
  row: Row;
  shown: Shown;
  split: SplitTotals | null;
}

function GroupName({ row, shown, split }: GroupNameProps): ReactNode {
  const { id, within, name, colour } = row;
  const part = within === null || split === null ? shown : partShown(shown, within, split.by);
  return (
    <Group gap="xs" wrap="nowrap" pl={within === null ? 0 : 40}>
      {split !== null && within === null && isOne(id) && <Opener group={id} name={name} split={split} />}
      {colour !== null && <ColorSwatch size={12} color={colour} withShadow={false} />}
      <MarkLink mark={markOf(part, id, null)} isBold={id === null}>
        {name}
      </MarkLink>
    </Group>
  );
}

/** Returns the page of one group, in the groups of the other. */
function partShown(shown: Shown, within: string, by: string): Shown {
  return { ...shown, url: { ...shown.url, ...filterOf(shown.groupBy, within), by }, groupBy: by };
}

function Opener({ group, name, split }: { group: string; name: string; split: SplitTotals }): ReactNode {
  const open = split.open.find((one) => one.group === group);
  const Icon = open === undefined ? IconChevronRight : IconChevronDown;
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      size="sm"
      aria-label={`${name} by ${split.by}`}
      aria-expanded={open !== undefined}
      loading={open?.read.isFetching ?? false}
      onClick={() => split.toggle(group)}
    >
      <Icon size={14} />
    </ActionIcon>
  );
}

/** Columns of a comparison. */
const COMPARED: Column<Row>[] = [
  {
    name: 'Before',
    isFigure: true,
    cell: ({ beforeUsd }) => (beforeUsd === null ? '–' : <Money usd={beforeUsd} />),
  },
  { name: 'Change', isFigure: true, cell: ({ values, beforeUsd }) => changeOf(values.cost_usd, beforeUsd) },
];

const change = new Intl.NumberFormat('en-US', {
  style: 'percent',
  maximumFractionDigits: 1,
  signDisplay: 'exceptZero',
});

function changeOf(usd: string, beforeUsd: string | null): string {
  if (beforeUsd === null) return '–';
  const ratio = usdRatio(usd, beforeUsd);
  if (ratio !== null) return change.format(ratio - 1);
  return Number.parseFloat(usd) === 0 ? '–' : 'new';
}

const percent = new Intl.NumberFormat('en-US', { style: 'percent', maximumFractionDigits: 1 });

/** Returns the part of the spend of all; a dash where nothing was spent. */
function shareOf({ cost_usd: usd }: SeriesValues, { cost_usd: all }: SeriesValues): string {
  const share = usdRatio(usd, all);
  return share === null ? '–' : percent.format(share);
}
