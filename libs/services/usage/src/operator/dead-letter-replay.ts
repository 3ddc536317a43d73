import type { Clock, ConsumedRecord } from '@gateway/contracts';
import { readBatch } from '../posting/read-batch.js';
import type { PostingStore } from '../posting/posting.store.js';
import type { Projections } from '../projection/projections.js';
import type { UsageDatabase } from '../postgres/usage-database.js';

/** A record that could not be applied, as an operator sees it. */
export interface DeadLetter {
  digest: string;
  topic: string;
  reason: string;
  account_id: string | null;
  created_at: Date;
  applied_at: Date | null;
  closed_at: Date | null;
  closed_reason: string | null;
}

interface Deps {
  database: UsageDatabase;
  store: PostingStore;
  projections: Projections;
  clock: Clock;
}

const LIST_MAX = 100;

/** The newest dead letters, at most 100; applied and closed ones too. */
export async function deadLetters({ pool }: UsageDatabase): Promise<DeadLetter[]> {
  const { rows } = await pool.query<DeadLetter>(
    `SELECT digest, topic, reason, account_id, created_at, applied_at, closed_at, closed_reason FROM dead_letter
     ORDER BY created_at DESC LIMIT $1`,
    [LIST_MAX],
  );
  return rows;
}

/**
 * Applies a dead letter after all, as it was or as `value` corrects it: its unit is billed once, whatever it is
 * applied again. The row stays, with the time. Throws Error where it is unknown, cannot be read, or PostgreSQL refuses.
 */
export async function applyDeadLetter(
  digest: string,
  value: string | null,
  { database, store, projections, clock }: Deps,
): Promise<{ isNew: boolean }> {
  const { rows } = await database.pool.query<
    Pick<ConsumedRecord, 'topic' | 'partition' | 'offset' | 'value'>
  >('SELECT topic, partition, "offset", value FROM dead_letter WHERE digest = $1', [digest]);
  const [letter] = rows;
  if (letter === undefined) throw new Error(`There is no dead letter ${digest}.`);
  const batch = readBatch([{ ...letter, key: '', value: value ?? letter.value }]);
  const [fault] = batch.unusable;
  if (fault !== undefined) throw new Error(`It cannot be applied: ${fault.reason}.`);
  const posted = await store.post([batch]);
  await projections.report(
    batch.usage.map(({ usage }) => usage),
    [],
    posted,
  );
  await database.pool.query('UPDATE dead_letter SET applied_at = $2 WHERE digest = $1', [
    digest,
    new Date(clock.now()),
  ]);
  return { isNew: posted.fresh.length > 0 || batch.rejections.length > 0 };
}

/**
 * Closes a dead letter that holds nothing to bill: it is no difference of the books any more. The row stays, with the
 * time and the reason, and it may still be applied. Throws Error where it is unknown, or applied or closed already.
 */
export async function closeDeadLetter(
  digest: string,
  reason: string,
  { database, clock }: Pick<Deps, 'database' | 'clock'>,
): Promise<void> {
  const { rowCount } = await database.pool.query(
    `UPDATE dead_letter SET closed_at = $2, closed_reason = $3
     WHERE digest = $1 AND applied_at IS NULL AND closed_at IS NULL`,
    [digest, new Date(clock.now()), reason],
  );
  if (rowCount === 0) throw new Error(`There is no open dead letter ${digest}.`);
}
