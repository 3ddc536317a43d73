import type { LimitReading, UsageRecord } from '@gateway/contracts';
import { atMostEvery, scopeFields, type Notice, type Repetition, type ThresholdsOf } from './notice.js';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** The spec's own number: once per pair of providers and model. */
const FALLBACK_GAP_MS = 300_000;

/** Returns the notices on rates and providers of a finished unit. */
export function usageNotices(record: UsageRecord, thresholds: ThresholdsOf): Notice[] {
  const orgId = record.org_id ?? null;
  if (orgId === null) return [];
  return [...rateNotices(record, orgId, thresholds), ...fallbackNotices(record, orgId)];
}

function rateNotices(record: UsageRecord, orgId: string, thresholds: ThresholdsOf): Notice[] {
  const asked = thresholds(orgId, 'rate_limit.threshold');
  if (asked.length === 0) return [];
  return record.limits.flatMap((reading) => [
    ...crossed(record, orgId, reading, { type: 'rpm', windowMs: MINUTE_MS }, asked),
    ...crossed(record, orgId, reading, { type: 'rpd', windowMs: DAY_MS }, asked),
  ]);
}

interface Rate {
  type: 'rpm' | 'rpd';
  /** Limits are counted in fixed minutes and days. */
  windowMs: number;
}

function crossed(
  record: UsageRecord,
  orgId: string,
  reading: LimitReading,
  { type, windowMs }: Rate,
  thresholds: readonly string[],
): Notice[] {
  const limit = reading[`${type}_limit`] ?? null;
  if (limit === null) return [];
  const { scope, scope_id } = reading;
  const window = Math.floor(Date.parse(record.created_at) / windowMs);
  return thresholds
    .filter((threshold) => reading[type] * 100 >= Number(threshold) * limit)
    .map((threshold) => {
      const name = `rate_limit.threshold/${scope}/${scope_id}/${type}/${threshold}`;
      return {
        sourceKey: `${name}/${window}`,
        type: 'rate_limit.threshold' as const,
        orgId,
        atMs: endedAtMs(record),
        data: { ...scopeFields(scope, scope_id), limit_type: type, limit },
        threshold,
        repetition: oncePerStretch(name, { window, windowMs, isDay: type === 'rpd' }),
      };
    });
}

/**
 * Returns a step that fires once a window, and of minutes in a row above the threshold only in the first: it is crossed
 * again only from below. A day begins at nothing, so each has its own crossing.
 */
function oncePerStretch(
  name: string,
  { window, windowMs, isDay }: { window: number; windowMs: number; isDay: boolean },
): Repetition {
  return {
    name,
    step: (last) => {
      const lastWindow = last === null ? -Infinity : Math.floor(last.atMs / windowMs);
      if (window <= lastWindow) return null;
      return {
        state: { atMs: window * windowMs, detail: null },
        isNotified: isDay || window > lastWindow + 1,
      };
    },
  };
}

function fallbackNotices(record: UsageRecord, orgId: string): Notice[] {
  const served = record.attempts.find((attempt) => attempt.served);
  const first = record.attempts.at(0);
  if (record.outcome !== 'served' || served === undefined || first === undefined) return [];
  if (served.provider === first.provider) return [];
  const atMs = endedAtMs(record);
  const name = `provider.fallback/${record.model}/${first.provider}/${served.provider}`;
  return [
    {
      sourceKey: `provider.fallback/${record.id}`,
      type: 'provider.fallback',
      orgId,
      atMs,
      data: {
        model: record.model,
        requested_provider: first.provider,
        served_provider: served.provider,
        reason: first.error_code ?? 'upstream_error',
        request_id: record.request_id,
      },
      threshold: null,
      repetition: atMostEvery(name, FALLBACK_GAP_MS, atMs),
    },
  ];
}

/** Returns the instant at which the unit was known: the request may have come in long before. */
function endedAtMs({ created_at, latency_ms }: UsageRecord): number {
  return Math.round(Date.parse(created_at) + latency_ms);
}
