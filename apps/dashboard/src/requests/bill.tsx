import { SimpleGrid } from '@mantine/core';
import type { ReactNode } from 'react';
import { formatUsd } from '../format/money.js';
import { count } from '../format/time.js';
import { Panel } from '../shell/panel.js';
import { DataTable, type Column } from '../table/data-table.js';
import type { Lookup } from './requests.queries.js';

type PriceLine = NonNullable<Lookup['price_lines']>[number];
type LimitSeen = NonNullable<Lookup['limits_seen']>[number];

const PRICE_COLUMNS: readonly Column<PriceLine>[] = [
  { name: 'Line', cell: ({ line }) => line },
  { name: 'Quantity', isFigure: true, cell: ({ quantity }) => quantity },
  { name: 'Rate', isFigure: true, cell: ({ rate_usd: usd, unit }) => `$${usd} / ${unit}` },
  { name: 'Amount', isFigure: true, cell: ({ amount_usd: usd }) => formatUsd(usd, 9) },
];
const LIMIT_COLUMNS: readonly Column<LimitSeen>[] = [
  { name: 'Scope', cell: ({ scope }) => scope },
  { name: 'Limit', cell: ({ metric }) => metric },
  { name: 'Counted', isFigure: true, cell: ({ current }) => count(current) },
  {
    name: 'Of',
    isFigure: true,
    cell: ({ limit }) =>
      typeof limit === 'string' ? formatUsd(limit) : limit === null ? 'unlimited' : count(limit),
  },
];

/** Panel of the cost's parts and the limits that admission counted. */
export function Bill({ request }: { request: Lookup }): ReactNode {
  const { price_lines: lines, limits_seen: limits } = request;
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }} style={{ alignItems: 'start' }}>
      {lines && lines.length > 0 && (
        <Panel title="Price" about="The lines add up to the cost">
          <DataTable
            label="Price lines"
            columns={PRICE_COLUMNS}
            rows={lines}
            rowKey={({ line }) => line}
            minWidth={420}
          />
        </Panel>
      )}
      {limits && limits.length > 0 && (
        <Panel title="Limits as admission saw them">
          <DataTable
            label="Limits seen"
            columns={LIMIT_COLUMNS}
            rows={limits}
            rowKey={({ scope, metric }) => `${scope} ${metric}`}
            minWidth={360}
          />
        </Panel>
      )}
    </SimpleGrid>
  );
}
