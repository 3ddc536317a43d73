import type { Clock, Random } from './ports/clock.js';

/** Prefixes of the ids that cross a boundary; the rest of an id is a UUID of version 7. */
export type IdPrefix =
  | 'req'
  | 'evt'
  | 'use'
  | 'key'
  | 'mak'
  | 'org'
  | 'usr'
  | 'team'
  | 'rpt'
  | 'bud'
  | 'inv'
  | 'view'
  | 'mail'
  | 'acct'
  | 'ses'
  | 'pay'
  | 'era'
  | 'txn'
  | 'aud'
  | 'snap'
  | 'alias'
  | 'pk'
  | 'cred'
  | 'tmpl'
  | 'tv'
  | 'mem'
  | 'chn'
  | 'pol'
  | 'dlv'
  | 'att'
  | 'call';

/** Bytes of the id being made, and its text. */
const ID = Buffer.alloc(16);
const TEXT = Buffer.from('00000000-0000-0000-0000-000000000000');
const DIGITS = Buffer.from('0123456789abcdef');
/** Place in the text of each byte of an id. */
const PLACES = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];

/** UUID of version 7: 48 bits of milliseconds, 74 of randomness (RFC 9562, 5.7). */
export function uuidv7(clock: Clock, random: Random): string {
  ID.writeUIntBE(clock.now(), 0, 6);
  ID.set(random.bytes(10), 6);
  ID[6] = (ID[6] & 0x0f) | 0x70;
  ID[8] = (ID[8] & 0x3f) | 0x80;
  for (let at = 0; at < ID.length; at += 1) {
    TEXT[PLACES[at]] = DIGITS[ID[at] >> 4];
    TEXT[PLACES[at] + 1] = DIGITS[ID[at] & 0x0f];
  }
  return TEXT.toString('latin1');
}

/** `<prefix>_<uuidv7>`: sorts by creation time, unique without coordination. */
export function newId(prefix: IdPrefix, clock: Clock, random: Random): string {
  return `${prefix}_${uuidv7(clock, random)}`;
}

/** Id of an answer, with the prefix of its endpoint. */
export function newAnswerId(prefix: string, clock: Clock, random: Random): string {
  return `${prefix}_${uuidv7(clock, random)}`;
}
