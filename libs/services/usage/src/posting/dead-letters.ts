import { createHash } from 'node:crypto';
import { deadLetterTopic, type Clock, type Random } from '@gateway/contracts';
import { deadLetter, outboxRow } from '@gateway/event-log';
import type pg from 'pg';
import { insertOutbox } from '../postgres/outbox-rows.js';
import type { UnusableRecord } from './read-batch.js';

/** Notes records that cannot be applied and sends each, once, to its dead-letter topic. */
export async function insertDeadLetters(
  client: pg.PoolClient,
  records: readonly UnusableRecord[],
  deps: { clock: Clock; random: Random },
): Promise<void> {
  const createdAt = new Date(deps.clock.now());
  // In key order: two batches that hold the same records must wait for each other, not in a ring.
  const byDigest = records
    .map((unusable) => ({ ...unusable, digest: digestOf(unusable.record) }))
    .toSorted((a, b) => (a.digest < b.digest ? -1 : 1));
  for (const { record, reason, accountId, unit, digest } of byDigest) {
    const { rowCount } = await client.query(
      `INSERT INTO dead_letter
        (digest, topic, partition, "offset", account_id, request_id, unit, reason, value, created_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (digest) DO NOTHING`,
      [
        digest,
        record.topic,
        record.partition,
        record.offset,
        withoutNul(accountId),
        withoutNul(unit?.requestId ?? null),
        unit?.unit ?? null,
        withoutNul(reason),
        withoutNul(record.value),
        createdAt,
      ],
    );
    if (rowCount === 0) continue;
    const data = deadLetter({ record, reason }, 'usage');
    const topic = deadLetterTopic(record.topic);
    await insertOutbox(client, [
      outboxRow({ topic, key: record.key, source: '/usage', id: digest, data }, deps),
    ]);
  }
}

function digestOf({ topic, value }: UnusableRecord['record']): string {
  return createHash('sha256').update(`${topic}\n${value}`).digest('hex');
}

function withoutNul(text: string | null): string | null {
  return text === null ? null : text.replaceAll('\0', '\uFFFD');
}
