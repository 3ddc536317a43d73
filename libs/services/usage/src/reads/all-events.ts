import type { Times } from '@gateway/platform';
import { SLOT_MS } from '../posting/sums.js';
import type { UsageDatabase } from '../postgres/usage-database.js';
import { EVENT_SQL, type EventColumns } from './event-wire.js';
import type { Place } from './event-cursor.js';
import { findPage, mayBeRare, placeSql, rowsAfter } from './find-page.js';
import { eventsInOrder, eventsNamed } from './listed-events.js';
import { locateTag } from './locate-tag.js';
import type { Listed, Tag } from './row-filter.js';
import { tagSql } from './events-sql.js';
import { Values } from './values.js';

interface Part {
  rows: EventColumns[];
  /** Start of the next part; null = this was the last. */
  end: Place | null;
}

/** Size of a page: V8 collects it young, other reads do not wait for it, and all its keys are named. */
const PAGE = 500;
/** Events among which one statement looks for those of a tag. */
const TAG_PORTION = 2_000;
/** Quarters of an hour that are read one by one: many more would take more statements than portions do. */
const SLOTS_MAX = 500;
/** Columns of the indexes of events in their order: a portion is found without a look at the events. */
const INDEXED: ReadonlySet<string> = new Set(['account_id', 'key_id']);

/**
 * All events of a filter, newest first, part by part: nobody holds a transaction open while a client reads slowly, and no
 * statement takes long, however rare the filter's events are.
 */
export async function* allEvents(database: UsageDatabase, asked: Listed): AsyncGenerator<EventColumns[]> {
  for (const times of await timesOf(database, asked)) {
    let after: Place | null = null;
    do {
      const part: Part =
        asked.tag === null
          ? await untagged(database, asked, after)
          : await tagged(database, { ...asked, times }, asked.tag, after);
      // An empty part is handed out as well: a reader that has left is noticed between two of them.
      for (let at = 0; at === 0 || at < part.rows.length; at += PAGE) yield part.rows.slice(at, at + PAGE);
      after = part.end;
    } while (after !== null);
  }
}

/**
 * Returns the times where events of the filter may be, the newest first: of a rare tag the quarters of an hour that
 * have it, and what is not noted.
 */
async function timesOf(database: UsageDatabase, asked: Listed): Promise<Times[]> {
  const located = await locateTag(database, asked);
  if (located === null || located.slots.length > SLOTS_MAX) return [asked.times];
  const slots = located.slots.toSorted((a, b) => b.getTime() - a.getTime());
  const spans: Times[] = [{ from: located.to, before: null }];
  for (const from of slots) {
    const before = new Date(from.getTime() + SLOT_MS);
    const last = spans[spans.length - 1];
    if (last.from?.getTime() === before.getTime()) last.from = from;
    else spans.push({ from, before });
  }
  spans.push({ from: null, before: located.from });
  return spans.flatMap(({ from, before }) => {
    const within = { from: latest(from, asked.times.from), before: earliest(before, asked.times.before) };
    return within.from && within.before && within.from >= within.before ? [] : [within];
  });
}

function latest(a: Date | null, b: Date | null): Date | null {
  return a === null || (b !== null && b > a) ? b : a;
}

function earliest(a: Date | null, b: Date | null): Date | null {
  return a === null || (b !== null && b < a) ? b : a;
}

async function untagged(database: UsageDatabase, asked: Listed, after: Place | null): Promise<Part> {
  const query = { ...asked, after, offset: 0, limit: PAGE };
  if (!mayBeRare(query)) {
    const rows = await eventsInOrder(database, query);
    return { rows, end: rows.length < PAGE ? null : rows[PAGE - 1] };
  }
  const named = await findPage(database, query);
  const rows = await eventsNamed(database, named);
  return { rows, end: named.length < PAGE ? null : (rows.at(-1) ?? null) };
}

/** Returns those of the view's next events that carry the tag. */
async function tagged(
  database: UsageDatabase,
  { conditions, times }: Listed,
  tag: Tag,
  after: Place | null,
): Promise<Part> {
  const indexed = conditions.filter(({ column }) => INDEXED.has(column));
  const end = await portionEnd(database, { conditions: indexed, times }, after);
  const values = new Values();
  const matching = [...rowsAfter({ conditions, times, after }, values), tagSql(tag, values)];
  if (end !== null)
    matching.push(
      `created_at >= ${values.add(end.created_at)}::timestamptz`,
      `(created_at, id) >= (${placeSql(end, values)})`,
    );
  const { rows } = await database.pool.query<EventColumns>(
    `SELECT ${EVENT_SQL} FROM usage_event WHERE ${matching.join(' AND ')} ORDER BY created_at DESC, id DESC`,
    values.list,
  );
  return { rows, end };
}

async function portionEnd(
  { pool }: UsageDatabase,
  asked: Omit<Listed, 'tag'>,
  after: Place | null,
): Promise<Place | null> {
  const values = new Values();
  const matching = rowsAfter({ ...asked, after }, values);
  const { rows } = await pool.query<Place>(
    `SELECT created_at, id FROM usage_event WHERE ${matching.join(' AND ')}
     ORDER BY created_at DESC, id DESC OFFSET ${TAG_PORTION - 1} LIMIT 1`,
    values.list,
  );
  return rows.at(0) ?? null;
}
