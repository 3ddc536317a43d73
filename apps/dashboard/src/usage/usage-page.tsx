import { Button, Group, Select, Stack, Switch, Text } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { lazy, Suspense, useState, type ReactNode } from 'react';
import { minuteLabel } from '../format/time.js';
import { useZone } from '../session/me.queries.js';
import { AsOf } from '../shell/as-of.js';
import { FilterChip } from '../shell/filter-chip.js';
import { useFilterNames } from '../shell/filter-names.queries.js';
import { useOrg } from '../shell/org.queries.js';
import { PageHead } from '../shell/page-head.js';
import { ProblemCard } from '../shell/problem-card.js';
import { ExportButton } from '../shell/export-button.js';
import { rangeBefore, RangePicker, rangeOfUrl } from '../shell/range.js';
import { Toolbar } from '../shell/toolbar.js';
import { useScopes } from '../shell/scope.js';
import { useParamsOfUrl } from '../shell/search-params.js';
import { Empty, Loading } from '../shell/states.js';
import { download } from '../table/download.js';
import { Views } from '../shell/views.js';
import { bodyOfFilters, filtersOf, saidOf } from '../shell/usage-filter.js';
import type { Shown } from './marks.js';
import { FilterPicker } from '../shell/filter-picker.js';
import { GroupPicker } from './group-picker.js';
import { groupOf, metricOf, METRICS } from './metrics.js';
import { OverTime } from './over-time.js';
import { SecondGroupPicker, secondGroupOf } from './second-group.js';
import { ShareLink } from './share-link.js';
import type { SplitTotals } from './totals.js';
import { totalsCsv } from './totals-csv.js';
import { useSeries, useSplits, type Series, type SeriesFilter } from './usage.queries.js';

// Comes while its figures are read.
const Totals = lazy(() => import('./totals.js'));
const HOURLY_UP_TO_HOURS = 48;
/** Groups of the period before: as many as the API shows, so that few of today's are among its others. */
const MOST_GROUPS = 20;

export default function UsagePage(): ReactNode {
  const org = useOrg();
  const zone = useZone();
  const [url, change] = useParamsOfUrl();
  const [openedAt] = useState(() => Date.now());
  const range = rangeOfUrl(url, '7d', zone, openedAt);
  const { since, until, hours } = range;
  const groupBy = groupOf(url.by);
  const isNamed = groupBy !== 'tag';
  const second = secondGroupOf(url.then, groupBy);
  const granularity = hours <= HOURLY_UP_TO_HOURS ? 'hour' : 'day';
  const filters = filtersOf(url);
  const names = { ...useFilterNames(org.id, filters) };
  const filter = { since, until, groupBy, granularity, zone, filters } as const;
  const series = useSeries(org.id, filter, { isNeeded: isNamed });
  const isWholeNeeded = isNamed && !metricOf(url.metric).isAdditive;
  const whole = useSeries(org.id, { ...filter, groupBy: null }, { isNeeded: isWholeNeeded });
  const isCompared = url.compare === 'before';
  const before = useSeries(
    org.id,
    { ...filter, ...rangeBefore(url, range, zone), top: MOST_GROUPS },
    { isNeeded: isCompared && isNamed, keepsShown: false },
  );
  return (
    <>
      <PageHead title="Usage" scope={useScopes().usage} about={`Days and hours of ${zone}`}>
        <RangePicker otherwise="7d" />
        <Views page="/usage" />
        <ShareLink span={series.data} />
        <ExportButton filter={{ since, until, ...bodyOfFilters(filters), time_zone: zone }} />
      </PageHead>
      <Toolbar mb="md">
        <MetricPicker />
        <GroupPicker groupBy={groupBy} onChange={(by) => change({ by })} />
        <SecondGroupPicker first={groupBy} second={second} onChange={(then) => change({ then })} />
        <FilterPicker onPick={change} />
        <Switch
          label="Compare with the period before"
          checked={isCompared}
          onChange={({ currentTarget }) => change({ compare: currentTarget.checked ? 'before' : null })}
        />
        {Object.entries(filters).map((one) => (
          <FilterChip key={one[0]} {...saidOf(one, names)} onRemove={() => change({ [one[0]]: null })} />
        ))}
        {series.isSuccess && <AsOf at={series.data.as_of} isReading={series.isFetching} />}
      </Toolbar>
      {!isNamed && <Empty>Name the tag by which requests are grouped, such as feature.</Empty>}
      {isNamed && series.isPending && <Loading height={320} />}
      {series.isError && <ProblemCard failure={series.error} retry={() => void series.refetch()} />}
      {isCompared && before.isError && (
        <ProblemCard failure={before.error} retry={() => void before.refetch()} />
      )}
      {isNamed && series.isSuccess && (
        <Figures
          shown={{ slug: org.slug, url, series: series.data, until, groupBy }}
          series={series.data}
          whole={isSameRange(whole.data, series.data) ? whole.data : undefined}
          before={isCompared ? before.data : undefined}
          split={second === null ? null : { by: second, filter }}
        />
      )}
    </>
  );
}

function MetricPicker(): ReactNode {
  const [url, change] = useParamsOfUrl();
  return (
    <Select
      aria-label="Metric"
      data={METRICS.map(({ value, label }) => ({ value, label }))}
      allowDeselect={false}
      value={metricOf(url.metric).value}
      onChange={(metric) => change({ metric: metric === 'spend' ? null : metric })}
      w={150}
    />
  );
}

function spanOf({ since, until, time_zone: zone }: Series): string {
  return `${minuteLabel(since, zone)} to ${minuteLabel(until, zone)}`;
}

/** True if both answers have the same buckets: one of them may still be that of the range before. */
function isSameRange(whole: Series | undefined, { buckets }: Series): boolean {
  const startsOf = (series: Series['buckets']): string => series.map(({ start }) => start).join();
  return whole !== undefined && startsOf(whole.buckets) === startsOf(buckets);
}

interface FiguresProps {
  shown: Shown;
  series: Series;
  /** All groups together; undefined where it is not asked or not known yet. */
  whole: Series | undefined;
  /** The period before; undefined where it is not asked or not known yet. */
  before: Series | undefined;
  /** Second group; null without one. */
  split: { by: string; filter: SeriesFilter & { groupBy: string } } | null;
}

/** Chart and tables of the page, whose marks share their links. */
function Figures({ shown, series, whole, before, split }: FiguresProps): ReactNode {
  const metric = metricOf(shown.url.metric);
  if (series.total.requests === 0) {
    const isFiltered = Object.keys(filtersOf(shown.url)).length > 0;
    const where = isFiltered ? 'range and filter.' : 'range. The first one shows here within a minute.';
    return <Empty>No request in this {where}</Empty>;
  }
  return (
    <Stack>
      <OverTime
        title={`${metric.label}: ${metric.shown(series.total)}`}
        shown={shown}
        series={series}
        whole={whole}
        metric={metric}
      />
      <Suspense fallback={<Loading height={320} />}>
        {split === null ? (
          <Totals shown={shown} series={series} before={before} split={null} />
        ) : (
          <SplitGroups key={`${split.filter.groupBy} ${split.by}`} {...split}>
            {(open) => <Totals shown={shown} series={series} before={before} split={open} />}
          </SplitGroups>
        )}
      </Suspense>
      <Group>
        <Button
          variant="default"
          size="xs"
          leftSection={<IconDownload size={14} />}
          onClick={() => download(`usage-by-${shown.groupBy}.csv`, totalsCsv(series, before))}
        >
          Download this table
        </Button>
      </Group>
      <Text size="sm" c="dimmed">
        {before !== undefined && `Change of the spend since ${spanOf(before)}. `}
        Percentiles are estimated from histograms.
      </Text>
    </Stack>
  );
}

interface SplitGroupsProps {
  by: string;
  filter: SeriesFilter & { groupBy: string };
  children: (split: SplitTotals) => ReactNode;
}

/** Reads the parts of the groups that are open. A part that cannot be read says so above the table. */
function SplitGroups({ by, filter, children }: SplitGroupsProps): ReactNode {
  const { id } = useOrg();
  const [groups, setGroups] = useState<readonly string[]>([]);
  const open = useSplits(id, filter, { second: by, groups });
  const toggle = (group: string): void =>
    setGroups(groups.includes(group) ? groups.filter((one) => one !== group) : [...groups, group]);
  const failed = open.find(({ read }) => read.isError)?.read;
  return (
    <>
      {failed !== undefined && <ProblemCard failure={failed.error} retry={() => void failed.refetch()} />}
      {children({ by, open, toggle })}
    </>
  );
}
