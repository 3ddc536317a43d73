import { createHash } from 'node:crypto';
import { ApiError, type CursorPage, type CursorPageQuery } from '@gateway/contracts';

const CURSOR = /^([a-z]{2,8}_[0-9A-Za-z_-]{1,80})\.([\w-]{11})$/;
const CHECK_LENGTH = 11;

/** The read of one page of a list in the order of its ids. */
export interface Keyset {
  /** The id that the cursor names; null without one. */
  after: string | null;
  /** One row more than is answered shows whether another page follows. */
  range: { take: number; skip: number };
  /** Builds the page of the rows that were read. */
  page: <T>(rows: readonly T[], total: number, idOf: (row: T) => string) => CursorPage<T>;
}

/**
 * `list` says what the page is of. The check in a cursor is no secret: one of another list, or of other filters, would pass
 * rows over without a word. A list in another order than that of its ids has offsets alone. Throws ApiError `validation_error` for what is no cursor of this list.
 */
export function keysetOf(query: CursorPageQuery & { sort?: string }, list: string): Keyset {
  const { limit, offset, cursor, ...filters } = query;
  const of = JSON.stringify([list, Object.entries(filters).sort(([a], [b]) => (a < b ? -1 : 1))]);
  return {
    after: cursor === undefined ? null : readCursor(cursor, of),
    range: { take: limit + 1, skip: cursor === undefined ? offset : 0 },
    page: (rows, total, idOf) => {
      const data = rows.slice(0, limit);
      const last = data.at(-1);
      const isMore = rows.length > limit && last !== undefined && query.sort === undefined;
      return { data, total, limit, offset, next_cursor: isMore ? cursorOf(idOf(last), of) : null };
    },
  };
}

function cursorOf(id: string, of: string): string {
  return Buffer.from(`${id}.${checkOf(id, of)}`).toString('base64url');
}

function readCursor(cursor: string, of: string): string {
  const parts = CURSOR.exec(Buffer.from(cursor, 'base64url').toString('utf8'));
  if (parts !== null && checkOf(parts[1], of) === parts[2]) return parts[1];
  const msg = 'cursor must be the next_cursor of a page of this list with these filters.';
  throw new ApiError('validation_error', {
    message: msg,
    details: [{ type: 'cursor_invalid', loc: ['cursor'], msg }],
  });
}

function checkOf(id: string, of: string): string {
  return createHash('sha256').update(`${id} ${of}`).digest('base64url').slice(0, CHECK_LENGTH);
}
