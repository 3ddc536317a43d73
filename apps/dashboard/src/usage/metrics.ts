import { axisUsd, barHeight } from '../chart/bar-height.js';
import { formatUsd } from '../format/money.js';
import { count, milliseconds } from '../format/time.js';
import type { SeriesValues } from './usage.queries.js';

interface Measure {
  value: string;
  label: string;
  shown: (values: SeriesValues) => string;
  axis: (height: number, top?: number) => string;
  /** The words in place of a chart without a mark. */
  empty: string;
}

/** A metric whose sum over groups is true of all of them, such as spend: its groups stack. */
export interface Additive extends Measure {
  isAdditive: true;
  height: (values: SeriesValues) => number;
}

/** A metric that no sum has, such as a median or a share: each group is a line. */
export interface Level extends Measure {
  isAdditive: false;
  /** Null where the group has no value. */
  height: (values: SeriesValues) => number | null;
}

/** One thing that usage is measured in: how high it is drawn, and how it is written. */
export type Metric = Additive | Level;

const short = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 });
const percent = new Intl.NumberFormat('en-US', { style: 'percent', maximumFractionDigits: 1 });

/** Returns the part of the input tokens that a provider's cache answered; null where there were none. */
function cacheShare({ cached_tokens: cached, prompt_tokens: prompt }: SeriesValues): number | null {
  return prompt === 0 ? null : cached / prompt;
}

export const SPEND: Additive = {
  value: 'spend',
  label: 'Spend',
  empty: 'No spend in this range.',
  isAdditive: true,
  height: ({ cost_usd: usd }) => barHeight(usd),
  shown: ({ cost_usd: usd }) => formatUsd(usd),
  axis: axisUsd,
};

export const METRICS: readonly Metric[] = [
  SPEND,
  {
    value: 'requests',
    label: 'Requests',
    empty: 'No request in this range.',
    isAdditive: true,
    height: ({ requests }) => requests,
    shown: ({ requests }) => count(requests),
    axis: (height) => short.format(height),
  },
  {
    value: 'tokens',
    label: 'Tokens',
    empty: 'No token in this range.',
    isAdditive: true,
    height: ({ prompt_tokens: input, completion_tokens: output }) => input + output,
    shown: ({ prompt_tokens: input, completion_tokens: output }) => count(input + output),
    axis: (height) => short.format(height),
  },
  {
    value: 'errors',
    label: 'Errors',
    empty: 'No request failed in this range.',
    isAdditive: true,
    height: ({ errors }) => errors,
    shown: ({ errors }) => count(errors),
    axis: (height) => short.format(height),
  },
  {
    value: 'latency',
    label: 'Latency p50',
    empty: 'No latency was measured in this range.',
    isAdditive: false,
    height: ({ latency_p50_ms: ms }) => ms,
    shown: ({ latency_p50_ms: ms }) => milliseconds(ms),
    axis: (height) => milliseconds(height),
  },
  {
    value: 'cache',
    label: 'Cache share',
    empty: 'No input token came from a cache in this range.',
    isAdditive: false,
    height: cacheShare,
    shown: (values) => percent.format(cacheShare(values) ?? 0),
    axis: (height) => percent.format(height),
  },
];

export function metricOf(value: string | undefined): Metric {
  return METRICS.find((metric) => metric.value === value) ?? METRICS[0];
}

export const GROUPS = [
  { value: 'model', label: 'by model' },
  { value: 'key', label: 'by key' },
  { value: 'member', label: 'by member' },
  { value: 'team', label: 'by team' },
  { value: 'endpoint', label: 'by endpoint' },
  { value: 'status', label: 'by status' },
  { value: 'tag', label: 'by tag' },
];

/**
 * Returns the groups that an address names, for example `team` or `tag:feature`; `tag` where it does not name the tag
 * yet. An address that names none is by model.
 */
export function groupOf(by = 'model'): string {
  if (/^tag:[^=]{1,128}$/.test(by)) return by;
  return GROUPS.some(({ value }) => value === by) ? by : 'model';
}
