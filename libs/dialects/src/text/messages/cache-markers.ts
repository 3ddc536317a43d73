import { isObject, type JsonObject } from '../../body/json-object.js';
import type { CacheMarker } from '../model-request.js';
import { objectsAt } from './json.js';

const MOST_BREAKPOINTS = 4;

/** The member for a marker: 5 minutes is the dialect's own default, and is left unsaid. */
export function cacheControl(cache: CacheMarker | undefined): JsonObject {
  if (!cache) return {};
  return { cache_control: { type: 'ephemeral', ...(cache.ttl === '1h' ? { ttl: '1h' } : {}) } };
}

function* marked(body: JsonObject): Generator<JsonObject> {
  yield* objectsAt(body, 'tools');
  yield* objectsAt(body, 'system');
  for (const message of objectsAt(body, 'messages')) yield* objectsAt(message, 'content');
}

/**
 * Keeps the last 4 markers and lowers a 1h one that follows one of 5 minutes, in the order tools, system, messages; this
 * dialect refuses anything else. True where a marker was changed.
 */
export function limitMarkers(body: JsonObject): boolean {
  const blocks = [...marked(body)].filter(({ cache_control }) => isObject(cache_control));
  const surplus = blocks.splice(0, Math.max(0, blocks.length - MOST_BREAKPOINTS));
  for (const block of surplus) delete block.cache_control;
  let hasShort = false;
  let isChanged = surplus.length > 0;
  for (const block of blocks) {
    const isLong = isObject(block.cache_control) && block.cache_control.ttl === '1h';
    if (isLong && hasShort) {
      block.cache_control = { type: 'ephemeral' };
      isChanged = true;
    }
    hasShort ||= !isLong;
  }
  return isChanged;
}
