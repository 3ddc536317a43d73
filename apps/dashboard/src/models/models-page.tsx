import { Anchor, Badge, Button, Checkbox, Group, Select, Stack, Text } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Schemas } from '../api/schemas.js';
import { count } from '../format/time.js';
import { Money } from '../shell/money.js';
import { useOrg } from '../shell/org.queries.js';
import { PageHead } from '../shell/page-head.js';
import { ProblemCard } from '../shell/problem-card.js';
import { SearchField } from '../shell/search-field.js';
import { useParamsOfUrl, type Params } from '../shell/search-params.js';
import { Empty, Loading } from '../shell/states.js';
import { DataTable, pageOf, Pager, type Column } from '../table/data-table.js';
import { COMPARED_MAX, comparedIds, toggled } from './compared.js';
import { MODELS_A_PAGE, useModels, type Model } from './models.queries.js';
import { mainRate } from './price.js';

const ABOUT = {
  ready: 'The models that you can call now, at the price that you pay.',
  all: 'Every model of the catalogue. One without a credential here needs a provider key.',
};
const STATES = [
  { value: 'ready', label: 'Ready to call' },
  { value: 'all', label: 'All models' },
];

function stateOf({ state }: Params): 'ready' | 'all' {
  return state === 'all' ? 'all' : 'ready';
}

export default function ModelsPage(): ReactNode {
  const [url, change] = useParamsOfUrl();
  const page = pageOf(url.page);
  const models = useModels({ ...url, page });
  const { slug } = useOrg();
  const navigate = useNavigate();
  const compared = comparedIds(url.compare);
  const search: Params = { ids: compared.join(',') };
  return (
    <>
      <PageHead title="Models" about={ABOUT[stateOf(url)]}>
        {compared.length > 0 && (
          <Button
            disabled={compared.length < 2}
            onClick={() => void navigate({ to: `/o/${slug}/models/compare`, search })}
          >
            Compare {compared.length}
          </Button>
        )}
      </PageHead>
      <Filters facets={models.data?.facets} />
      {models.isPending && <Loading height={44} rows={8} />}
      {models.isError && <ProblemCard failure={models.error} retry={() => void models.refetch()} />}
      {models.isSuccess && models.data.total === 0 && <NoModel />}
      {models.isSuccess && models.data.total > 0 && (
        <>
          <Models rows={models.data.data} />
          <Pager
            page={page}
            rows={MODELS_A_PAGE}
            total={models.data.total}
            onChange={(next) => change({ page: next === 1 ? null : String(next) })}
          />
        </>
      )}
    </>
  );
}

function NoModel(): ReactNode {
  const [url, change] = useParamsOfUrl();
  if (stateOf(url) === 'all') return <Empty>No model matches this filter.</Empty>;
  const showAll = { label: 'Show all models', run: () => change({ state: 'all' }) };
  return <Empty action={showAll}>No model that is ready to call matches this filter.</Empty>;
}

/** Each value says how many of the models that were found have it. */
function Filters({ facets }: { facets: Schemas['FoundModels']['facets'] | undefined }): ReactNode {
  const [url, change] = useParamsOfUrl();
  const facet = (
    param: string,
    label: string,
    values: { value: string; count: number }[] = [],
  ): ReactNode => (
    <Select
      aria-label={label}
      placeholder={label}
      clearable
      searchable
      clearButtonProps={{ 'aria-label': `Clear ${label.toLowerCase()}` }}
      data={values.map(({ value, count: found }) => ({ value, label: `${value} (${found})` }))}
      value={url[param] ?? null}
      onChange={(value) => change({ [param]: value })}
      w={{ base: '100%', xs: 180 }}
    />
  );
  return (
    <Group mb="md" gap="sm">
      <SearchField label="Search models" text={url.q} onSearch={(q) => change({ q })} width={240} />
      <Select
        aria-label="State"
        data={STATES}
        allowDeselect={false}
        value={stateOf(url)}
        onChange={(state) => change({ state: state === 'ready' ? null : state })}
        w={{ base: '100%', xs: 150 }}
      />
      {facet('brand', 'Brand', facets?.brand)}
      {facet('type', 'Kind', facets?.model_type)}
      {facet('capability', 'Capability', facets?.capability)}
    </Group>
  );
}

function Models({ rows }: { rows: readonly Model[] }): ReactNode {
  const { slug } = useOrg();
  const [url, change] = useParamsOfUrl();
  const compared = comparedIds(url.compare);
  const columns: Column<Model>[] = [
    {
      name: 'Compare',
      isControl: true,
      width: 90,
      cell: ({ id, name }) => (
        <Checkbox
          aria-label={`Compare ${name}`}
          checked={compared.includes(id)}
          disabled={compared.length === COMPARED_MAX && !compared.includes(id)}
          onChange={() => change({ compare: toggled(compared, id).join(','), page: url.page })}
        />
      ),
    },
    {
      name: 'Model',
      sort: 'name',
      cell: ({ id, name }) => (
        <Stack gap={0}>
          <Anchor component={Link} to={`/o/${slug}/models/${id}`} size="sm" fw={500}>
            {name}
          </Anchor>
          <Text size="sm" c="dimmed">
            {id}
          </Text>
        </Stack>
      ),
    },
    {
      name: 'Kind',
      cell: (model) => <Kind model={model} />,
    },
    {
      name: 'Context',
      sort: 'context_length',
      isFigure: true,
      cell: ({ context_length: context }) => count(context),
    },
    {
      name: 'Prompt, 1M',
      isFigure: true,
      cell: ({ pricing }) => <Money usd={mainRate(pricing, 'prompt_usd_per_1m')} isPrice none="–" />,
    },
    {
      name: 'Completion, 1M',
      isFigure: true,
      cell: ({ pricing }) => <Money usd={mainRate(pricing, 'completion_usd_per_1m')} isPrice none="–" />,
    },
  ];
  return (
    <DataTable
      label="Models"
      columns={columns}
      rows={rows}
      rowKey={({ id }) => id}
      minWidth={720}
      order={{ by: url.sort, onChange: (sort) => change({ sort }) }}
    />
  );
}

/** Kind of a model, and whether it costs something or needs a key. */
function Kind({ model }: { model: Model }): ReactNode {
  const { slug } = useOrg();
  const { model_type: type, is_free: isFree, is_available: isAvailable } = model;
  return (
    <Group gap={4}>
      <Badge variant="light">{type}</Badge>
      {isFree && (
        <Badge variant="light" color="green">
          free
        </Badge>
      )}
      {!isAvailable && (
        <Anchor component={Link} to={`/o/${slug}/provider-keys`} size="sm">
          needs a provider key
        </Anchor>
      )}
    </Group>
  );
}
