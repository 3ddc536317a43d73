import { isDeepStrictEqual } from 'node:util';
import type { UsageRecord } from '@gateway/contracts';
import type { Received } from './call.js';
import type { Exchange } from './exchange.js';
import { list, object, text, type AnswerFacts, type Json } from './facts/answer-facts.js';
import type { FrontName, TextFormat } from './facts/read.js';

/** Reasons that each caller's format has a word for; the others are shown as a plain end. */
const SHOWN: Record<FrontName, ReadonlySet<string> | null> = {
  chat: null,
  messages: new Set(['stop', 'tool_calls', 'length', 'content_filter']),
  responses: new Set(['stop', 'tool_calls', 'length', 'content_filter']),
};

/** A finish reason as a caller of a format sees it. */
export function finishOn(front: FrontName, reason: string | null, calls: boolean): string | null {
  const shown = SHOWN[front];
  if (reason === null || shown === null || shown.has(reason)) {
    // A response has no word for a call: the item says it.
    if (front === 'responses' && (reason === 'stop' || reason === 'tool_calls'))
      return calls ? 'tool_calls' : 'stop';
    return reason;
  }
  return calls ? 'tool_calls' : 'stop';
}

interface Place {
  front: FrontName;
  dialect: TextFormat;
  provider: string;
}

/** Returns the differences between the provider's answer and the caller's. */
export function differences(expected: AnswerFacts, received: AnswerFacts, place: Place): string[] {
  const { front, dialect, provider } = place;
  const isNative = front === dialect;
  const found: string[] = [];
  const compare = (name: keyof AnswerFacts, wanted: unknown = expected[name]): void => {
    if (!isDeepStrictEqual(wanted, received[name]))
      found.push(`${name}: expected ${JSON.stringify(wanted)}, got ${JSON.stringify(received[name])}`);
  };
  compare('text');
  compare('tools');
  if (expected.reasoning !== '') compare('reasoning');
  if (expected.error !== null) {
    if (received.error === null) found.push('error: expected an in-band error, got none');
    return found;
  }
  compare('finish', isNative ? expected.finish : finishOn(front, expected.finish, expected.tools.length > 0));
  if (isNative && expected.native !== null) compare('native');
  compare('isComplete');
  if (expected.prompt !== null) compare('prompt');
  // Some providers leave reasoning out of the completion count; the gateway counts it in.
  const isApart = provider === 'xai' && dialect === 'chat';
  if (expected.completion !== null)
    compare('completion', expected.completion + (isApart ? (expected.reasoningTokens ?? 0) : 0));
  compare('cached');
  return found;
}

/** Keys of each format that a caller may rely on, of the last object that carries them. */
const ANSWER_KEYS: Record<FrontName, readonly string[]> = {
  chat: ['id', 'object', 'created', 'model', 'choices', 'usage'],
  messages: ['id', 'type', 'role', 'content', 'model', 'stop_reason', 'stop_sequence', 'usage'],
  responses: [
    'id,object,created_at,completed_at,status,error,incomplete_details,model,output,usage,tools,tool_choice',
    'parallel_tool_calls,temperature,top_p,max_output_tokens,previous_response_id,instructions,reasoning,store',
    'text,truncation,metadata,background,service_tier,presence_penalty,frequency_penalty,top_logprobs',
  ].flatMap((names) => names.split(',')),
};
const USAGE_KEYS: Record<FrontName, readonly string[]> = {
  chat: ['prompt_tokens', 'completion_tokens', 'total_tokens', 'prompt_tokens_details', 'byok_used'],
  messages: ['input_tokens', 'output_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'],
  responses: [
    'input_tokens',
    'output_tokens',
    'total_tokens',
    'input_tokens_details',
    'output_tokens_details',
  ],
};

function missing(from: Json, keys: readonly string[], where: string): string[] {
  const absent = keys.filter((key) => !(key in from));
  return absent.length === 0 ? [] : [`${where} lacks ${absent.join(', ')}`];
}

/** The object of a stream that carries the fixed keys. */
function lastObject(front: FrontName, raw: string): Json {
  const events = raw
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => object(JSON.parse(line.slice(6))));
  if (front === 'chat') return object(events.findLast(({ usage }) => usage));
  if (front === 'responses') return object(events.findLast(({ response }) => response)?.response);
  const { message } = events.find(({ type }) => type === 'message_start') ?? {};
  return object(message);
}

function moneyKeys(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(moneyKeys);
  return Object.entries(object(value)).flatMap(([key, inner]) => [
    ...(/cost|price|charge|usd|credit/i.test(key) ? [key] : []),
    ...moneyKeys(inner),
  ]);
}

/** Keys that every answer has, the caller's own name of the model, and no provider's money. */
export function fixedKeys(front: FrontName, received: Received, model: string): string[] {
  if (received.facts === null || received.facts.error !== null) return [];
  const answer = received.isStream ? lastObject(front, received.raw) : object(JSON.parse(received.raw));
  const money = moneyKeys([answer.usage, received.facts.usage]);
  return [
    ...missing(answer, ANSWER_KEYS[front], 'the answer'),
    ...missing(received.facts.usage, USAGE_KEYS[front], 'usage'),
    ...(answer.model === model ? [] : [`model: expected ${model}, got ${text(answer.model)}`]),
    ...(money.length === 0 ? [] : [`the answer shows money: ${money.join(', ')}`]),
    ...(front === 'chat' && !received.isStream && list(answer.choices).length === 0 ? ['no choice'] : []),
  ];
}

/** USD in units of 1e-8, from a decimal string. */
function scaled(money: string): bigint {
  const [whole, rest = ''] = money.split('.');
  return BigInt(whole + rest.padEnd(8, '0').slice(0, 8));
}

/**
 * Checks the cost at the replay's prices: 1 and 2 USD per million tokens, 0.10 read from a cache, 1.25 written to it.
 */
export function priceFaults(record: UsageRecord, expected: AnswerFacts, received: AnswerFacts): string[] {
  if (record.cost_usd === null) return ['the usage record has no cost'];
  const cost = scaled(record.cost_usd);
  if (expected.prompt === null || expected.completion === null) return cost > 0n ? [] : ['it was free'];
  const { cached } = expected;
  // One that counts tokens as read and written at once is believed once.
  const cacheWrite = Math.min(expected.cacheWrite, expected.prompt - cached);
  const plain = expected.prompt - cached - cacheWrite;
  const wanted =
    BigInt(plain) * 100n +
    BigInt(cached) * 10n +
    BigInt(cacheWrite) * 125n +
    BigInt(received.completion ?? 0) * 200n;
  return cost === wanted ? [] : [`cost: expected ${wanted}e-8, got ${record.cost_usd}`];
}

/** Statuses that a failure of the provider may be shown as, on the platform's own credential. */
function statusesOf({ response }: Exchange): readonly number[] {
  const words = response.body.toString('utf8');
  if (/api.?key|Unauthorized|model_not_found|model identifier is invalid|nonexistent is not/i.test(words))
    return response.status === 429 ? [429, 503] : [502];
  if (response.status === 401 || response.status === 403 || response.status === 404) return [502];
  if (response.status === 429) return [429, 503];
  return response.status < 500 ? [400] : [502, 503, 504];
}

/** Returns the faults of an answer to a provider's failure. */
export function errorFaults(exchange: Exchange, front: FrontName, received: Received): string[] {
  if (received.failure === null)
    return [`expected a failure for status ${exchange.response.status}, got ${received.status}`];
  const error = object(received.failure.error);
  const statuses = statusesOf(exchange);
  return [
    ...(statuses.includes(received.status)
      ? []
      : [`status: expected ${statuses.join(' or ')}, got ${received.status}`]),
    ...(text(error.message) === '' || (front !== 'messages' && text(error.code) === '')
      ? [`the error has no code or message: ${received.raw}`]
      : []),
    ...(/sk-|AIza|arn:aws/.test(received.raw) ? [`it shows what looks like a secret: ${received.raw}`] : []),
  ];
}
