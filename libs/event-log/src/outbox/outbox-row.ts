import { uuidv7, type Clock, type CloudEvent, type Random } from '@gateway/contracts';

/**
 * One event to be sent once its transaction has committed:
 *
 *     CREATE TABLE outbox (
 *       id uuid PRIMARY KEY,               -- rises with each row of a process; the relay's order
 *       topic text NOT NULL,
 *       key text NOT NULL,                 -- the account
 *       value text NOT NULL,               -- CloudEvents 1.0 JSON
 *       created_at timestamptz(3) NOT NULL,
 *       sent_at timestamptz(3)             -- not used: the relay deletes what the event log keeps
 *     );
 *
 * Insert it in the transaction of the change, after the account's row is locked: then the ids of one account rise in
 * the order of its changes. Between replicas they rise as far as their clocks agree.
 */
export interface OutboxRow {
  id: string;
  topic: string;
  key: string;
  value: string;
  created_at: Date;
}

export interface OutboxEvent<Data> {
  topic: string;
  /** The account. */
  key: string;
  /** Source of the event, for example "/keys". */
  source: string;
  /** Unique with `source`; a repeat of the same event has the same one. */
  id: string;
  data: Data;
}

/** A broker takes a million bytes; a row that no broker takes would stop those behind it for ever. */
const VALUE_CHARS_MAX = 250_000;
const COUNTER_MAX = 0xfff;

let last = { ms: 0, count: 0 };

/** @throws Error where the event is too large to be appended. */
export function outboxRow<Data>(
  event: OutboxEvent<Data>,
  { clock, random }: { clock: Clock; random: Random },
): OutboxRow {
  return outboxRowOf(event, risingId(clock, random), new Date(clock.now()));
}

/** The same under an id that the caller has. */
export function outboxRowOf<Data>(event: OutboxEvent<Data>, rowId: string, createdAt: Date): OutboxRow {
  const { topic, key, source, id, data } = event;
  const envelope: CloudEvent<Data> = {
    specversion: '1.0',
    id,
    source,
    type: topic,
    time: createdAt.toISOString(),
    datacontenttype: 'application/json',
    data,
  };
  const value = JSON.stringify(envelope);
  if (value.length > VALUE_CHARS_MAX)
    throw new Error(`Event ${id} of ${topic} has ${value.length} characters.`);
  return { id: rowId, topic, key, value, created_at: createdAt };
}

/** A UUID of version 7 whose 12 bits after the time count within it (RFC 9562, 6.2): no two of a process tie. */
function risingId(clock: Clock, random: Random): string {
  const now = clock.now();
  if (now > last.ms) last = { ms: now, count: 0 };
  else if (last.count < COUNTER_MAX) last = { ms: last.ms, count: last.count + 1 };
  else last = { ms: last.ms + 1, count: 0 };
  const { ms, count } = last;
  const id = uuidv7({ ...frozen, now: () => ms }, random);
  return `${id.slice(0, 15)}${count.toString(16).padStart(3, '0')}${id.slice(18)}`;
}

const frozen: Omit<Clock, 'now'> = {
  monotonic: () => 0,
  setTimer: () => ({ cancel: () => undefined }),
  sleep: () => Promise.resolve(),
};
