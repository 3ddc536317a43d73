import { SegmentedControl } from '@mantine/core';
import type { ReactNode } from 'react';
import { useParamsOfUrl } from './search-params.js';

export const RANGES = [
  { value: '1h', label: '1 h', hours: 1 },
  { value: '24h', label: '24 h', hours: 24 },
  { value: '7d', label: '7 d', hours: 168 },
  { value: '30d', label: '30 d', hours: 720 },
] as const;

export type RangeName = (typeof RANGES)[number]['value'];

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/** The range that the URL names; what is no range is the default. */
export function rangeOf(text: string | undefined, otherwise: RangeName): (typeof RANGES)[number] {
  return (
    RANGES.find(({ value }) => value === text) ?? RANGES.find(({ value }) => value === otherwise) ?? RANGES[1]
  );
}

/** Its beginning as an instant, on a whole minute: reads of the same minute share one answer. */
export function sinceOf(range: { hours: number }, nowMs: number): string {
  const minute = Math.floor(nowMs / MINUTE_MS) * MINUTE_MS;
  return new Date(minute - range.hours * HOUR_MS).toISOString();
}

export function RangePicker({ otherwise }: { otherwise: RangeName }): ReactNode {
  const [url, change] = useParamsOfUrl();
  return (
    <SegmentedControl
      aria-label="Range"
      size="sm"
      data={RANGES.map(({ value, label }) => ({ value, label }))}
      value={rangeOf(url.range, otherwise).value}
      onChange={(value) => change({ range: value === otherwise ? null : value })}
    />
  );
}
