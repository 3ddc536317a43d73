import type { ErrorDetail } from '@gateway/contracts';
import { isObject } from '../../body/json-object.js';
import { ItemsReader } from './read-items.js';

/**
 * The first fault of a list of items that later requests go on from; null for none. `member` is the list's name in the
 * body. Calls may be answered by items to come, and outputs may answer calls that are there already.
 */
export function itemsFault(items: readonly unknown[], member: string): ErrorDetail | null {
  const reader = new ItemsReader(true);
  for (const [position, item] of items.entries()) {
    const loc = [member, position];
    if (!isObject(item)) return { type: 'wrong_type', loc, msg: 'must be object' };
    reader.item(item, loc);
    if (reader.fault !== null) return reader.fault;
  }
  return null;
}
