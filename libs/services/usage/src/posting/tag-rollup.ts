import { Inject, Injectable } from '@nestjs/common';
import { CLOCK } from '@gateway/platform';
import type { Clock } from '@gateway/contracts';
import { UsageDatabase } from '../postgres/usage-database.js';
import { noteTagsSql } from './slot-tags.js';
import { SLOT_MS } from './sums.js';

/** Most records of a quarter of an hour have come by then; postings note the tags of what comes later. */
const SETTLED_MS = 1_800_000;
/** Longest time of one pass: after an upgrade the whole history is read. */
const ROUND_MS = 20_000;
/** Events that one statement reads, about: a second's work. */
const PORTION = 50_000;
const NOTE_TAGS = noteTagsSql('created_at >= $1 AND created_at < $2');

interface Noted {
  from: Date;
  to: Date;
  claimedTo: Date;
}

/**
 * Notes which tags the events of a quarter of an hour carry. It follows what is posted, and goes backwards through what
 * was there before. Time is claimed first, which waits for the postings under way: each event is seen by the round or
 * noted by its posting, or by both, and what a kill leaves undone is done again.
 */
@Injectable()
export class TagRollup {
  /** Start of the history when this process first looked: earlier events are noted by their posting. */
  private first: Date | null = null;

  constructor(
    private readonly database: UsageDatabase,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /**
   * Notes tags up to half an hour ago, as far as a pass's time allows. Answers how many quarters of an hour were noted.
   */
  async roll(): Promise<number> {
    const { clock } = this;
    const end = clock.monotonic() + ROUND_MS;
    const { from, to, claimedTo } = await this.claim(
      new Date(Math.floor((clock.now() - SETTLED_MS) / SLOT_MS) * SLOT_MS),
    );
    this.first ??= await this.firstQuarterHour();
    const later = await this.noteUntil(end, 'tags_to', to, claimedTo);
    const earlier = await this.noteUntil(end, 'tags_from', from, this.first ?? from);
    return later + earlier;
  }

  private async claim(target: Date): Promise<Noted> {
    const { pool } = this.database;
    await pool.query('UPDATE spend_window SET tags_claimed_to = $1 WHERE tags_claimed_to < $1', [target]);
    const { rows } = await pool.query<Noted>(
      'SELECT tags_from AS "from", tags_to AS "to", tags_claimed_to AS "claimedTo" FROM spend_window',
    );
    return rows[0];
  }

  /** Days hold all slots but the newest. */
  private async firstQuarterHour(): Promise<Date | null> {
    const { rows } = await this.database.pool.query<{ first: Date | null }>(
      'SELECT least((SELECT min(slot) FROM usage_day), (SELECT min(slot) FROM usage_slot, spend_window WHERE slot >= days_to)) AS first',
    );
    return rows[0].first;
  }

  /**
   * One after the other, later or earlier ones. How far it came is written once, because postings hold the row, and not where
   * another process has gone further.
   */
  private async noteUntil(
    end: number,
    column: 'tags_from' | 'tags_to',
    from: Date,
    to: Date,
  ): Promise<number> {
    const { clock, database } = this;
    const [isLater, start] = [column === 'tags_to', from.getTime()];
    const count = (isLater ? 1 : -1) * ((to.getTime() - start) / SLOT_MS);
    let noted = 0;
    try {
      for (; noted < count && clock.monotonic() < end; noted += 1)
        await this.note(new Date(start + (isLater ? noted : -noted - 1) * SLOT_MS));
    } finally {
      const reached = new Date(start + (isLater ? noted : -noted) * SLOT_MS);
      if (noted > 0)
        await database.pool.query(`UPDATE spend_window SET ${column} = $2 WHERE ${column} = $1`, [
          from,
          reached,
        ]);
    }
    return noted;
  }

  private async note(slot: Date): Promise<void> {
    const { pool } = this.database;
    const { rows } = await pool.query<{ requests: string }>(
      'SELECT coalesce(sum(requests), 0)::text AS requests FROM usage_slot WHERE slot = $1',
      [slot],
    );
    const portions = Math.ceil((Number(rows[0].requests) + 1) / PORTION);
    for (let n = 0; n < portions; n += 1)
      await pool.query(
        NOTE_TAGS,
        [n, n + 1].map((at) => new Date(slot.getTime() + Math.round((at * SLOT_MS) / portions))),
      );
  }
}
