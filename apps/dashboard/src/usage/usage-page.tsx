import { ColorSwatch, Group, Select, Stack, Text } from '@mantine/core';
import { lazy, Suspense, useState, type ReactNode } from 'react';
import { barsOf, colourOf, nameOf } from './bars-of.js';
import { count, milliseconds } from '../format/time.js';
import { useZone } from '../session/me.queries.js';
import { AsOf } from '../shell/as-of.js';
import { Money } from '../shell/money.js';
import { useOrg } from '../shell/org.queries.js';
import { PageHead } from '../shell/page-head.js';
import { Panel } from '../shell/panel.js';
import { ProblemCard } from '../shell/problem-card.js';
import { ExportButton } from '../shell/export-button.js';
import { RangePicker, rangeOfUrl } from '../shell/range.js';
import { useParamsOfUrl } from '../shell/search-params.js';
import { Empty, Loading } from '../shell/states.js';
import { Views } from '../shell/views.js';
import { DataTable, type Column } from '../table/data-table.js';
import { GROUPS, metricOf, METRICS } from './metrics.js';
import { useSeries, type Series, type SeriesValues } from './usage.queries.js';

const StackedBars = lazy(() => import('../chart/stacked-bars.js'));
const HOURLY_UP_TO_HOURS = 48;

export default function UsagePage(): ReactNode {
  const org = useOrg();
  const zone = useZone();
  const [url, change] = useParamsOfUrl();
  const [openedAt] = useState(() => Date.now());
  const { since, until, hours } = rangeOfUrl(url, '7d', zone, openedAt);
  const groupBy = GROUPS.some(({ value }) => value === url.by) ? (url.by ?? 'model') : 'model';
  const granularity = hours <= HOURLY_UP_TO_HOURS ? 'hour' : 'day';
  const filter = { since, until, groupBy, granularity, zone } as const;
  const series = useSeries(org.id, filter);
  return (
    <>
      <PageHead title="Usage" about={`Days and hours of ${zone}`}>
        <RangePicker otherwise="7d" />
        <Views page="/usage" />
        <ExportButton filter={{ since, until, time_zone: zone }} />
      </PageHead>
      <Group mb="md" gap="sm">
        <Select
          aria-label="Metric"
          data={METRICS.map(({ value, label }) => ({ value, label }))}
          allowDeselect={false}
          value={metricOf(url.metric).value}
          onChange={(metric) => change({ metric: metric === 'spend' ? null : metric })}
          w={150}
        />
        <Select
          aria-label="Group"
          data={GROUPS}
          allowDeselect={false}
          value={groupBy}
          onChange={(by) => change({ by: by === 'model' ? null : by })}
          w={150}
        />
        {series.isSuccess && <AsOf at={series.data.as_of} isReading={series.isFetching} />}
      </Group>
      {series.isPending && <Loading height={320} />}
      {series.isError && <ProblemCard failure={series.error} retry={() => void series.refetch()} />}
      {series.isSuccess && <Shown series={series.data} />}
    </>
  );
}

function Shown({ series }: { series: Series }): ReactNode {
  const [url] = useParamsOfUrl();
  const metric = metricOf(url.metric);
  if (series.total.requests === 0) {
    return <Empty>No request in this range. The first one shows here within a minute.</Empty>;
  }
  return (
    <Stack>
      <Panel title={`${metric.label}: ${metric.shown(series.total)}`}>
        <Suspense fallback={<Loading height={260} />}>
          <StackedBars
            bars={barsOf(series, metric)}
            label={`${metric.label} over time; the table below has the sums`}
            format={metric.axis}
          />
        </Suspense>
      </Panel>
      <Totals series={series} />
      <Text size="sm" c="dimmed">
        Durations are estimates.
      </Text>
    </Stack>
  );
}

interface Row {
  id: string;
  name: string;
  colour: string | null;
  values: SeriesValues;
}

function Totals({ series }: { series: Series }): ReactNode {
  const groups: Row[] = series.groups.map((group, index) => ({
    id: group.id,
    name: nameOf(group),
    colour: colourOf(group.id, index),
    values: series.totals[group.id],
  }));
  const rows: Row[] = [...groups, { id: 'total', name: 'Total', colour: null, values: series.total }];
  const columns: Column<Row>[] = [
    {
      name: 'Group',
      cell: ({ name, colour }) => (
        <Group gap="xs" wrap="nowrap">
          {colour !== null && <ColorSwatch size={12} color={colour} withShadow={false} />}
          <Text size="sm" fw={colour === null ? 700 : 400}>
            {name}
          </Text>
        </Group>
      ),
    },
    { name: 'Spend', isFigure: true, cell: ({ values }) => <Money usd={values.cost_usd} decimals={6} /> },
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
      rowKey={({ id }) => id}
      minWidth={900}
    />
  );
}
