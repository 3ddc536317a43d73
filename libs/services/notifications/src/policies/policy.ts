import type { AccountEventType, ChannelType, PolicyRecord } from '@gateway/contracts';
import { Usd } from '@gateway/money';
import type { Policy } from '../generated/prisma/client.js';
import { fault } from '../orgs/faults.js';

const WITH_USD: ReadonlySet<AccountEventType> = new Set(['balance.low']);
const WITH_PCT: ReadonlySet<AccountEventType> = new Set(['spend_cap.approaching', 'rate_limit.threshold']);

export interface Thresholds {
  threshold_usd: string | null;
  threshold_pct: number | null;
}

/** The rules of a policy as it would be, for create and update alike. Throws ApiError `validation_error`. */
export function requireSound(
  type: AccountEventType,
  { threshold_usd: usd, threshold_pct: pct }: Thresholds,
  channel: ChannelType,
): void {
  if (WITH_USD.has(type) !== (usd !== null))
    throw usd === null ? missing('threshold_usd', type) : forbidden('threshold_usd', type);
  if (WITH_PCT.has(type) !== (pct !== null))
    throw pct === null ? missing('threshold_pct', type) : forbidden('threshold_pct', type);
  if (usd !== null && !Usd.parse(usd).isPositive())
    throw fault('threshold_usd', 'The threshold has to be above 0.', 'minimum');
  if (pct !== null && (pct < 1 || pct > 100))
    throw fault('threshold_pct', 'The threshold has to be 1 to 100.', 'out_of_range');
  if (channel === 'email' && (WITH_USD.has(type) || WITH_PCT.has(type)))
    throw fault('alert_type', `${type} cannot be sent to an e-mail channel.`);
}

function missing(field: string, type: AccountEventType) {
  return fault(field, `${type} needs it.`, 'missing');
}

function forbidden(field: string, type: AccountEventType) {
  return fault(field, `${type} has no such threshold.`);
}

export function thresholdsOf(row: Policy): Thresholds {
  return {
    threshold_usd: row.threshold_usd === null ? null : Usd.parse(row.threshold_usd.toFixed()).toString(),
    threshold_pct: row.threshold_pct === null ? null : row.threshold_pct.toNumber(),
  };
}

export function toWire(row: Policy): PolicyRecord {
  const { threshold_usd, threshold_pct } = thresholdsOf(row);
  return {
    id: row.id,
    org_id: row.org_id,
    channel_id: row.channel_id,
    // Written from the table of types alone.
    alert_type: row.alert_type as AccountEventType,
    is_enabled: row.is_enabled,
    threshold_usd: threshold_usd === null ? null : Number(threshold_usd),
    threshold_pct,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}
