import type { Clock, NewAccountEvent, Random } from '@gateway/contracts';
import { accountEventRow } from '@gateway/event-log';
import type { Tx } from '../postgres/keys-database.js';

const SOURCE = '/keys';

/**
 * Writes an account event into the outbox, in the transaction of the change that it reports. The account's row is locked
 * before, so that the events of an account keep the order of its changes.
 */
export async function addAccountEvent(
  tx: Tx,
  event: NewAccountEvent,
  sources: { clock: Clock; random: Random },
): Promise<void> {
  await tx.outbox.create({ data: accountEventRow(event, SOURCE, sources) });
}
