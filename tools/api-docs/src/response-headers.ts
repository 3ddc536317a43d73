import { HEADER } from '@gateway/contracts';
import type { Schema } from './class-schemas.js';
import type { PathItem } from './operation.js';

const text: Schema = { type: 'string' };
const whole: Schema = { type: 'integer', minimum: 0 };

/** Response headers of the contract, by their names. */
export const HEADERS: Readonly<Record<string, Schema>> = {
  [HEADER.requestId]: { description: 'Id of the request; GET /v1/requests/{id} takes it.', schema: text },
  [HEADER.serviceVersion]: { description: 'API version of the answer.', schema: text },
  [HEADER.deprecation]: { description: 'Day of the deprecation, `@` and Unix seconds.', schema: text },
  [HEADER.sunset]: { description: 'Day after which it is no longer served, an HTTP date.', schema: text },
  [HEADER.link]: { description: 'Page that describes the deprecation.', schema: text },
  [HEADER.retryAfter]: { description: 'Seconds to wait before a retry.', schema: whole },
  [HEADER.shouldRetry]: {
    description: 'True if the same request may succeed later.',
    schema: { type: 'string', enum: ['true', 'false'] },
  },
  'WWW-Authenticate': { description: '`Bearer`, with 401.', schema: text },
  [HEADER.rateLimit]: {
    description: 'Requests per minute of the key; absent where the key has no such limit.',
    schema: whole,
  },
  [HEADER.rateRemaining]: { description: 'Requests left in this minute.', schema: whole },
  [HEADER.rateReset]: { description: 'Time to the next minute, as `6s` or `1m0s`.', schema: text },
  [HEADER.cache]: {
    description: '`HIT` if the response cache answered; absent where the key does not use it.',
    schema: { type: 'string', enum: ['HIT', 'MISS'] },
  },
  [HEADER.ignoredParams]: {
    description: 'Parameters that the chosen provider cannot honour, separated by commas.',
    schema: text,
  },
  [HEADER.overhead]: {
    description: 'Milliseconds that the gateway took before it called the provider.',
    schema: { type: 'number' },
  },
  [HEADER.anthropicRequestId]: { description: 'The same as X-Request-Id.', schema: text },
  [HEADER.age]: {
    description: 'Seconds since the answer was made; absent where it is new.',
    schema: whole,
  },
  ETag: { description: 'Name of the answer, for If-None-Match.', schema: text },
};

const EVERY = [HEADER.requestId, HEADER.serviceVersion, HEADER.deprecation, HEADER.sunset, HEADER.link];
const FAILED = [HEADER.retryAfter, HEADER.shouldRetry];
const RATE = [HEADER.rateLimit, HEADER.rateRemaining, HEADER.rateReset];
const SERVED = [HEADER.ignoredParams, HEADER.overhead];

/** Request headers of the inference endpoints. */
export const REQUEST_HEADERS = {
  tags: requestHeader(HEADER.requestTags, 'Tags of the usage record, `name=value` separated by commas.'),
  cache: requestHeader(
    HEADER.serviceCache,
    '`no-store` asks for a new answer that the response cache does not keep.',
  ),
  once: requestHeader(
    HEADER.idempotencyKey,
    'The same key within a day gets the first answer; nothing is made again.',
  ),
};

function requestHeader(name: string, description: string): Schema {
  return { name, in: 'header', required: false, description, schema: text };
}

/** The operation with the headers of each of its responses. */
export function withHeaders(item: PathItem): PathItem {
  const responses = Object.fromEntries(
    Object.entries(item.operation.responses).map(([status, response]) => [
      status,
      { ...response, headers: referred(namesOf(item, status)) },
    ]),
  );
  return { ...item, operation: { ...item.operation, responses } };
}

function namesOf({ path, operation }: PathItem, status: string): string[] {
  const isInference = (operation.tags as string[]).includes('inference');
  return [
    ...EVERY,
    ...(/^[45]/.test(status) ? FAILED : []),
    ...(status === '4XX' ? ['WWW-Authenticate'] : []),
    ...(isInference ? RATE : []),
    ...(isInference && status.startsWith('2') ? SERVED : []),
    ...(operation.parameters.includes(REQUEST_HEADERS.cache) && status.startsWith('2') ? [HEADER.cache] : []),
    ...(/\/messages(\/|$)/.test(path) && isInference ? [HEADER.anthropicRequestId] : []),
    ...(path.startsWith('/v1/usage/') && status.startsWith('2') ? [HEADER.age] : []),
    ...(path.startsWith('/v1/public/') && /^[23]/.test(status) ? ['ETag'] : []),
  ];
}

function referred(names: readonly string[]): Record<string, Schema> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
