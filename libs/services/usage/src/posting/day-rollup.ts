import { Inject, Injectable } from '@nestjs/common';
import { CLOCK } from '@gateway/platform';
import type { Clock } from '@gateway/contracts';
import type pg from 'pg';
import { UsageDatabase } from '../postgres/usage-database.js';
import { addUpSql, HOUR_MS, SLOT_MS } from './sums.js';

/** Most records of a quarter of an hour have come by then; what comes later is added to hour and day as it is posted. */
const SETTLED_MS = 1_800_000;
/** Longest time of one pass: after an upgrade the whole history is added up. */
const ROUND_MS = 20_000;

/**
 * Adds quarters of an hour up to hours and days of UTC, one after the other, and hours backwards through what was there
 * before them. A posting holds `days_to` and `hours_from` still. It adds what lies between them to slot, hour and day
 * alike, so each unit is in each once.
 */
@Injectable()
export class DayRollup {
  constructor(
    private readonly database: UsageDatabase,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Adds up to half an hour ago, as far as a pass's time allows. Answers how many slots of time were added. */
  async roll(): Promise<number> {
    const { clock, database } = this;
    const end = clock.monotonic() + ROUND_MS;
    const target = clock.now() - SETTLED_MS;
    let rolled = 0;
    while (
      clock.monotonic() < end &&
      (await database.transaction((client) => rollQuarterHour(client, target)))
    )
      rolled += 1;
    while (clock.monotonic() < end && (await database.transaction(rollHoursBack)));
    return rolled;
  }
}

/** False where all is added up. Short, because postings wait. */
async function rollQuarterHour(client: pg.PoolClient, targetMs: number): Promise<boolean> {
  const { rows } = await client.query<{ days_to: Date }>('SELECT days_to FROM spend_window FOR UPDATE');
  const from = rows[0].days_to.getTime();
  const to = from + SLOT_MS;
  if (to > targetMs) return false;
  const span = [new Date(from), new Date(to)];
  await client.query(addUpSql('day', 'slot >= $1 AND slot < $2'), span);
  const known = 'slot >= greatest($1, (SELECT hours_from FROM spend_window))';
  await client.query(addUpSql('hour', `${known} AND slot < $2`), span);
  await client.query('UPDATE spend_window SET days_to = $1', [span[1]]);
  return true;
}

/** One hour that has slots, or false where there is none before those that are added up. */
async function rollHoursBack(client: pg.PoolClient): Promise<boolean> {
  const { rows } = await client.query<{ last: Date | null }>(
    `SELECT (SELECT max(slot) FROM usage_slot WHERE slot < least(hours_from, days_to)) AS last
     FROM spend_window FOR UPDATE`,
  );
  const [{ last }] = rows;
  if (last === null) return false;
  const from = new Date(Math.floor(last.getTime() / HOUR_MS) * HOUR_MS);
  const known = 'slot < (SELECT least(hours_from, days_to) FROM spend_window)';
  await client.query(addUpSql('hour', `slot >= $1 AND ${known}`), [from]);
  await client.query('UPDATE spend_window SET hours_from = $1', [from]);
  return true;
}
