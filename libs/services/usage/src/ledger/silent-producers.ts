import type { Clock } from '@gateway/contracts';
import type pg from 'pg';

/** Ten announcements of a process that lives. */
const SILENT_MS = 600_000;
const SILENT_MAX = 1_000;

/** A process that did not end with all its records sent, and that nobody hears of. */
export interface SilentProducer {
  producer: string;
  epoch: string;
  heard_at: Date;
}

/** Returns the silent producers, at most 1,000. */
export async function silentProducers(
  database: Pick<pg.Pool, 'query'>,
  clock: Clock,
): Promise<SilentProducer[]> {
  const { rows } = await database.query<SilentProducer>(
    `SELECT producer, epoch, heard_at FROM living_producer WHERE heard_at < $1 ORDER BY producer, epoch LIMIT ${SILENT_MAX}`,
    [new Date(clock.now() - SILENT_MS)],
  );
  return rows;
}

/** Forgets these, once an operator has looked after what they lost. One that lives after all is noted again. */
export async function forgetProducers(
  database: Pick<pg.Pool, 'query'>,
  silent: readonly SilentProducer[],
): Promise<void> {
  await database.query(
    `DELETE FROM living_producer AS l USING unnest($1::text[], $2::text[], $3::timestamptz[]) AS s(producer, epoch, heard_at)
     WHERE l.producer = s.producer AND l.epoch = s.epoch AND l.heard_at <= s.heard_at`,
    [
      silent.map(({ producer }) => producer),
      silent.map(({ epoch }) => epoch),
      silent.map(({ heard_at }) => heard_at),
    ],
  );
}
