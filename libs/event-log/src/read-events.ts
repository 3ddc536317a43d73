import {
  ACCOUNT_RECORDS,
  AccountEvent,
  AttemptRecord,
  AuditEntry,
  BudgetReading,
  CatalogueEvent,
  LimitReading,
  PricedFrom,
  RefusedMoneyRecord,
  RejectionRecord,
  ShadowOf,
  TOPIC,
  UsageRecord,
  wholeUsage,
  type AccountRecordType,
  type ConsumedRecord,
  type Topic,
  type TopicRecords,
  type UsageRecordV2,
} from '@gateway/contracts';
import type { DeadRecord } from './dead-letter.js';
import { compileCheck, type RecordCheck, type RecordFault } from './record-check.js';

type Fields = Readonly<Record<string, unknown>>;

export interface ReadEvents<Data> {
  events: { record: ConsumedRecord; data: Data }[];
  dead: DeadRecord[];
}

const checkUsage = compileCheck(UsageRecord, {
  priced_from: PricedFrom,
  attempts: AttemptRecord,
  limits: LimitReading,
  budgets: BudgetReading,
  shadow_of: ShadowOf,
});

const CHECKS: Readonly<Record<Topic, RecordCheck>> = {
  [TOPIC.usage]: checkUsage,
  [TOPIC.usageV2]: checkUsage,
  [TOPIC.rejections]: compileCheck(RejectionRecord, { money: RefusedMoneyRecord }),
  [TOPIC.account]: accountCheck(),
  [TOPIC.audit]: compileCheck(AuditEntry),
  [TOPIC.catalogue]: compileCheck(CatalogueEvent),
};

/**
 * Parses a batch of one topic and checks each record against the topic's class. A unit on gateway.usage.v2 is read as the record
 * of gateway.usage.v1, so a batch of units may be of both. Never throws.
 */
export function readEvents<Name extends Topic>(
  topic: Name,
  records: readonly ConsumedRecord[],
): ReadEvents<TopicRecords[Name]> {
  const found: ReadEvents<TopicRecords[Name]> = { events: [], dead: [] };
  for (const record of records) {
    const data = wholeData(record);
    if (data === null) {
      found.dead.push({ record, reason: 'not a CloudEvent of its topic', data });
      continue;
    }
    const fault = CHECKS[topic](data);
    if (fault === null) found.events.push({ record, data: data as unknown as TopicRecords[Name] });
    else
      found.dead.push({
        record,
        reason: reasonOf(fault),
        data,
        ...(fault.isUnknownValue ? { isUnknown: true } : {}),
      });
  }
  return found;
}

function reasonOf({ field, isUnknownValue }: RecordFault): string {
  return isUnknownValue
    ? `the value of the field ${field} is not known to this release`
    : `the field ${field} is not what the contract says`;
}

function accountCheck(): RecordCheck {
  const checkEvent = compileCheck(AccountEvent);
  const types = Object.keys(ACCOUNT_RECORDS) as AccountRecordType[];
  const checks = new Map<unknown, RecordCheck>(
    types.map((type) => [type, compileCheck(ACCOUNT_RECORDS[type])]),
  );
  return (value) => {
    const fault = checkEvent(value);
    if (fault !== null) return fault;
    const { type, data } = value as Fields;
    const inner = checks.get(type)?.(data) ?? null;
    return inner === null ? null : { ...inner, field: `data.${inner.field}` };
  };
}

function wholeData(record: ConsumedRecord): Fields | null {
  const data = dataOf(record);
  if (data === null || record.topic !== TOPIC.usageV2) return data;
  return wholeUsage(data as unknown as UsageRecordV2) as unknown as Fields;
}

function dataOf({ topic, value }: ConsumedRecord): Fields | null {
  let envelope: unknown;
  try {
    envelope = JSON.parse(value);
  } catch {
    return null; // Named by the caller: the record becomes a dead letter.
  }
  if (!isFields(envelope)) return null;
  const { specversion, type, data } = envelope;
  return specversion === '1.0' && type === topic && isFields(data) ? data : null;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
