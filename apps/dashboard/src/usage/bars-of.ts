import type { Bars, Lines, Mark } from '../chart/bars.js';
import { bucketLabel } from '../format/time.js';
import type { Additive, Level } from './metrics.js';
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

type MarkOf = (group: string, bucket: number) => Mark;

/** Returns the bars of an answer. `markOf` says where the bar of a group in a bucket leads. */
export function barsOf(series: Series, metric: Additive, markOf: MarkOf): Bars {
  return {
    labels: labelsOf(series),
    series: groupsOf(series, markOf).map((group) => ({
      ...group,
      // A group that had none in a bucket is not in it.
      heights: series.buckets.map(({ values }) =>
        values[group.id] === undefined ? 0 : metric.height(values[group.id]),
      ),
    })),
  };
}

/** Returns a line for each group of an answer, and one for all of them where `whole` has it. */
export function linesOf(series: Series, whole: Series | undefined, metric: Level, markOf: MarkOf): Lines {
  const heightsOf = ({ buckets }: Series, group: string): (number | null)[] =>
    buckets.map(({ values }) => (values[group] === undefined ? null : metric.height(values[group])));
  return {
    labels: labelsOf(series),
    series: groupsOf(series, markOf).map((group) => ({ ...group, heights: heightsOf(series, group.id) })),
    whole: whole === undefined ? null : heightsOf(whole, 'all'),
  };
}

function labelsOf({ buckets, granularity, time_zone: zone }: Series): string[] {
  return buckets.map(({ start }) => bucketLabel(start, granularity, zone));
}

function groupsOf(
  { groups, buckets }: Series,
  markOf: MarkOf,
): { id: string; label: string; color: string; marks: Mark[] }[] {
  return groups.map((group, index) => ({
    id: group.id,
    label: nameOf(group),
    color: colourOf(group.id, index),
    marks: buckets.map((_, bucket) => markOf(group.id, bucket)),
  }));
}
