import type { Dice } from './dice.js';
import type { Access, Api, Operation, Schema } from './operations.js';
import { spoiledBody } from './spoil.js';
import { validValue, type Words } from './valid-value.js';

export interface FuzzRequest {
  operation: Operation;
  method: string;
  /** Path and query. */
  target: string;
  headers: [string, string][];
  /** null = none is sent. */
  body: Buffer | null;
}

/** The sender of the requests, and the ids that exist. */
export interface Caller {
  keys: readonly string[];
  session: () => string;
  words: Words;
}

const ids = [
  '%00',
  '%ff%fe',
  '..',
  '.',
  '%2e%2e',
  '%2E%2E%2Finternal',
  '%2F',
  '%5c',
  'x'.repeat(600),
  'é',
  '%F0%9F%A6%8A',
];
const IDS = [
  ...ids,
  '0',
  '-1',
  ' ',
  '%20',
  ';',
  '{id}',
  'null',
  'key_x',
  'req_x',
  '%',
  '%zz',
  '%u0041',
  '*',
  '~',
  ':',
];
const PATHS = [
  '/',
  '//',
  '/v1',
  '/v1/',
  '/v2/chat/completions',
  '/internal/principals/resolve',
  '/v1//keys',
  '/V1/KEYS',
];
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE', 'PROPFIND', 'BREW'];
const TYPES = [
  'application/json; charset=utf-8',
  'application/json;charset=utf-16',
  'APPLICATION/JSON',
  'application/vnd.api+json',
  'application/json;',
  'application/json, text/plain',
  'text/plain',
  'text/json',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/octet-stream',
  '/',
  'json',
  '',
];
const TEXTS = [
  '',
  'x',
  '0',
  'null',
  ',',
  ';',
  '=',
  'a=b,c=d',
  '__proto__=1',
  'é',
  '\u00ff\u00fe',
  '"',
  '*',
  'x'.repeat(2_000),
];
const HEADERS: readonly [string, readonly string[]][] = [
  ['content-encoding', ['gzip', 'br', 'identity', 'deflate, gzip', 'x', '']],
  ['x-service-version', ['2026-08', '2026-09', '1999-01', '2026-08,2026-09', 'latest', ' ', '']],
  ['anthropic-version', ['2023-06-01', '1', '']],
  ['anthropic-beta', ['context-1m-2025-08-07', 'x', ',,', 'message-threads-2026-01-01']],
  ['accept', ['text/event-stream', 'application/xml', '*/*;q=0', '']],
  ['idempotency-key', ['same', 'x'.repeat(300), ...TEXTS]],
  ['if-none-match', ['*', '"x"', 'W/"x"']],
  ['origin', ['https://evil.example', 'null', 'http://127.0.0.1']],
  ['sec-fetch-site', ['cross-site', 'none', 'x']],
  ['cookie', ['__Host-refresh=x', 'refresh=x; a', '=;=;', ...TEXTS]],
  ['traceparent', ['00-0-0-0', '00-' + 'f'.repeat(32) + '-' + 'f'.repeat(16) + '-01', 'x']],
  ['x-forwarded-for', ['127.0.0.1', '::1, x', 'x'.repeat(500)]],
  ['x-fleet-token', ['x', 'x'.repeat(43)]],
  ['x-http-method-override', ['DELETE', 'x']],
  ['range', ['bytes=0-1', 'bytes=-', 'x']],
  ['access-control-request-method', ['POST', 'x']],
];
const FREE_HEADERS = [
  'x-request-id',
  'x-request-tags',
  'user-agent',
  'x-api-key',
  'forwarded',
  'baggage',
  'x-\u0061',
];

/** One request of a run. Mostly the right caller and a body that is nearly right: refusals at the door find little. */
export function fuzzRequest(api: Api, dice: Dice, caller: Caller): FuzzRequest {
  const operation = pickOperation(api, dice);
  const path = dice.chance(0.02) ? dice.pick(PATHS) : filledPath(operation, dice, caller);
  const body = bodyOf(api, operation, dice, caller);
  const headers: [string, string][] = [];
  const credential = credentialOf(operation.access, dice, caller, operation.path);
  if (credential !== null) headers.push(credential);
  if (body !== null && !dice.chance(0.01))
    headers.push(['content-type', dice.chance(0.94) ? 'application/json' : dice.pick(TYPES)]);
  if (dice.chance(0.2)) headers.push(...hostileHeaders(dice));
  return {
    operation,
    method: dice.chance(0.97) ? operation.method : dice.pick(METHODS),
    target: path + queryOf(api, operation, dice, caller),
    headers,
    body,
  };
}

/** Half of all requests are inference: it is what callers send most and where a body goes deepest. */
function pickOperation({ operations }: Api, dice: Dice): Operation {
  const ofInference = operations.filter(({ path }) => isInference(path));
  return dice.pick(dice.chance(0.5) ? ofInference : operations);
}

export function isInference(path: string): boolean {
  return /\/(?:chat\/completions|messages)$/.test(path);
}

function filledPath({ path }: Operation, dice: Dice, { words }: Caller): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const known = (words[name] ?? words.id) as readonly string[];
    return dice.chance(0.5) && known.length > 0 ? dice.pick(known) : encodeOdd(dice.pick(IDS));
  });
}

/** Bytes that a request line may not hold are escaped; what is escaped stays. */
function encodeOdd(text: string): string {
  return text.replace(/[^\x21-\x7e]/g, (odd) => encodeURIComponent(odd));
}

function queryOf(api: Api, operation: Operation, dice: Dice, { words }: Caller): string {
  const parts: string[] = [];
  for (const { name, schema } of operation.query) {
    if (!dice.chance(0.3)) continue;
    const value = dice.chance(0.7)
      ? validValue(withName(schema, name), dice, api.schemas, words)
      : dice.pick(IDS);
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    parts.push(`${name}=${encodeOdd(text ?? '').replace(/[&#]/g, encodeURIComponent)}`);
    if (dice.chance(0.05)) parts.push(`${name}=x`);
  }
  if (dice.chance(0.04))
    parts.push(
      dice.pick(['a[b]=c', '__proto__=1', '&&&', '=', '%ff=%ff', '%zz', 'x=y'.repeat(2_000), 'limit=1e3']),
    );
  return parts.length === 0 ? '' : `?${parts.join('&')}`;
}

function withName(schema: Schema, name: string): Schema {
  return { type: 'object', required: [name], properties: { [name]: schema }, ...schema };
}

function bodyOf(api: Api, operation: Operation, dice: Dice, { words }: Caller): Buffer | null {
  if (operation.body === null)
    return operation.method !== 'GET' && dice.chance(0.1) ? spoiledBody({ x: 1 }, dice) : null;
  if (dice.chance(0.01)) return null;
  const made = validValue(operation.body, dice, api.schemas, words);
  if (!isInference(operation.path) || dice.chance(0.3)) return spoiledBody(made, dice);
  // What is sure to be served, with a few members of the schema's making.
  const extra = Object.entries(made as Record<string, unknown>).filter(() => dice.chance(0.4));
  const messages = [{ role: 'user', content: dice.pick(['Hello there', 'é🦊', 'x'.repeat(9_000)]) }];
  const model = operation.path.endsWith('/messages') ? 'simulator/claude' : 'simulator/chat';
  const served = { ...Object.fromEntries(extra), model, messages, max_tokens: 9, stream: dice.chance(0.4) };
  return spoiledBody(served, dice);
}

function credentialOf(
  access: readonly Access[],
  dice: Dice,
  { keys, session }: Caller,
  path: string,
): [string, string] | null {
  if (dice.chance(0.02)) return null;
  if (dice.chance(0.03))
    return ['authorization', dice.pick(['Bearer', 'Bearer ', 'Basic x', 'bearer rsk_x', ...TEXTS])];
  const key = dice.pick(keys);
  // A session that logs out is gone for every request after it.
  if (path === '/auth/logout') return ['authorization', 'Bearer not.a.session'];
  if (dice.chance(0.02)) return ['x-api-key', key];
  if (access.includes('session') && (!access.includes('apiKey') || dice.chance(0.5)))
    return ['authorization', `Bearer ${session()}`];
  if (access.includes('apiKey') || dice.chance(0.5)) return ['authorization', `Bearer ${key}`];
  return null;
}

function hostileHeaders(dice: Dice): [string, string][] {
  const made: [string, string][] = [];
  for (let count = 1 + dice.below(3); count > 0; count -= 1) {
    const [name, values] = dice.chance(0.7)
      ? dice.pick(HEADERS)
      : ([dice.pick(FREE_HEADERS), TEXTS] as const);
    made.push([name, dice.pick(values)]);
    if (dice.chance(0.1)) made.push([name, dice.pick(values)]);
  }
  return made;
}
