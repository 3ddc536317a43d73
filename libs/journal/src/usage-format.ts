import { compactEnd, compactFacts } from '@gateway/contracts/compact-usage';
import {
  recordJson,
  type CrashRecord,
  type IntentFacts,
  type JournalTopic,
  type UsageRest,
} from './records.js';

/** The way in which a journal writes usage records: JSON of the facts, and of the rest, which go on in one object. */
export interface UsageFormat {
  topic: JournalTopic;
  facts: (facts: IntentFacts) => string;
  rest: (rest: UsageRest, facts: IntentFacts) => string;
  whole: (value: CrashRecord) => string[];
}

/** Version of the usage topic that a journal writes. It reads and ships both, whichever release wrote them. */
export type UsageTopicVersion = 1 | 2;

const V1: UsageFormat = {
  topic: 'gateway.usage.v1',
  facts: recordJson,
  rest: recordJson,
  whole: (value) => [recordJson(value)],
};

const V2: UsageFormat = {
  topic: 'gateway.usage.v2',
  facts: (facts) => recordJson(compactFacts(facts)),
  rest: (rest, facts) => recordJson(compactEnd(rest, facts)),
  whole: (value) => [recordJson(compactFacts(value)), recordJson(compactEnd(value, value))],
};

export const USAGE_FORMATS: Readonly<Record<UsageTopicVersion, UsageFormat>> = { 1: V1, 2: V2 };
