import { compatibleFrom } from '@gateway/database';
import type pg from 'pg';
import { SCHEMA, type UsageDatabase } from '../postgres/usage-database.js';
import type { EventForm } from './event-columns.js';

/** Entry of the history of migrations that says that no older release will read the events. */
const MARK = 'usage_event_detail';

/** Returns the form in which events are written. */
export async function eventForm(database: Pick<pg.ClientBase, 'query'>): Promise<EventForm> {
  const { rowCount } = await database.query(
    `SELECT FROM ${SCHEMA}._prisma_migrations WHERE migration_name = $1`,
    [MARK],
  );
  return rowCount === 0 ? 'columns' : 'detail';
}

export interface NarrowOptions {
  database: UsageDatabase;
  /** Version of this release: older ones do not read such events. */
  release: string;
  /** False: says what would be done, and does nothing. */
  isDone: boolean;
  print: (line: string) => void;
}

/** Has each usage process write its events as `detail` from its next start on. Rows that are there stay as they are. */
export async function narrowEvents({ database, release, isDone, print }: NarrowOptions): Promise<void> {
  if ((await eventForm(database.pool)) === 'detail') {
    print('events are narrow already');
    return;
  }
  print(`-- releases before ${release} will not start on this database`);
  print('-- no table is locked, no row is changed');
  if (isDone) await database.pool.query(compatibleFrom(SCHEMA, MARK, release));
  print(isDone ? 'done: restart the usage processes' : 'nothing was changed: add --yes');
}
