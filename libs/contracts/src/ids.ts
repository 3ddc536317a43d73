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
  | 'inv'
  | 'mail'
  | 'acct'
  | 'ses'
  | 'pay'
  | 'era'
  | 'txn'
  | 'aud'
  | 'snap'
  | 'pk'
  | 'tmpl'
  | 'tv'
  | 'mem'
  | 'chn'
  | 'pol'
  | 'dlv'
  | 'att'
  | 'call';

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** UUID of version 7: 48 bits of milliseconds, 74 of randomness (RFC 9562, 5.7). */
export function uuidv7(clock: Clock, random: Random): string {
  const time = clock.now().toString(16).padStart(12, '0');
  const drawn = random.bytes(10);
  const version = `${HEX[(drawn[0] & 0x0f) | 0x70]}${HEX[drawn[1]]}`;
  const variant = `${HEX[(drawn[2] & 0x3f) | 0x80]}${HEX[drawn[3]]}`;
  let node = '';
  for (let at = 4; at < 10; at += 1) node += HEX[drawn[at]];
  return `${time.slice(0, 8)}-${time.slice(8)}-${version}-${variant}-${node}`;
}

/** `<prefix>_<uuidv7>`: sorts by creation time, unique without coordination. */
export function newId(prefix: IdPrefix, clock: Clock, random: Random): string {
  return `${prefix}_${uuidv7(clock, random)}`;
}

/** Id of an answer, with the prefix of its endpoint. */
export function newAnswerId(prefix: string, clock: Clock, random: Random): string {
  return `${prefix}_${uuidv7(clock, random)}`;
}
