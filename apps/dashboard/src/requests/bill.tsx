import { SimpleGrid } from '@mantine/core';
import type { ReactNode } from 'react';
import { codeWords, spaced } from '../format/code-words.js';
import { METRIC_WORDS, scopeWord } from '../format/limit-words.js';
import { exactUsd, formatUsd } from '../format/money.js';
import { count } from '../format/time.js';
import { Panel } from '../shell/panel.js';
import { DataTable, type Column } from '../table/data-table.js';
import type { Lookup } from './requests.queries.js';

type PriceLine = NonNullable<Lookup['price_lines']>[number];
type LimitSeen = NonNullable<Lookup['limits_seen']>[number];

/** Classes of tokens, as people say them. */
const LINES: Readonly<Record<string, string>> = {
  fresh: 'Input',
  cached: 'Input from the cache',
  cache_write: 'Input written to the cache',
  cache_write_1h: 'Input written to the cache for an hour',
  completion: 'Output',
};

const PRICE_COLUMNS: readonly Column<PriceLine>[] = [
  { name: 'Line', cell: ({ line }) => LINES[line] ?? codeWords(line) },
  { name: 'Quantity', isFigure: true, cell: ({ quantity }) => quantity },
  {
    name: 'Rate',
    isFigure: true,
    cell: ({ rate_usd: usd, unit }) => `${exactUsd(usd)} / ${spaced(unit)}`,
  },
  { name: 'Amount', isFigure: true, cell: ({ amount_usd: usd }) => exactUsd(usd) },
];
const LIMIT_COLUMNS: readonly Column<LimitSeen>[] = [
  { name: 'Scope', cell: ({ scope }) => scopeWord(scope) },
  { name: 'Limit', cell: ({ metric }) => METRIC_WORDS[metric] },
  { name: 'Counted', isFigure: true, cell: ({ current }) => count(current) },
  {
    name: 'Of',
    isFigure: true,
    cell: ({ limit }) => (typeof limit === 'string' ? formatUsd(limit) : count(limit)),
  },
];

/** Panel of the cost's parts and the limits that admission counted. */
export function Bill({ request }: { request: Lookup }): ReactNode {
  const { price_lines: lines } = request;
  const limits = request.limits_seen?.filter(({ limit }) => limit !== null);
  return (
    <SimpleGrid type="container" cols={{ base: 1, '900px': 2 }} style={{ alignItems: 'start' }}>
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
      {limits !== undefined && limits.length > 0 && (
        <Panel title="Limits that it counted against">
          <DataTable
            label="Limits seen"
            columns={LIMIT_COLUMNS}
            rows={limits}
            rowKey={({ scope, metric, counter }) => `${scope} ${metric} ${counter}`}
            minWidth={360}
          />
        </Panel>
      )}
    </SimpleGrid>
  );
}
