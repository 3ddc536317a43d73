import { uuidv7, type Clock, type Random } from '@gateway/contracts';
import type { UsageDatabase } from '../postgres/usage-database.js';

/** Numbers that are missing below the newest applied one; both ends count. */
export interface MissingRange {
  first: string;
  last: string;
}

interface Epoch {
  producer: string;
  epoch: string;
  /** Numbers up to here are missing as well: of a producer that is gone, what its journal is known to have held. */
  through?: number;
}

/** The gaps of one producer's epoch. Nothing is changed. */
export async function missingRanges(
  { producer, epoch, through = 0 }: Epoch,
  { pool }: UsageDatabase,
): Promise<MissingRange[]> {
  const { rows } = await pool.query<MissingRange>(
    `SELECT lower(r)::text AS first, (upper(r) - 1)::text AS last
     FROM (SELECT coalesce((SELECT applied FROM producer WHERE producer = $1 AND epoch = $2), '{}') AS applied) AS p,
       LATERAL unnest(int8multirange(int8range(1, greatest(coalesce(upper(applied), 1), $3::bigint + 1))) - applied) AS r`,
    [producer, epoch, through],
  );
  return rows;
}

/**
 * Gives the gaps of a producer's epoch up: the numbers count as applied, so that the watermark passes them and its
 * journal can go. Each range is kept with its reason. A record of them that comes after all is applied all the same: an
 * event is known by its unit and not by its number.
 */
export async function giveUp(
  epoch: Epoch & { reason: string },
  { database, clock, random }: { database: UsageDatabase; clock: Clock; random: Random },
): Promise<MissingRange[]> {
  const ranges = await missingRanges(epoch, database);
  await database.transaction(async (client) => {
    for (const { first, last } of ranges) {
      await client.query(
        `INSERT INTO producer AS p (producer, epoch, applied, rowless)
         SELECT $1, $2, lost, lost FROM int8multirange(int8range($3::bigint, $4::bigint, '[]')) AS lost
         ON CONFLICT (producer, epoch) DO UPDATE
           SET applied = p.applied + excluded.applied, rowless = p.rowless + excluded.rowless, updated_at = now()`,
        [epoch.producer, epoch.epoch, first, last],
      );
      await client.query(
        `INSERT INTO lost_range (id, producer, epoch, first_seq, last_seq, reason, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7)`,
        [
          uuidv7(clock, random),
          epoch.producer,
          epoch.epoch,
          first,
          last,
          epoch.reason,
          new Date(clock.now()),
        ],
      );
    }
  });
  return ranges;
}
