import { ApiError, type CursorPage, type CursorPageQuery } from '@gateway/contracts';

/** The id that a cursor names; null without one. Throws ApiError `validation_error` for what is no cursor of ours. */
export function afterId({ cursor }: CursorPageQuery): string | null {
  if (cursor === undefined) return null;
  const id = Buffer.from(cursor, 'base64url').toString('utf8');
  if (/^[a-z]{2,8}_[0-9A-Za-z_-]{1,80}$/.test(id)) return id;
  const msg = 'cursor must be the next_cursor of a page of this list.';
  throw new ApiError('validation_error', {
    message: msg,
    details: [{ type: 'cursor_invalid', loc: ['query', 'cursor'], msg }],
  });
}

/** How to read a page in the order of its ids: one row more than is answered shows whether another page follows. */
export function keysetRange(query: CursorPageQuery): { take: number; skip: number } {
  return { take: query.limit + 1, skip: query.cursor === undefined ? query.offset : 0 };
}

/** Of rows that were read by `keysetRange`. */
export function keysetPage<T>(
  rows: readonly T[],
  total: number,
  { limit, offset }: CursorPageQuery,
  idOf: (row: T) => string,
): CursorPage<T> {
  const data = rows.slice(0, limit);
  const last = data.at(-1);
  const isMore = rows.length > limit && last !== undefined;
  const next_cursor = isMore ? Buffer.from(idOf(last)).toString('base64url') : null;
  return { data, total, limit, offset, next_cursor };
}
