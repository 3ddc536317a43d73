import type { Mark } from '../chart/bars.js';
import { rangeNameOf } from '../shell/range.js';
import type { Params } from '../shell/search-params.js';
import { spanOfBucket } from '../shell/span.js';
import { filterOf, filtersOf, type UsageFilters } from '../shell/usage-filter.js';
import type { Series } from './usage.queries.js';

/** The content of the page, of which a mark is a part. */
export interface Shown {
  slug: string;
  url: Params;
  series: Pick<Series, 'buckets' | 'granularity' | 'time_zone' | 'since'>;
  /** The last instant of the range; absent = up to now. */
  until?: string;
  groupBy: string;
}

/** Filters that Requests takes beside its range. */
const OF_REQUESTS: ReadonlySet<string> = new Set(['model', 'key_id']);
/** Groups that no filter has. */
const NO_FILTER: ReadonlySet<string | null> = new Set(['other', 'none', 'all', null]);

/** True if a filter has the requests of the group alone. */
export function isOne(group: string | null): group is string {
  return !NO_FILTER.has(group);
}

/**
 * Returns the link of a part of the chart: a group of a bucket, or all groups or the whole range where either is null.
 * It leads to the requests where Requests has the filter, else to the usage of just that part.
 */
export function markOf(shown: Shown, group: string | null, bucket: number | null): Mark {
  const { slug, url, groupBy } = shown;
  const isAlone = isOne(group);
  const filters: UsageFilters = {
    ...filtersOf(url),
    ...(isOne(group) && filterOf(groupBy, group)),
    // Of the errors the page shows no others.
    ...(url.metric === 'errors' && { status: 'error' }),
  };
  const { status, ...others } = filters;
  const isListed = status !== 'success' && Object.keys(others).every((name) => OF_REQUESTS.has(name));
  if (isListed && (isAlone || group === null)) {
    const search = { ...rangeOf(shown, bucket, '24h'), ...others, ...(status && { show: 'failed' }) };
    return { to: `/o/${slug}/requests`, search };
  }
  const view = { ...(url.metric && { metric: url.metric }), ...(!isAlone && url.by && { by: url.by }) };
  return { to: `/o/${slug}/usage`, search: { ...rangeOf(shown, bucket, '7d'), ...filters, ...view } };
}

/** The range of a bucket, or of the page as the URL of a page with this default names it. */
function rangeOf({ url, series, until }: Shown, bucket: number | null, otherwise: '24h' | '7d'): Params {
  if (bucket !== null) return { ...spanOfBucket(series, bucket, until) };
  const zone: Params = url.zone ? { zone: url.zone } : {};
  if (url.from !== undefined && url.to !== undefined)
    return { from: url.from, to: url.to, zone: series.time_zone };
  const range = rangeNameOf(url, '7d');
  return range === otherwise ? zone : { range, ...zone };
}
