import { axisUsd, barHeight } from '../chart/bar-height.js';
import { formatUsd } from '../format/money.js';
import { count, milliseconds } from '../format/time.js';
import type { SeriesValues } from './usage.queries.js';

/** One thing that usage is measured in: how tall its bar is, and how it is written. */
export interface Metric {
  value: string;
  label: string;
  height: (values: SeriesValues) => number;
  shown: (values: SeriesValues) => string;
  axis: (height: number, top?: number) => string;
}

const short = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 });
const percent = new Intl.NumberFormat('en-US', { style: 'percent', maximumFractionDigits: 1 });

/** Returns the part of the input tokens that a provider's cache answered. */
function cacheShare({ cached_tokens: cached, prompt_tokens: prompt }: SeriesValues): number {
  return prompt === 0 ? 0 : cached / prompt;
}

export const METRICS: readonly Metric[] = [
  {
    value: 'spend',
    label: 'Spend',
    height: ({ cost_usd: usd }) => barHeight(usd),
    shown: ({ cost_usd: usd }) => formatUsd(usd, 4),
    axis: axisUsd,
  },
  {
    value: 'requests',
    label: 'Requests',
    height: ({ requests }) => requests,
    shown: ({ requests }) => count(requests),
    axis: (height) => short.format(height),
  },
  {
    value: 'tokens',
    label: 'Tokens',
    height: ({ prompt_tokens: input, completion_tokens: output }) => input + output,
    shown: ({ prompt_tokens: input, completion_tokens: output }) => count(input + output),
    axis: (height) => short.format(height),
  },
  {
    value: 'errors',
    label: 'Errors',
    height: ({ errors }) => errors,
    shown: ({ errors }) => count(errors),
    axis: (height) => short.format(height),
  },
  {
    value: 'latency',
    label: 'Latency p50',
    height: ({ latency_p50_ms: ms }) => ms ?? 0,
    shown: ({ latency_p50_ms: ms }) => milliseconds(ms),
    axis: (height) => milliseconds(height),
  },
  {
    value: 'cache',
    label: 'Cache share',
    height: cacheShare,
    shown: (values) => percent.format(cacheShare(values)),
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
];
