import { newId, TOPIC, type AccountEvent, type Clock, type Random } from '@gateway/contracts';
import { outboxRow } from '@gateway/event-log';
import type { Tx } from '../postgres/keys-database.js';

const SOURCE = '/keys';

/**
 * Writes an account event into the outbox, in the transaction of the change it tells of and after the account's row is
 * locked, so that the events of an account keep the order of its changes.
 */
export async function addAccountEvent(
  tx: Tx,
  event: Omit<AccountEvent, 'id' | 'created_at'>,
  sources: { clock: Clock; random: Random },
): Promise<void> {
  const id = newId('evt', sources.clock, sources.random);
  const data: AccountEvent = { ...event, id, created_at: new Date(sources.clock.now()).toISOString() };
  const row = outboxRow({ topic: TOPIC.account, key: event.account_id, source: SOURCE, id, data }, sources);
  await tx.outbox.create({ data: row });
}
