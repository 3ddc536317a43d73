import type { Clock, NewAccountEvent, Random } from '@gateway/contracts';
import { accountEventRow } from '@gateway/event-log';
import type pg from 'pg';

/** Inserts the event in the transaction of what it reports. */
export async function insertAccountEvent(
  client: Pick<pg.ClientBase, 'query'>,
  event: NewAccountEvent,
  sources: { clock: Clock; random: Random },
): Promise<void> {
  const { id, topic, key, value, created_at } = accountEventRow(event, '/workers', sources);
  await client.query('INSERT INTO outbox (id, topic, key, value, created_at) VALUES ($1, $2, $3, $4, $5)', [
    id,
    topic,
    key,
    value,
    created_at,
  ]);
}
