/** Header names of the public contract, in the spelling that is sent. */
export const HEADER = {
  serviceVersion: 'X-Service-Version',
  requestId: 'X-Request-Id',
  /** The Anthropic SDKs read the request id here. */
  anthropicRequestId: 'request-id',
  cache: 'X-Cache',
  serviceCache: 'X-Service-Cache',
  /** Hints that no candidate route could honour, comma separated. */
  ignoredParams: 'X-Service-Ignored-Params',
  /** Milliseconds the gateway itself took until the upstream was called. */
  overhead: 'X-Service-Overhead-Ms',
  requestTags: 'X-Request-Tags',
  idempotencyKey: 'Idempotency-Key',
  retryAfter: 'Retry-After',
  /** Seconds since a usage read was made, where it comes from the cache of sessions. */
  age: 'Age',
  shouldRetry: 'x-should-retry',
  rateLimit: 'x-ratelimit-limit-requests',
  rateRemaining: 'x-ratelimit-remaining-requests',
  rateReset: 'x-ratelimit-reset-requests',
  deprecation: 'Deprecation',
  sunset: 'Sunset',
  link: 'Link',
  /** Event of a delivery to a webhook. */
  eventId: 'Service-Event-Id',
  deliveryId: 'Service-Delivery-Id',
  eventType: 'Service-Event-Type',
  webhookTimestamp: 'Service-Webhook-Timestamp',
  webhookSignature: 'Service-Webhook-Signature',
  /** The fleet's own token on /internal/* routes. Never forwarded from outside. */
  fleetToken: 'X-Fleet-Token',
  /** `<address> <proof>`: the caller's address, as the edge vouches for it to the services behind it. */
  clientAddress: 'X-Client-Address',
} as const;

/** Headers that browser scripts may read. */
export const EXPOSED_HEADERS: readonly string[] = [
  HEADER.serviceVersion,
  HEADER.requestId,
  HEADER.cache,
  HEADER.age,
  HEADER.deprecation,
  HEADER.sunset,
  HEADER.link,
  HEADER.retryAfter,
  HEADER.ignoredParams,
  HEADER.rateLimit,
  HEADER.rateRemaining,
  HEADER.rateReset,
];

/** Largest request body, in bytes, on every endpoint. */
export const BODY_LIMIT_BYTES = 33_554_432;

/** Longest value of a header that repeats what a caller wrote. Clients and proxies refuse a head of 4 to 16 KiB. */
const NAMED_MAX = 2_048;
/** Longest part of one name that it shows. */
const NAME_MAX = 160;

/**
 * Returns the value of `ignoredParams`, each name once. A member of a body may have any name: what a header cannot hold is
 * shown as a question mark, and names that do not fit are left out.
 */
export function ignoredNames(names: readonly string[]): string {
  const shown = new Set<string>();
  let left = NAMED_MAX;
  for (const name of names) {
    const text = name.slice(0, NAME_MAX).replace(/[^ -~]/g, '?');
    if (shown.has(text)) continue;
    left -= text.length + 2;
    if (left < 0) break;
    shown.add(text);
  }
  return [...shown].join(', ');
}
