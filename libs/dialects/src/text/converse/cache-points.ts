import { objectOf, type JsonObject } from '../../body/json-object.js';

const MOST_POINTS = 4;

/**
 * Keeps the last 4 cache points and lowers one of an hour that follows one of 5 minutes; `lists` hold them in the order of
 * the prefix: tools, system, messages. True where one was changed.
 */
export function limitCachePoints(lists: readonly JsonObject[][]): boolean {
  const points = lists.flat().filter((block) => 'cachePoint' in block);
  const surplus = new Set(points.splice(0, Math.max(0, points.length - MOST_POINTS)));
  for (const list of lists)
    for (let at = list.length - 1; at >= 0; at -= 1) if (surplus.has(list[at])) list.splice(at, 1);
  let hasShort = false;
  let isChanged = surplus.size > 0;
  for (const point of points) {
    const isLong = objectOf(point.cachePoint).ttl === '1h';
    if (isLong && hasShort) {
      point.cachePoint = { type: 'default' };
      isChanged = true;
    }
    hasShort ||= !isLong;
  }
  return isChanged;
}
