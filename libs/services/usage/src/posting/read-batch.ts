import { TOPIC, type ConsumedRecord, type RejectionRecord, type UsageRecord } from '@gateway/contracts';
import { readEvents, type DeadRecord } from '@gateway/event-log';

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
interface ReadUsage {
  usage: UsageRecord;
  record: ConsumedRecord;
}

interface ReadRejection {
  rejection: RejectionRecord;
  record: ConsumedRecord;
}

export interface ReadBatch {
  usage: ReadUsage[];
  rejections: ReadRejection[];
  unusable: UnusableRecord[];
}

const USAGE_TOPICS: readonly string[] = [TOPIC.usage, TOPIC.usageV2];

/** The status of a unit whose process died before its outcome: a real outcome replaces it. */
export const CRASH_CODE = 'gateway_crash';

/** A real outcome may still come: what was settled of the unit stays. Where it was lost with a journal, none will. */
export function awaitsOutcome(unit: { error_code: string | null; usage_estimated: boolean }): boolean {
  return unit.error_code === CRASH_CODE && !unit.usage_estimated;
}

/**
 * Parses and checks what the log delivered. Never throws. A record that is not understood is unusable, also one with a
 * value of a newer release: left uncounted, its money would be lost.
 */
export function readBatch(records: readonly ConsumedRecord[]): ReadBatch {
  const batch: ReadBatch = { usage: [], rejections: [], unusable: [] };
  const usage = readEvents(TOPIC.usage, ofTopics(records, USAGE_TOPICS));
  const rejections = readEvents(TOPIC.rejections, ofTopics(records, [TOPIC.rejections]));
  for (const { record, data } of usage.events) {
    const fault = textFault(record, data) ?? costFault(data);
    if (fault === null) batch.usage.push({ usage: data, record });
    else batch.unusable.push(unusable({ record, reason: fault, data: { ...data } }));
  }
  for (const { record, data } of rejections.events) {
    const fault = textFault(record, data);
    if (fault === null) batch.rejections.push({ rejection: data, record });
    else batch.unusable.push(unusable({ record, reason: fault, data: { ...data } }));
  }
  const foreign = records
    .filter(({ topic }) => topic !== TOPIC.rejections && !USAGE_TOPICS.includes(topic))
    .map((record) => ({ record, reason: 'of no topic that the ledger reads', data: null }));
  batch.unusable.push(...[...usage.dead, ...rejections.dead, ...foreign].map(unusable));
  return batch;
}

function ofTopics(records: readonly ConsumedRecord[], topics: readonly string[]): readonly ConsumedRecord[] {
  return records.every(({ topic }) => topics.includes(topic))
    ? records
    : records.filter(({ topic }) => topics.includes(topic));
}

/** Returns the known facts of a record that could not be applied. */
export function unusable({ record, reason, data }: DeadRecord): UnusableRecord {
  const { account_id, request_id, unit, producer, epoch, seq } = data ?? {};
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

/** Returns a fault that PostgreSQL would refuse: one such record would refuse its whole batch. */
function textFault({ value }: ConsumedRecord, data: UsageRecord | RejectionRecord): string | null {
  const mayHoldNul = value.includes(String.raw`\u0000`);
  if (mayHoldNul && hasNul(data)) return 'a text holds the character NUL';
  return Number.isFinite(Date.parse(data.created_at)) ? null : 'created_at is no time';
}

function costFault({ cost_usd, list_cost_usd }: UsageRecord): string | null {
  return isNegative(cost_usd) || isNegative(list_cost_usd) ? 'a cost below 0' : null;
}

function isNegative(amount: unknown): boolean {
  return typeof amount === 'string' && amount.startsWith('-');
}

function hasNul(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('\0');
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).some(hasNul);
}
