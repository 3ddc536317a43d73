import { createHash } from 'node:crypto';
import { ApiError } from '@gateway/contracts';
import type { Listed } from './row-filter.js';

const CURSOR = /^(\d{1,15})\.([^\0]{1,120})\.([\w-]{11})$/;
const CHECK_LENGTH = 11;

/** The order of events. */
export interface Place {
  created_at: Date;
  id: string;
}

/**
 * Returns the end of a page of these events: the order is time, then id, and a time may be many events'. The check at
 * its end is no secret: a cursor that was cut short or goes with other filters would skip events without a word.
 */
export function cursorOf(place: Place, of: Listed): string {
  const { created_at, id } = place;
  return Buffer.from(`${created_at.getTime()}.${id}.${checkOf(place, of)}`).toString('base64url');
}

/** Throws ApiError `validation_error` for a text that is no cursor of a page of these events. */
export function readCursor(cursor: string, of: Listed): Place {
  const parts = CURSOR.exec(Buffer.from(cursor, 'base64url').toString());
  if (parts === null) throw noCursor();
  const place = { created_at: new Date(Number(parts[1])), id: parts[2] };
  if (checkOf(place, of) !== parts[3]) throw noCursor();
  return place;
}

function checkOf({ created_at, id }: Place, { conditions, times, tag }: Listed): string {
  const bound = JSON.stringify([created_at, id, conditions, times, tag]);
  return createHash('sha256').update(bound).digest('base64url').slice(0, CHECK_LENGTH);
}

function noCursor(): ApiError {
  const msg = 'cursor is not the next_cursor of a page with these filters.';
  return new ApiError('validation_error', {
    message: msg,
    details: [{ type: 'cursor_invalid', loc: ['cursor'], msg }],
  });
}
