import {
  AttemptRecord,
  LimitReading,
  PricedFrom,
  RejectionRecord,
  TOPIC,
  UsageRecord,
  type ConsumedRecord,
} from '@gateway/contracts';
import { compileCheck } from './record-check.js';

/** A record of the log that cannot be applied, with as much of its identity as could be read. */
export interface UnusableRecord {
  record: ConsumedRecord;
  reason: string;
  accountId: string | null;
  unit: { requestId: string; unit: number } | null;
  stamp: Stamp | null;
}

/** Journal stamps: who wrote the record. */
export interface Stamp {
  producer: string;
  epoch: string;
  seq: number;
}

/** A usage record with where it came from, for the dead letter it may become. */
export interface ReadUsage {
  usage: UsageRecord;
  record: ConsumedRecord;
}

export interface ReadRejection {
  rejection: RejectionRecord;
  record: ConsumedRecord;
}

export interface ReadBatch {
  usage: ReadUsage[];
  rejections: ReadRejection[];
  unusable: UnusableRecord[];
}

/** The status of a unit whose process died before its outcome: a real outcome replaces it. */
export const CRASH_CODE = 'gateway_crash';

const checkUsage = compileCheck(UsageRecord, {
  priced_from: PricedFrom,
  attempts: AttemptRecord,
  limits: LimitReading,
});
const checkRejection = compileCheck(RejectionRecord);

/** Parses and checks what the log delivered. Never throws: what is not understood is unusable. */
export function readBatch(records: readonly ConsumedRecord[]): ReadBatch {
  const batch: ReadBatch = { usage: [], rejections: [], unusable: [] };
  for (const record of records) {
    const value = dataOf(record.value);
    const fault = value === null ? 'not a CloudEvent with data' : faultOf(record, value);
    if (fault !== null) batch.unusable.push(unusable(record, value, fault));
    else if (record.topic === TOPIC.usage)
      batch.usage.push({ usage: value as unknown as UsageRecord, record });
    else batch.rejections.push({ rejection: value as unknown as RejectionRecord, record });
  }
  return batch;
}

/** What is known of a record that could not be applied. */
export function unusable(
  record: ConsumedRecord,
  value: Readonly<Record<string, unknown>> | null,
  reason: string,
): UnusableRecord {
  const { account_id, request_id, unit, producer, epoch, seq } = value ?? {};
  const isUnit = typeof request_id === 'string' && Number.isSafeInteger(unit);
  const isStamped =
    typeof producer === 'string' && typeof epoch === 'string' && Number.isSafeInteger(seq) && Number(seq) > 0;
  return {
    record,
    reason,
    accountId: typeof account_id === 'string' ? account_id : null,
    unit: isUnit ? { requestId: request_id, unit: Number(unit) } : null,
    stamp: isStamped ? { producer, epoch, seq: Number(seq) } : null,
  };
}

function faultOf(
  { topic, value: text }: ConsumedRecord,
  value: Readonly<Record<string, unknown>>,
): string | null {
  const mayHoldNul = text.includes(String.raw`\u0000`);
  if (mayHoldNul && hasNul(value)) return 'a text holds the character NUL';
  if (topic !== TOPIC.usage) return named(checkRejection(value)) ?? timeFault(value);
  const fault = named(checkUsage(value)) ?? timeFault(value);
  if (fault !== null) return fault;
  const { cost_usd: cost, list_cost_usd: list } = value;
  if (isNegative(cost) || isNegative(list)) return 'a cost below 0';
  return null;
}

function named(field: string | null): string | null {
  return field === null ? null : `the field ${field} is not what the contract says`;
}

function timeFault({ created_at: time }: Readonly<Record<string, unknown>>): string | null {
  return typeof time === 'string' && Number.isFinite(Date.parse(time)) ? null : 'created_at is no time';
}

function isNegative(amount: unknown): boolean {
  return typeof amount === 'string' && amount.startsWith('-');
}

/** PostgreSQL takes no NUL in a text; one such record would refuse its whole batch. */
function hasNul(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('\0');
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).some(hasNul);
}

function dataOf(text: string): Readonly<Record<string, unknown>> | null {
  let envelope: unknown;
  try {
    envelope = JSON.parse(text);
  } catch {
    return null; // Named by the caller: the record becomes a dead letter.
  }
  if (typeof envelope !== 'object' || envelope === null || !('data' in envelope)) return null;
  const { data } = envelope;
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return null;
  return data as Readonly<Record<string, unknown>>;
}
