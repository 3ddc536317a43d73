import { Select, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useState, type ReactNode } from 'react';
import { usdRatio } from '../format/money.js';
import { Money } from '../shell/money.js';
import { Panel } from '../shell/panel.js';
import { DataTable, type Column } from '../table/data-table.js';
import { useOffersOf, useTextModelChoices } from './others-cost.queries.js';
import type { Lookup } from './requests.queries.js';
import { isBilledByToken, wouldCost } from './would-cost.js';

interface Row {
  id: string;
  name: string;
  usd: string;
  isServed: boolean;
}

const SEARCH_AFTER_MS = 300;

/** Panel of the cost of the same tokens at other providers, and as another model. Nothing where that is not known. */
export function OthersCost({ request }: { request: Lookup & { model: string } }): ReactNode {
  const [other, setOther] = useState<string | null>(null);
  const own = useOffersOf(request.model).data ?? [];
  const others = useOffersOf(other).data ?? [];
  const rows = [
    ...own.map((offer) => rowOf(request, request.model, offer)),
    ...others.map((offer) => rowOf(request, other ?? '', offer)),
  ].filter((row) => row !== null);
  if (request.byok_used || !isBilledByToken(request)) return null;
  const columns: Column<Row>[] = [
    { name: 'Provider', cell: ({ name, isServed }) => (isServed ? `${name} (served it)` : name) },
    { name: 'Cost', isFigure: true, cell: ({ usd }) => <Money usd={usd} isPrice /> },
    { name: 'Difference', isFigure: true, cell: ({ usd }) => differenceOf(usd, request.cost_usd) },
  ];
  return (
    <Panel title="What others would cost" about="The same tokens at today’s prices">
      {rows.length > 0 && (
        <DataTable
          label="Cost elsewhere"
          columns={columns}
          rows={rows}
          rowKey={({ id }) => id}
          minWidth={360}
        />
      )}
      <OtherModel model={request.model} other={other} onChange={setOther} />
      <Text size="xs" c="dimmed" mt="xs">
        Another model may count and write other tokens.
      </Text>
    </Panel>
  );
}

interface OtherModelProps {
  model: string;
  other: string | null;
  onChange: (model: string | null) => void;
}

function OtherModel({ model, other, onChange }: OtherModelProps): ReactNode {
  const [q, setQ] = useState('');
  const [searched] = useDebouncedValue(q, SEARCH_AFTER_MS);
  const found = useTextModelChoices(searched).data ?? [];
  const ids = [...new Set([...(other === null ? [] : [other]), ...found])].filter((id) => id !== model);
  return (
    <Select
      label="Compare with another model"
      mt="xs"
      searchable
      clearable
      clearButtonProps={{ 'aria-label': 'Clear the other model' }}
      data={ids}
      value={other}
      onChange={onChange}
      searchValue={q}
      onSearchChange={setQ}
      nothingFoundMessage="No text model of this name"
    />
  );
}

type Offer = NonNullable<ReturnType<typeof useOffersOf>['data']>[number];

function rowOf(request: Lookup & { model: string }, model: string, offer: Offer): Row | null {
  const usd = wouldCost(request, offer.pricing);
  if (usd === null) return null;
  const isOwn = model === request.model;
  return {
    id: `${model} ${offer.provider}`,
    name: isOwn ? offer.name : `${model} at ${offer.name}`,
    usd,
    isServed: isOwn && offer.provider === request.provider,
  };
}

const percent = new Intl.NumberFormat('en-US', {
  style: 'percent',
  maximumFractionDigits: 1,
  signDisplay: 'exceptZero',
});

function differenceOf(usd: string, billed: string | null): string {
  const ratio = billed === null ? null : usdRatio(usd, billed);
  return ratio === null ? '–' : percent.format(ratio - 1);
}
