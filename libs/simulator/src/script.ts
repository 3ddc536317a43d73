import { isObject, parseJson, type Json } from './json.js';

/** The place and kind of an answer's break; `after` counts whole events already sent. */
export interface Cut {
  readonly after: number;
  readonly inside: 'frame' | 'mid' | 'utf8';
  readonly how: 'close' | 'eof' | 'reset';
}

/**
 * Orders of one request to the simulator, from its model name and its x-sim header. The grammar is in
 * tools/upstream-sim/README.md; times are milliseconds, counts are tokens unless said.
 */
export interface Script {
  /** Words of the model name between separators, lower case: `tools`, `reasoning`, `strict`, `compat`. */
  readonly words: ReadonlySet<string>;
  readonly values: ReadonlyMap<string, string>;
  /** True where the answer depends on nothing but the request's bytes, so that it can be prebuilt. */
  readonly isRepeatable: boolean;
}

const NUMBER = /^\d+(\.\d+)?$/;
const ANY = /^/;

/** Keys that change what is answered, not when or whether: an answer with only these may be prebuilt. */
const CONTENT_KEYS: Readonly<Record<string, RegExp>> = {
  text: ANY,
  bytes: NUMBER,
  chunk: NUMBER,
  prompt: NUMBER,
  completion: NUMBER,
  cached: NUMBER,
  cache_write: NUMBER,
  cache_write_1h: NUMBER,
  reasoning: NUMBER,
  usage: /^(asked|always|none|twice|finish)$/,
  tools: NUMBER,
  tool_args: ANY,
  tool_fragments: NUMBER,
  think: ANY,
  refusal: ANY,
  finish: ANY,
  frames: /^((crlf|comments|pings|multiline|nospace|nofinal)(,|$))*$/,
  done: NUMBER,
};

const OTHER_KEYS: Readonly<Record<string, RegExp>> = {
  latency: NUMBER,
  delay: NUMBER,
  error: ANY,
  inband: NUMBER,
  retry_after: ANY,
  retry_after_ms: ANY,
  fail: NUMBER,
  key: ANY,
  cut: NUMBER,
  cut_in: /^(frame|mid|utf8)$/,
  cut_how: /^(close|eof|reset)$/,
  silent: NUMBER,
  silent_at: NUMBER,
  hang: NUMBER,
  malformed: /^(html|empty|truncated|content-type|utf8|shape)$/,
  reset: /^(before|headers|body)$/,
  endless: NUMBER,
  split: NUMBER,
};

/** A script that names an unknown key is a fault of the test that wrote it; it answers 400 with this text. */
export class ScriptFault extends Error {}

export function readScript(model: string, header: string | undefined): Script {
  const name = model.slice(model.lastIndexOf('/') + 1);
  const colon = name.indexOf(':');
  const base = colon < 0 ? name : name.slice(0, colon);
  const values = new Map<string, string>();
  const error = /^sim-error-([a-z0-9-]+)$/.exec(base);
  if (error) values.set('error', error[1]);
  if (colon >= 0) readList(name.slice(colon + 1), values);
  if (header !== undefined) readHeader(header, values);
  return {
    words: new Set(base.toLowerCase().split(/[-_.]/)),
    values,
    isRepeatable: [...values.keys()].every((key) => key in CONTENT_KEYS),
  };
}

function readHeader(header: string, values: Map<string, string>): void {
  if (!header.startsWith('{')) {
    readList(header, values);
    return;
  }
  const parsed = parseJson(header);
  if (!isObject(parsed)) throw new ScriptFault('x-sim is neither JSON nor key=value pairs');
  for (const [key, value] of Object.entries(parsed)) set(values, key, asText(value));
}

function asText(value: Json | undefined): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function readList(list: string, values: Map<string, string>): void {
  for (const pair of list.split(';')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    if (equals < 0) set(values, pair.trim(), '1');
    else set(values, pair.slice(0, equals).trim(), decode(pair.slice(equals + 1)));
  }
}

function decode(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

/** Everything is checked here, because a fault found after the head was sent could no longer be answered. */
function set(values: Map<string, string>, key: string, value: string): void {
  const form = CONTENT_KEYS[key] ?? OTHER_KEYS[key];
  if (form === undefined) throw new ScriptFault(`unknown script key ${key}`);
  if (!form.test(value)) throw new ScriptFault(`${key} cannot be ${value}`);
  values.set(key, value);
}

/** The key's number, or `otherwise` where the key is absent. */
export function numberOf(script: Script, key: string, otherwise: number): number {
  const text = script.values.get(key);
  return text === undefined ? otherwise : Number(text);
}

/** True for a key that is present with any value but 0. */
export function isOn(script: Script, key: string): boolean {
  const text = script.values.get(key);
  return text !== undefined && text !== '0';
}

export function cutOf(script: Script): Cut | undefined {
  if (!script.values.has('cut')) return undefined;
  return {
    after: numberOf(script, 'cut', 0),
    inside: oneOf(script, 'cut_in', ['frame', 'mid', 'utf8']),
    how: oneOf(script, 'cut_how', ['close', 'eof', 'reset']),
  };
}

/** The key's value among `allowed`, the first of them where the key is absent. */
export function oneOf<const T extends string>(script: Script, key: string, allowed: readonly [T, ...T[]]): T {
  const text = script.values.get(key);
  return allowed.find((value) => value === text) ?? allowed[0];
}
