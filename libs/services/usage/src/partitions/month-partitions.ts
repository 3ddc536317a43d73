import { Inject, Injectable } from '@nestjs/common';
import type { Clock } from '@gateway/contracts';
import { CLOCK } from '@gateway/platform';
import { UsageDatabase } from '../postgres/usage-database.js';
import { monthAfter, type Month } from './month.js';
import {
  DEFAULT_PARTITION,
  isPartitioned,
  literal,
  LOCK_MS,
  newTableSql,
  TAKE_TURN,
} from './partition-sql.js';

/** Months that are there before they begin. */
const AHEAD = 2;

/** Partitions of usage_event by month of request_id, made ahead. Nothing where events are one table. */
@Injectable()
export class MonthPartitions {
  constructor(
    private readonly database: UsageDatabase,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Makes what is missing of this month and the next ones, each in its own transaction. Returns their names. */
  async advance(): Promise<string[]> {
    if (!(await isPartitioned(this.database.pool))) return [];
    const made: string[] = [];
    for (let ahead = 0; ahead <= AHEAD; ahead++) {
      const month = monthAfter(this.clock.now(), ahead);
      if (await this.make(month)) made.push(month.name);
    }
    return made;
  }

  /**
   * Events of the month are moved out of the default partition: clocks were ahead, or no process made the month in time. The
   * default partition is locked meanwhile, so that reads wait; the parent is not.
   */
  private make({ name, from, to }: Month): Promise<boolean> {
    const table = `usage_event_${name}`;
    return this.database.transaction(async (client) => {
      await client.query(`SET LOCAL lock_timeout = ${LOCK_MS}`);
      await client.query(TAKE_TURN);
      const { rowCount } = await client.query(PARTITION_OF, [from]);
      if (rowCount !== 0) return false;
      for (const sql of await newTableSql(table, client)) await client.query(sql);
      await client.query(`LOCK TABLE ${DEFAULT_PARTITION} IN ACCESS EXCLUSIVE MODE`);
      await client.query(
        `WITH moved AS (DELETE FROM ${DEFAULT_PARTITION} WHERE request_id >= $1 AND request_id < $2 RETURNING *)
         INSERT INTO "${table}" SELECT * FROM moved`,
        [from, to],
      );
      await client.query(
        `ALTER TABLE usage_event ATTACH PARTITION "${table}" FOR VALUES FROM (${literal(from)}) TO (${literal(to)})`,
      );
      return true;
    });
  }
}

/** The partition of an id, but for the default one. Bounds are texts as PostgreSQL prints them. */
const PARTITION_OF = `
SELECT FROM (
  SELECT regexp_match(pg_get_expr(c.relpartbound, c.oid), 'FROM \\((.*)\\) TO \\(''(.*)''\\)') AS bounds
  FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = 'usage_event'::regclass
) AS partition WHERE bounds IS NOT NULL AND $1::text < bounds[2] AND (bounds[1] = 'MINVALUE' OR $1::text >= trim(bounds[1], ''''))`;
