import { v7 } from 'uuid';
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
  | 'acct'
  | 'ses'
  | 'txn'
  | 'aud'
  | 'snap'
  | 'call'
  | 'msg'
  | 'chatcmpl';

/** `<prefix>_<uuidv7>`: sorts by creation time, unique without coordination. */
export function newId(prefix: IdPrefix, clock: Clock, random: Random): string {
  return `${prefix}_${v7({ msecs: clock.now(), random: random.bytes(16) })}`;
}
