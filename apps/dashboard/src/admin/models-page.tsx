import { Badge, Button, Group, Modal, Select, Stack, Text } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { PageHead } from '../shell/page-head.js';
import { ProblemCard } from '../shell/problem-card.js';
import { SearchField } from '../shell/search-field.js';
import { useParamsOfUrl } from '../shell/search-params.js';
import { Empty, Loading } from '../shell/states.js';
import { DataTable, pageOf, Pager, type Column } from '../table/data-table.js';
import { ROWS_OF_CATALOGUE } from './catalogue.queries.js';
import { PriceForm } from './models-price-form.js';
import { useAdminModels, type AdminModel, type AdminRoute } from './models.queries.js';

const STATUSES: Record<AdminModel['availability']['status'], string> = {
  ready: 'Ready',
  needs_credential: 'Needs a credential',
  retired: 'Retired',
  disabled: 'Disabled',
};
const CHOICES = Object.entries(STATUSES).map(([value, label]) => ({ value, label }));

/** Page of every model of the catalogue: whether it can be called, and where each of its prices comes from. */
export default function ModelsPage(): ReactNode {
  const [url, change] = useParamsOfUrl();
  const page = pageOf(url.page);
  const models = useAdminModels({ q: url.q, availability: url.status }, page);
  return (
    <>
      <PageHead
        title="All models"
        about="Every model of the catalogue with its routes. A price that is set here holds until it follows the data again."
      />
      <Group mb="md">
        <SearchField label="Search models" text={url.q} onSearch={(q) => change({ q, page: null })} />
        <Select
          aria-label="Can be called"
          placeholder="Any status"
          clearable
          data={CHOICES}
          value={url.status ?? null}
          onChange={(status) => change({ status, page: null })}
        />
      </Group>
      {models.isPending && <Loading height={44} rows={6} />}
      {models.isError && <ProblemCard failure={models.error} retry={() => void models.refetch()} />}
      {models.data?.total === 0 && <Empty>No model is like that.</Empty>}
      {models.data !== undefined && models.data.total > 0 && (
        <>
          <DataTable
            label="All models"
            columns={COLUMNS}
            rows={models.data.data}
            rowKey={({ id }) => id}
            minWidth={900}
          />
          <Pager
            page={page}
            rows={ROWS_OF_CATALOGUE}
            total={models.data.total}
            onChange={(next) => change({ page: next === 1 ? null : String(next) })}
          />
        </>
      )}
    </>
  );
}

const COLUMNS: readonly Column<AdminModel>[] = [
  { name: 'Model', cell: ({ id }) => id },
  {
    name: 'Can be called',
    cell: ({ availability, is_drifted: hasMoved }) => (
      <Stack gap={2} align="flex-start">
        <Text size="sm">{statusOf(availability)}</Text>
        {hasMoved && (
          <Badge variant="light" color="yellow">
            has moved
          </Badge>
        )}
      </Stack>
    ),
  },
  {
    name: 'Prices',
    cell: ({ id, routes }) => (
      <Stack gap="xs">
        {routes.map((route) => (
          <RoutePrice key={`${route.provider} ${route.upstream_model}`} model={id} route={route} />
        ))}
      </Stack>
    ),
  },
];

function statusOf({ status, providers }: AdminModel['availability']): string {
  if (status !== 'needs_credential') return STATUSES[status];
  return `Needs a credential of ${providers.join(' or ')}`;
}

function RoutePrice({ model, route }: { model: string; route: AdminRoute }): ReactNode {
  const [isOpen, open] = useState(false);
  const { provider, price, price_layer: layer } = route;
  const rates = [price.prompt_usd_per_1m, price.completion_usd_per_1m].filter((rate) => rate != null);
  return (
    <Group gap="xs" wrap="nowrap">
      <Text size="sm">
        {provider}
        {rates.length > 0 && `: ${rates.map((rate) => `$${rate}`).join(' / ')}`} ({LAYERS[layer]})
      </Text>
      <Button
        size="compact-xs"
        variant="default"
        aria-label={`Set the price of ${model} at ${provider}`}
        onClick={() => open(true)}
      >
        Set
      </Button>
      <Modal opened={isOpen} onClose={() => open(false)} title={`Price of ${model} at ${provider}`}>
        <PriceForm model={model} route={route} onClose={() => open(false)} />
      </Modal>
    </Group>
  );
}

const LAYERS: Record<AdminRoute['price_layer'], string> = {
  release: 'release',
  feed: 'feed',
  discovered: 'own upstream',
  file: 'gateway.yaml',
  operator: 'operator',
};
