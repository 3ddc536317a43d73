import type { OutboxRow } from '@gateway/event-log';
import type pg from 'pg';
import { arrayLiteral } from './array-literal.js';

/** Events that leave once the transaction has committed. */
export async function insertOutbox(client: pg.PoolClient, rows: readonly OutboxRow[]): Promise<void> {
  if (rows.length === 0) return;
  await client.query({
    name: 'insert-outbox',
    text: `INSERT INTO outbox (id, topic, key, value, created_at)
      SELECT * FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::timestamptz[])`,
    values: [
      arrayLiteral(rows.map(({ id }) => id)),
      arrayLiteral(rows.map(({ topic }) => topic)),
      arrayLiteral(rows.map(({ key }) => key)),
      arrayLiteral(rows.map(({ value }) => value)),
      arrayLiteral(rows.map(({ created_at }) => created_at.toISOString())),
    ],
  });
}
