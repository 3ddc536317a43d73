import { Inject, Injectable } from '@nestjs/common';
import type { Clock } from '@gateway/contracts';
import { CLOCK } from '@gateway/platform';
import { UsageDatabase } from '../postgres/usage-database.js';
import { silentProducers } from './silent-producers.js';

/** Processes whose journals may hold records that nobody else has: one that falls silent may be lost with them. */
@Injectable()
export class LivingProducers {
  constructor(
    private readonly database: UsageDatabase,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Notes that the epoch was heard of, or forgets it once it has ended. */
  async heard(producer: string, epoch: string, isEnded: boolean): Promise<void> {
    if (isEnded)
      await this.database.pool.query('DELETE FROM living_producer WHERE producer = $1 AND epoch = $2', [
        producer,
        epoch,
      ]);
    else
      await this.database.pool.query(
        `INSERT INTO living_producer (producer, epoch, heard_at) VALUES ($1, $2, $3)
         ON CONFLICT (producer, epoch) DO UPDATE SET heard_at = excluded.heard_at`,
        [producer, epoch, new Date(this.clock.now())],
      );
  }

  /** Returns the number of those that fell silent. */
  async silent(): Promise<number> {
    return (await silentProducers(this.database.pool, this.clock)).length;
  }
}
