import { ColorSwatch, Group } from '@mantine/core';
import type { ReactNode } from 'react';
import { MarkLink } from '../chart/mark-link.js';
import { usdRatio } from '../format/money.js';
import { count, milliseconds } from '../format/time.js';
import { Money } from '../shell/money.js';
import { DataTable, type Column } from '../table/data-table.js';
import { colourOf, nameOf } from './bars-of.js';
import { markOf, type Shown } from './marks.js';
import type { Series, SeriesValues } from './usage.queries.js';

interface Row {
  /** null = all groups. */
  id: string | null;
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
}

/** The sums of the groups; each leads to what it is the sum of. */
export function Totals({ shown, series, before }: TotalsProps): ReactNode {
  const groups: Row[] = series.groups.map((group, index) => ({
    id: group.id,
    name: nameOf(group),
    colour: colourOf(group.id, index),
    values: series.totals[group.id],
    beforeUsd: before === undefined ? null : spendOf(before, group.id),
  }));
  const total = { name: 'Total', values: series.total, beforeUsd: before?.total.cost_usd ?? null };
  const rows: Row[] = [...groups, { id: null, colour: null, ...total }];
  const columns: Column<Row>[] = [
    {
      name: 'Group',
      cell: ({ id, name, colour }) => (
        <Group gap="xs" wrap="nowrap">
          {colour !== null && <ColorSwatch size={12} color={colour} withShadow={false} />}
          <MarkLink mark={markOf(shown, id, null)} isBold={id === null}>
            {name}
          </MarkLink>
        </Group>
      ),
    },
    { name: 'Spend', isFigure: true, cell: ({ values }) => <Money usd={values.cost_usd} decimals={6} /> },
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
      rowKey={({ id }) => id ?? 'total'}
      minWidth={960}
      hasFile={false}
    />
  );
}

/** Columns of a comparison. */
const COMPARED: Column<Row>[] = [
  {
    name: 'Before',
    isFigure: true,
    cell: ({ beforeUsd }) => (beforeUsd === null ? '–' : <Money usd={beforeUsd} decimals={6} />),
  },
  { name: 'Change', isFigure: true, cell: ({ values, beforeUsd }) => changeOf(values.cost_usd, beforeUsd) },
];

/**
 * Returns the spend of a group in another answer. Null for `other`, whose groups differ, and for a group that may be
 * among the others there.
 */
function spendOf({ totals, groups }: Series, group: string): string | null {
  if (group === 'other') return null;
  if (Object.hasOwn(totals, group)) return totals[group].cost_usd;
  return groups.some(({ id }) => id === 'other') ? null : '0';
}

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
