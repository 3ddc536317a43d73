import { objectOf, type JsonObject } from '../../body/json-object.js';
import { familyOf } from './families.js';

const MOST_POINTS = 4;

/** Bedrock refuses a whole request for a point that the model does not take. A profile's name says of no model. */
function takesPoints(model: string): boolean {
  const family = familyOf(model);
  return family === 'claude' || family === 'nova' || model.startsWith('arn:');
}

/**
 * Keeps the last 4 cache points and lowers one of an hour that follows one of 5 minutes; `lists` hold them in the order of
 * the prefix: tools, system, messages. Nova takes none on tools and none of an hour, other models none at all. True where
 * one was changed.
 */
export function limitCachePoints(lists: readonly JsonObject[][], model: string): boolean {
  const isNova = familyOf(model) === 'nova';
  const [tools, ...others] = lists.map((list) => list.filter(isPoint));
  const points = [...tools, ...others.flat()];
  const taken = isNova ? others.flat() : takesPoints(model) ? points : [];
  const kept = new Set(taken.slice(-MOST_POINTS));
  for (const list of lists) keepIn(list, (block) => !isPoint(block) || kept.has(block));
  let hasShort = isNova;
  let isChanged = kept.size < points.length;
  for (const point of kept) {
    const isLong = objectOf(point.cachePoint).ttl === '1h';
    if (isLong && hasShort) {
      point.cachePoint = { type: 'default' };
      isChanged = true;
    }
    hasShort ||= !isLong;
  }
  return isChanged;
}

function isPoint(block: JsonObject): boolean {
  return 'cachePoint' in block;
}

/** Filters in one pass: a request may mark each of its parts. */
function keepIn(list: JsonObject[], isKept: (block: JsonObject) => boolean): void {
  let length = 0;
  for (const block of list) if (isKept(block)) list[length++] = block;
  list.length = length;
}
