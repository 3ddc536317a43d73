import type { Pool } from 'pg';

/** Times that PostgreSQL may choose the statement as the victim of a deadlock with a job of the service. */
const MOST_TRIES = 10;

/** Runs a statement that triggers would refuse. The change of the setting ends with the statement's transaction. */
export async function withoutTriggers(pool: Pool, sql: string): Promise<void> {
  await pool.query(`SET LOCAL session_replication_role = replica; ${sql}`);
}

/**
 * Empties tables of a service that runs.
 *
 * TRUNCATE locks the tables one after the other, and a job may read them in another order:
 * where PostgreSQL ends this side of a deadlock, it is asked again.
 */
export async function emptyTables(pool: Pool, names: string): Promise<void> {
  for (let tries = 1; ; tries += 1)
    try {
      return await withoutTriggers(pool, `TRUNCATE ${names}`);
    } catch (error) {
      const isDeadlock = (error as { code?: string }).code === '40P01';
      if (!isDeadlock || tries === MOST_TRIES) throw error;
    }
}
