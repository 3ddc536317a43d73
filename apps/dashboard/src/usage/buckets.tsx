import type { ReactNode } from 'react';
import { MarkLink } from '../chart/mark-link.js';
import { bucketLabel, minuteLabel } from '../format/time.js';
import { Money } from '../shell/money.js';
import type { Column } from '../table/data-table.js';
import { VirtualTable } from '../table/virtual-table.js';
import { nameOf } from './bars-of.js';
import { markOf, type Shown } from './marks.js';
import type { Metric } from './metrics.js';
import type { Series } from './usage.queries.js';

interface BucketsProps {
  shown: Shown;
  series: Series;
  metric: Metric;
}

interface Row {
  bucket: number;
  label: string;
  values: Series['buckets'][number]['values'];
}

/** The chart as a table, the newest first: each of its bars is a link here, too. */
export default function Buckets({ shown, series, metric }: BucketsProps): ReactNode {
  const { granularity, time_zone: zone, buckets } = series;
  const rows = buckets
    .map(({ start, values }, bucket): Row => ({
      bucket,
      label: granularity === 'hour' ? minuteLabel(start, zone) : bucketLabel(start, granularity, zone),
      values,
    }))
    .reverse();
  const columns: Column<Row>[] = [
    {
      name: granularity === 'hour' ? 'Hour' : 'Day',
      width: 90,
      cell: ({ bucket, label }) => <MarkLink mark={markOf(shown, null, bucket)}>{label}</MarkLink>,
    },
    ...series.groups.map((group, index): Column<Row> => ({
      name: columnName(series.groups, index),
      isFigure: true,
      cell: ({ bucket, values }) => {
        const own = values[group.id];
        if (own === undefined) return '–';
        return (
          <MarkLink mark={markOf(shown, group.id, bucket)}>
            {metric.value === 'spend' ? <Money usd={own.cost_usd} /> : metric.shown(own)}
          </MarkLink>
        );
      },
    })),
  ];
  return (
    <VirtualTable
      label={`${metric.label} by ${granularity}`}
      columns={columns}
      rows={rows}
      rowKey={({ bucket }) => String(bucket)}
      total={rows.length}
      more={null}
      isLoadingMore={false}
    />
  );
}

/** Two keys may have one label. */
function columnName(groups: Series['groups'], index: number): string {
  const name = nameOf(groups[index]);
  const isTaken = groups.some((group, at) => at < index && nameOf(group) === name);
  return isTaken ? `${name} (${groups[index].id})` : name;
}
