import type { Bars, Mark } from '../chart/bars.js';
import { bucketLabel } from '../format/time.js';
import type { Metric } from './metrics.js';
import type { Series } from './usage.queries.js';

/** Colours in the order of the groups; the same in the chart and in its table. */
const COLOURS = ['gateway-6', 'orange-6', 'teal-6', 'grape-6', 'yellow-6', 'cyan-7', 'pink-6', 'lime-7'];
const OTHER = 'gray-5';

export function colourOf(group: string, index: number): string {
  return `var(--mantine-color-${group === 'other' ? OTHER : COLOURS[index % COLOURS.length]})`;
}

export function nameOf({ id, label }: Series['groups'][number]): string {
  if (id === 'other') return 'Other';
  return id === 'none' ? 'None' : (label ?? id);
}

/** Returns the bars of an answer. `markOf` says where the bar of a group in a bucket leads. */
export function barsOf(
  series: Series,
  metric: Metric,
  markOf: (group: string, bucket: number) => Mark,
): Bars {
  return {
    labels: series.buckets.map(({ start }) => bucketLabel(start, series.granularity, series.time_zone)),
    series: series.groups.map((group, index) => ({
      label: nameOf(group),
      color: colourOf(group.id, index),
      heights: series.buckets.map(({ values }) => {
        const own = values[group.id];
        // A group that had none in a bucket is not in it.
        return own === undefined ? 0 : metric.height(own);
      }),
      marks: series.buckets.map((_, bucket) => markOf(group.id, bucket)),
    })),
  };
}
