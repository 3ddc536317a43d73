import type pg from 'pg';

/**
 * Runs statements on one connection between BEGIN and COMMIT; any failure rolls back and is thrown on. A connection that is
 * lost meanwhile is not given back to the pool, and its loss hides no failure: pg reports it as an event, which without a
 * listener would end the process.
 */
export async function inTransaction<T>(
  pool: pg.Pool,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
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
