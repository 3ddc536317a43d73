import type pg from 'pg';

/**
 * Runs statements on one connection between BEGIN and COMMIT; any failure rolls back and is thrown on. A connection that is
 * lost meanwhile is not given back to the pool, and its loss hides no failure: pg reports it as an event, which without a
 * listener would end the process.
 */
export async function inTransaction<T>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<T>,
  { mayRepeat = false }: Repeating = {},
): Promise<T> {
  for (let repeats = 0; ; repeats += 1) {
    try {
      return await tried(pool, work);
    } catch (failure) {
      const isConflict = CONFLICTS.has((failure as { code?: unknown }).code);
      if (!mayRepeat || !isConflict || repeats === REPEATS_MAX) throw failure;
    }
  }
}

export interface Repeating {
  /** It is run again where PostgreSQL has it give way to another one: what it does and reads, it can do and read again. */
  mayRepeat?: boolean;
}

/**
 * Number of repeats. One is not enough: the transaction may lock a row again before the waiting one wakes up, and both
 * deadlock anew. Each repeat costs deadlock_timeout, a second.
 */
const REPEATS_MAX = 3;

/** serialization_failure, deadlock_detected: nothing of it was done. */
const CONFLICTS: ReadonlySet<unknown> = new Set(['40001', '40P01']);

async function tried<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  const note = (error: Error): void => void (broken = error);
  client.on('error', note);
  try {
    await client.query('BEGIN');
    const result = await work(client);
    await client.query('COMMIT');
    return result;
  } catch (failure) {
    await client.query('ROLLBACK').catch(note);
    throw failure;
  } finally {
    client.off('error', note);
    client.release(broken);
  }
}
