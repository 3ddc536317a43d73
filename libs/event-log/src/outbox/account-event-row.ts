import {
  newId,
  TOPIC,
  type AccountEvent,
  type Clock,
  type NewAccountEvent,
  type Random,
} from '@gateway/contracts';
import { outboxRow, type OutboxRow } from './outbox-row.js';

/** An account event or movement as a row of a service's outbox. */
export function accountEventRow(
  event: NewAccountEvent,
  source: string,
  sources: { clock: Clock; random: Random },
): OutboxRow {
  const id = newId('evt', sources.clock, sources.random);
  const created_at = new Date(sources.clock.now()).toISOString();
  const data: AccountEvent = { ...event, id, created_at };
  return outboxRow({ topic: TOPIC.account, key: event.account_id, source, id, data }, sources);
}
