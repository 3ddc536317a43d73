import { ApiError } from '@gateway/contracts';
import type { Prisma } from '../generated/prisma/client.js';

const CURSOR = /^(\d{1,15})\.(.{1,120})$/s;

/** The order of events. */
export interface Place {
  created_at: Date;
  id: string;
}

/** Where a page ended: the order of events is time, then id, and a time may be many events'. */
export function cursorOf({ created_at, id }: Place): string {
  return Buffer.from(`${created_at.getTime()}.${id}`).toString('base64url');
}

/** Throws ApiError `validation_error` for a text that is no cursor. */
export function readCursor(cursor: string): Place {
  const parts = CURSOR.exec(Buffer.from(cursor, 'base64url').toString());
  if (parts === null) throw noCursor();
  return { created_at: new Date(Number(parts[1])), id: parts[2] };
}

/** What comes after it, newest first. The outer bound is what an index can seek by. */
export function beyond({ created_at, id }: Place): Prisma.UsageEventWhereInput {
  return {
    OR: [{ created_at: { lt: created_at } }, { created_at, id: { lt: id } }],
    created_at: { lte: created_at },
  };
}

function noCursor(): ApiError {
  const msg = 'cursor is not the next_cursor of a page.';
  return new ApiError('validation_error', {
    message: msg,
    details: [{ type: 'cursor_invalid', loc: ['cursor'], msg }],
  });
}
