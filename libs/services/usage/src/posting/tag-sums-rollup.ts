import { Inject, Injectable } from '@nestjs/common';
import { CLOCK } from '@gateway/platform';
import type { Clock } from '@gateway/contracts';
import { isStatementCanceled } from '../postgres/statement-canceled.js';
import { UsageDatabase } from '../postgres/usage-database.js';
import { INSERT_TAG_SUMS, SUM_TAGS } from './tag-sums.js';

/** Longest time of one pass: after an upgrade the whole history is added up. */
const ROUND_MS = 20_000;
/** Events of one account and day that one statement adds up: of a day that has more none are. */
const EVENTS_MAX = 250_000;
const AT_ONCE = 100;

interface Day {
  account_id: string;
  day: Date;
  changes: number;
}

interface Sums {
  names: string[];
  leftOut: string[] | null;
  rows: string;
}

const NOTHING: Sums = { names: [], leftOut: null, rows: '[]' };

/**
 * Adds days up by tag, from what is posted. Only days whose time is claimed (TagRollup): each event that comes later changes
 * the day's row in its own transaction. Sums are made without a lock, so that no posting waits for them, and written
 * where the day is still as it was before. A kill or a second process leaves a day whole or not at all.
 */
@Injectable()
export class TagSumsRollup {
  constructor(
    private readonly database: UsageDatabase,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** The newest days first, as far as a round's time allows. Answers how many days of accounts were added up. */
  async roll(): Promise<number> {
    const { clock } = this;
    const end = clock.monotonic() + ROUND_MS;
    let summed = 0;
    for (let due = await this.due(); due.length > 0; due = await this.due())
      for (const day of due) {
        if (clock.monotonic() >= end) return summed;
        if (await this.write(day, await this.sumsInTime(day))) summed += 1;
      }
    return summed;
  }

  private async due(): Promise<Day[]> {
    const { rows } = await this.database.pool.query<Day>(
      `SELECT account_id, day, changes FROM usage_tag_day
       WHERE summed IS DISTINCT FROM changes AND day + interval '24 hours' <= (SELECT tags_claimed_to FROM spend_window)
       ORDER BY day DESC LIMIT ${AT_ONCE}`,
    );
    return rows;
  }

  /** A day that takes longer than a statement may is read from its events: others must not wait behind it. */
  private async sumsInTime(day: Day): Promise<Sums> {
    try {
      return await this.sumsOf(day);
    } catch (failure) {
      if (!isStatementCanceled(failure)) throw failure;
      return NOTHING;
    }
  }

  private async sumsOf({ account_id, day }: Day): Promise<Sums> {
    const { pool } = this.database;
    const { rows: counted } = await pool.query<{ events: string }>(
      `SELECT count(*) AS events FROM (SELECT FROM usage_event
         WHERE account_id = $1 AND created_at >= $2 AND created_at < $2::timestamptz + interval '24 hours'
         LIMIT ${EVENTS_MAX + 1}) AS event`,
      [account_id, day],
    );
    if (Number(counted[0].events) > EVENTS_MAX) return NOTHING;
    const { rows } = await pool.query<Sums>(SUM_TAGS, [account_id, day]);
    return rows[0];
  }

  /** False where a posting or another process was faster. */
  private write({ account_id, day, changes }: Day, { names, leftOut, rows }: Sums): Promise<boolean> {
    return this.database.transaction(async (client) => {
      const { rowCount } = await client.query(
        `UPDATE usage_tag_day SET summed = changes, names = $4, left_out = $5
         WHERE account_id = $1 AND day = $2 AND changes = $3 AND summed IS DISTINCT FROM changes`,
        [account_id, day, changes, names, leftOut],
      );
      if (rowCount === 0) return false;
      await client.query('DELETE FROM usage_tag_sum WHERE account_id = $1 AND day = $2', [account_id, day]);
      await client.query(INSERT_TAG_SUMS, [account_id, day, rows]);
      return true;
    });
  }
}
