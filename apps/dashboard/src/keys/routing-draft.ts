import { figureOf } from '../api/figure-of.js';
import type { Key, KeyChange } from './keys.queries.js';

/** Fields of a key that say how its requests are routed and counted, as text; empty = not set. */
export interface RoutingDraft {
  team_id: string;
  routing_policy_template_id: string;
  fixed_provider: string;
  default_model: string;
  /** Seconds that an answer is kept; empty = answers are not cached. */
  cache_seconds: string;
  /** Each as `name=value`. */
  tags: string[];
  /** Days from now, `never`, or empty for the end that it has. */
  expires: string;
}

export function routingDraftOf(record: Key): RoutingDraft {
  const { enabled, ttl_seconds: seconds } = record.response_cache;
  return {
    team_id: record.team_id ?? '',
    routing_policy_template_id: record.routing_policy_template_id ?? '',
    fixed_provider: record.fixed_provider ?? '',
    default_model: record.default_model ?? '',
    cache_seconds: enabled ? String(seconds) : '',
    tags: Object.entries(record.request_tags).map(([name, value]) => `${name}=${value}`),
    expires: '',
  };
}

const TEXTS = ['team_id', 'routing_policy_template_id', 'fixed_provider', 'default_model'] as const;
const DAY_MS = 86_400_000;

/**
 * Returns only the differences; an emptied field is cleared. A policy takes the place of one that the key has of its own:
 * it may not have both.
 */
export function routingChangeOf(before: RoutingDraft, after: RoutingDraft, nowMs: number): KeyChange {
  const change: KeyChange = {};
  for (const field of TEXTS) {
    const value = after[field].trim();
    if (value !== before[field]) change[field] = value === '' ? null : value;
  }
  if (typeof change.routing_policy_template_id === 'string') change.routing_policy = null;
  const seconds = after.cache_seconds.trim();
  if (seconds !== before.cache_seconds) change.response_cache = cacheOf(seconds);
  if (after.tags.join('\n') !== before.tags.join('\n')) change.request_tags = tagsOf(after.tags);
  if (after.expires === 'never') change.expires_at = null;
  else if (after.expires !== '')
    change.expires_at = new Date(nowMs + Number(after.expires) * DAY_MS).toISOString();
  return change;
}

function cacheOf(seconds: string): KeyChange['response_cache'] {
  return seconds === '' ? { enabled: false } : { enabled: true, ttl_seconds: figureOf(seconds) };
}

/** Returns the tags as an object. A tag without `=` is sent with an empty value, which the gateway judges. */
function tagsOf(tags: readonly string[]): KeyChange['request_tags'] {
  const pairs = tags.map((tag): [string, string] => {
    const at = tag.indexOf('=');
    return at < 0 ? [tag.trim(), ''] : [tag.slice(0, at).trim(), tag.slice(at + 1).trim()];
  });
  // The document of the API does not say what the values of an open object are.
  return Object.fromEntries(pairs) as unknown as KeyChange['request_tags'];
}
