import { toUSVString } from 'node:util';
import type {
  PutUnit,
  RejectionRecord,
  UsageEnd,
  UsageFacts,
  UsageRecord,
  UsageStamps,
} from '@gateway/contracts';
import { wholeFacts } from '@gateway/contracts/compact-usage';

/**
 * Values that may be journaled and shipped, by topic, before the journal stamps them. No type here can hold a prompt.
 */
export interface OutcomeValues {
  'gateway.usage.v1': Omit<UsageRecord, UsageStamps>;
  'gateway.rejections.v1': Omit<RejectionRecord, UsageStamps>;
}

/** Topic of a frame. A usage record is on the one of the format in which it was written. */
export type JournalTopic = keyof OutcomeValues | 'gateway.usage.v2';

/** The record that closes a unit whose process died: status `error`, code `gateway_crash`, cost null. */
export type CrashRecord = OutcomeValues['gateway.usage.v1'];

/** Facts known at admission that a crash record needs. */
export type IntentFacts = UsageFacts;

/** Members of a usage record beyond its INTENT. */
export type UsageRest = UsageEnd;

/** A unit that was admitted. Closed by the usage outcome of the same request id and unit number. */
export interface Intent {
  /** `<request_id>/<n>`, as admission knows it. */
  unit: string;
  accountId: string;
  facts: IntentFacts;
}

/** Facts with which LimitStore.put settles the unit, also after a restart. `nano` is a decimal string of nano-USD. */
export type SettleFacts = ProviderSettle & {
  /** The same of what the platform owes providers with budgets; absent = none has any. */
  providers?: ProviderSettle[];
};

/** Settlement of a unit on one account. */
export type ProviderSettle = Omit<PutUnit, 'action' | 'nano' | 'leaseMs'> & { nano: string };

/** An outcome that is on the disk and may be settled. */
export interface SyncedOutcome {
  producer: string;
  epoch: string;
  seq: number;
  topic: JournalTopic;
  /** Account: the partition key. */
  key: string;
  settle: SettleFacts | null;
}

/** A frame that ships, without its value. */
export interface OutcomeHead {
  seq: number;
  topic: JournalTopic;
  key: string;
  /** Wall time of the write, milliseconds since the epoch. For the envelope only: no rule depends on it. */
  at: number;
  /** The unit it closes; null for a rejection. */
  unit: string | null;
  /** True where it closes a unit of a process that died. */
  isCrash: boolean;
  /** W3C trace context of the unit's request. */
  traceparent?: string;
  /** Written last: the shipper reads a head only up to here. */
  settle: SettleFacts | null;
}

/** Members of an outcome that the shipper needs; `value` is JSON text with its stamps. */
export type ShippedOutcome = Pick<OutcomeHead, 'seq' | 'topic' | 'key' | 'at' | 'traceparent'> & {
  value: string;
};

export type JournalFrame =
  /** Begin of a segment. */
  | { kind: 'begin'; version: number }
  | { kind: 'intent'; intent: Intent }
  /** `value` is JSON text with its stamps. */
  | { kind: 'outcome'; head: OutcomeHead; value: string };

/** Versions of segments: in those of 2, usage records and the facts of INTENTs are compact. This release reads both. */
const VERSIONS: readonly unknown[] = [1, 2];

/** A segment was written by a release whose frames this one does not know. Nothing of it is changed. */
export class JournalVersionError extends Error {
  /** An operator mends it: with a code a start prints the sentence alone, without a stack. */
  readonly code = 'JOURNAL_VERSION';

  constructor(version: unknown) {
    super(
      `A segment of the journal has version ${String(version)}, and this release reads versions ${VERSIONS.join(' and ')}. ` +
        'Start the release that wrote it, or a later one, on this folder until it is empty.',
    );
    this.name = 'JournalVersionError';
  }
}

const INTENT_START = '{"intent":';
const OUTCOME_START = '{"outcome":';
const SETTLE_START = ',"settle":';
const VALUE_START = ',"value":';

/** Escapes of JSON that PostgreSQL refuses: NUL, and surrogates without a partner. */
const UNSTORABLE = /\\u(?:0000|d[89a-f])/;

/**
 * JSON of what goes into a record. Any caller and any upstream may send NUL or half a surrogate pair: a record that holds
 * one could never be applied, so each becomes U+FFFD here, where every text passes.
 */
export function recordJson(value: object): string {
  const json = JSON.stringify(value);
  // Hardly any has an escape of this kind: to look for two characters costs nothing beside the pattern.
  return json.includes('\\u') && UNSTORABLE.test(json) ? JSON.stringify(storable(value)) : json;
}

function storable(value: unknown): unknown {
  if (typeof value === 'string') return toUSVString(value).replaceAll('\0', '\uFFFD');
  if (Array.isArray(value)) return value.map(storable);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, of]) => [storable(name), storable(of)]));
}

/**
 * Returns the text of a segment's first frame. It has the form of an outcome with the number 0, which releases before it pass
 * over: they look for numbers behind the last one. A segment without it is of version 1.
 */
export function beginJson(version: number): string {
  const head: OutcomeHead = {
    ...{ seq: 0, topic: 'gateway.usage.v1', key: '', at: 0, unit: null, isCrash: false },
    settle: null,
  };
  return [OUTCOME_START, JSON.stringify(head), VALUE_START, JSON.stringify({ version }), '}'].join('');
}

/** Returns the text of an INTENT in pieces. */
export function intentJson({ unit, accountId }: Intent, facts: string): string[] {
  const head = `"unit":${JSON.stringify(unit)},"accountId":${JSON.stringify(accountId)}`;
  return [`${INTENT_START}{${head},"facts":`, facts, '}}'];
}

/**
 * Returns the text of an outcome in pieces. The value, JSON of one or two objects that share no member, comes last. It is
 * spliced as text: shipping neither parses nor serialises it.
 */
export function outcomeJson(
  head: OutcomeHead,
  value: readonly string[],
  stamp: { producer: string; epoch: string },
): string[] {
  const { seq, topic, key, at, unit, isCrash, traceparent, settle } = head;
  const headJson = JSON.stringify({ seq, topic, key, at, unit, isCrash, traceparent, settle });
  const pieces = [OUTCOME_START, headJson, VALUE_START];
  for (const object of value) {
    if (object === '{}') continue;
    // Each object goes on where the one before it has ended.
    pieces.push(pieces.length === 3 ? object.slice(0, -1) : object.slice(1, -1), ',');
  }
  const start = pieces.length === 3 ? '{' : '';
  pieces.push(
    `${start}"producer":${JSON.stringify(stamp.producer)},"epoch":${JSON.stringify(stamp.epoch)},"seq":${seq}}}`,
  );
  return pieces;
}

/** True for an outcome's bytes: an intent need not be parsed where only outcomes matter. */
export function isOutcome(json: Buffer): boolean {
  return json[2] === OUTCOME_START.charCodeAt(2);
}

/**
 * Reads what this lib wrote; the checksum has vouched for the bytes. Throws JournalVersionError at the begin of a segment of
 * another release's version, and SyntaxError for anything else.
 */
export function parseFrame(json: Buffer): JournalFrame {
  const text = json.toString('utf8');
  if (text.startsWith(INTENT_START)) {
    const { intent } = JSON.parse(text) as { intent: Intent };
    return { kind: 'intent', intent: { ...intent, facts: wholeFacts(intent.facts) } };
  }
  // No string can hold this text, because a quote inside a string is escaped; the head has no such key.
  const split = text.indexOf(VALUE_START);
  if (!text.startsWith(OUTCOME_START) || split < 0) throw new SyntaxError('Not a journal frame.');
  const head = JSON.parse(text.slice(OUTCOME_START.length, split)) as OutcomeHead;
  const value = text.slice(split + VALUE_START.length, -1);
  if (head.seq > 0) return { kind: 'outcome', head, value };
  const { version } = JSON.parse(value) as { version: number };
  if (!VERSIONS.includes(version)) throw new JournalVersionError(version);
  return { kind: 'begin', version };
}

/** Parses an outcome as parseFrame does, without the members for the settle, which are most of a head. */
export function parseShipped(json: Buffer): ShippedOutcome {
  const text = json.toString('utf8');
  const head = text.slice(OUTCOME_START.length, text.indexOf(SETTLE_START));
  const { seq, topic, key, at, traceparent } = JSON.parse(`${head}}`) as OutcomeHead;
  return {
    seq,
    topic,
    key,
    at,
    traceparent,
    value: text.slice(text.indexOf(VALUE_START) + VALUE_START.length, -1),
  };
}

/** `<request_id>/<n>`. */
export function unitOf(record: { request_id: string; unit: number }): string {
  return `${record.request_id}/${record.unit}`;
}
