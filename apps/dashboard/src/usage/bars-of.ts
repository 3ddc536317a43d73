import type { Bars, Lines, Mark } from '../chart/bars.js';
import { coloursOf, DATA } from '../chart/colours.js';
import { bucketLabel } from '../format/time.js';
import type { Additive, Level } from './metrics.js';
import type { Series } from './usage.queries.js';

/** Returns the colour of each group, the same in the chart and in its table. */
export function coloursOfGroups({ groups }: Pick<Series, 'groups'>): Map<string, string> {
  return coloursOf(groups.map(({ id }) => id));
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
  const colours = coloursOfGroups({ groups });
  return groups.map((group) => ({
    id: group.id,
    label: nameOf(group),
    color: colours.get(group.id) ?? DATA,
    marks: buckets.map((_, bucket) => markOf(group.id, bucket)),
  }));
}
