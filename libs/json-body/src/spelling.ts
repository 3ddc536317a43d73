import { outlineOf, type Outline } from './outline.js';
import { isDigit, surveyOf } from './scan-text.js';
import type { ParsedBody } from './parsed-body.js';

/** Deepest nesting that is looked at. Nothing deeper is accepted from a caller or from a provider. */
const DEPTH_MAX = 512;

/** Part of ECMAScript's source text of JSON that TypeScript does not know yet. */
const { rawJSON } = JSON as unknown as { rawJSON: (text: string) => object };

/** The written form of an object or array that JSON.stringify would write otherwise. */
export interface Spelling {
  /** Names in the order of the text, repeated ones as often as they were written; null for an array. */
  readonly names: string[] | null;
  /** The value of each, as it was parsed: what has replaced it since is written anew. */
  readonly values: unknown[];
  /** The text of a number that JSON.stringify would write otherwise, else null. */
  readonly texts: (string | null)[];
  /** The text of a member that a later one of its name hides, else null; null where no name is repeated. */
  readonly hidden: (string | null)[] | null;
}

/** Enumerable: a copy by spread takes it along, while Object.keys, JSON.stringify and validators do not see it. */
const SPELLING = Symbol('spelling');

type Container = Record<string, unknown> & { [SPELLING]?: Spelling };

/** Returns the spelling of an object or array; undefined where JSON.stringify writes it as it came. */
export function spellingOf(value: object): Spelling | undefined {
  return (value as Container)[SPELLING];
}

/**
 * Remembers on `value`, which JSON.parse made of `text`, what JSON.stringify would lose: numbers such as
 * 1234567890123456789, 1.0, -0 and 1e400, the order of number-like names, repeated names. Returns true where there is any.
 */
export function rememberSpelling(value: unknown, text: string): boolean {
  if (typeof value !== 'object' || value === null || text === '') return false;
  const survey = surveyOf(text);
  if (survey.depth > DEPTH_MAX) return false;
  if (!survey.isOdd && survey.names === countNames(value)) return false;
  return pair(outlineOf(text), value as Container, text);
}

/** JSON.parse whose objects remember how they were written. @throws SyntaxError */
export function parseSpelled(text: string): unknown {
  const value: unknown = JSON.parse(text);
  rememberSpelling(value, text);
  return value;
}

/**
 * Gives `copy`, which holds members of `original`, the spelling of it; `rewrite` changes the texts of hidden members.
 * Returns the copy.
 */
export function spelledLike<T extends object>(
  copy: T,
  original: object,
  rewrite: (text: string) => string = (text) => text,
): T {
  const spelling = spellingOf(original);
  if (spelling === undefined) return copy;
  const hidden = spelling.hidden?.map((text) => text && rewrite(text)) ?? null;
  (copy as Container)[SPELLING] = { ...spelling, hidden };
  return copy;
}

/**
 * Notes a member that is about to be put into an object or array which is made piece by piece: its place among the others,
 * and `text` where it is a number that is written otherwise than JSON.stringify writes it.
 */
export function noteMember(holder: object, name: string | number, value: unknown, text: string | null): void {
  const container = holder as Container;
  const isArray = Array.isArray(holder);
  if (!container[SPELLING]) {
    // A name that is no number has its place by itself.
    if (text === null && (isArray || !isDigit(String(name).charCodeAt(0)))) return;
    const names = isArray ? null : Object.keys(holder);
    const values: unknown[] = isArray ? [...(holder as unknown[])] : Object.values(holder);
    container[SPELLING] = { names, values, texts: values.map(() => null), hidden: null };
  }
  const spelling = container[SPELLING];
  const at = isArray ? Number(name) : spelling.values.length;
  spelling.names?.push(String(name));
  spelling.values[at] = value;
  spelling.texts[at] = text;
}

/**
 * Returns the text of the number at a name of an object or an index of an array; null where JSON.stringify writes it so, or
 * its text is not known.
 */
export function numberText(holder: object, name: string | number): string | null {
  const spelling = spellingOf(holder);
  if (spelling === undefined) return null;
  const at = spelling.names === null ? Number(name) : spelling.names.lastIndexOf(String(name));
  if (at < 0 || at >= spelling.texts.length) return null;
  return Object.is(spelling.values[at], (holder as Container)[name]) ? spelling.texts[at] : null;
}

/** The value of a member, to be put into another object: a number is written there as it was written here. */
export function memberAsWritten(holder: object, name: string): unknown {
  const text = numberText(holder, name);
  return text === null ? (holder as Container)[name] : rawJSON(text);
}

/** The members of an object whose names are not left out, each as written: `memberAsWritten`. */
export function membersAsWritten(
  holder: object,
  isLeftOut: (name: string) => boolean,
): Record<string, unknown> {
  const names = Object.keys(holder).filter((name) => !isLeftOut(name));
  return Object.fromEntries(names.map((name) => [name, memberAsWritten(holder, name)]));
}

/** Leaves out each hidden member whose text `isShown` refuses. Returns a copy, or `value` where all stay. */
export function withoutHidden<T extends object>(value: T, isShown: (text: string) => boolean): T {
  const spelling = spellingOf(value);
  const isVisible = (text: string | null): boolean => text === null || isShown(text);
  if (!spelling?.hidden || spelling.hidden.every(isVisible)) return value;
  const visible = spelling.hidden.map(isVisible);
  const shown = <V>(list: readonly V[]): V[] => list.filter((_, at) => visible[at]);
  const { names, values, texts, hidden } = spelling;
  const rest = {
    names: names && shown(names),
    values: shown(values),
    texts: shown(texts),
    hidden: shown(hidden),
  };
  return { ...value, [SPELLING]: rest };
}

function countNames(value: object): number {
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value as unknown[])
      if (typeof item === 'object' && item !== null) count += countNames(item);
    return count;
  }
  for (const name of Object.keys(value)) {
    count += 1;
    const member = (value as Container)[name];
    if (typeof member === 'object' && member !== null) count += countNames(member);
  }
  return count;
}

/** Walks the outline of the text beside the value. Returns true where either, or anything below it, has a spelling. */
function pair(outline: Outline, container: Container, text: string): boolean {
  const { names, starts, ends, inner } = outline;
  const live = Array.isArray(container) ? null : Object.keys(container);
  if ((names === null) !== (live === null)) return false;
  const isRepeating = names !== null && live !== null && names.length !== live.length;
  const last = isRepeating ? new Map(names.map((name, at) => [name, at])) : null;
  const spelling = { names, values: [] as unknown[], texts: [] as (string | null)[] };
  const hidden: (string | null)[] = [];
  let isOdd = isRepeating;
  let isOddBelow = false;
  for (let at = 0; at < starts.length; at += 1) {
    const name = names?.[at] ?? String(at);
    const isHidden = last !== null && last.get(name) !== at;
    const value = isHidden ? undefined : container[name];
    const source = typeof value === 'number' ? text.slice(starts[at], ends[at]) : null;
    const isOddNumber = source !== null && source !== JSON.stringify(value);
    spelling.values.push(value);
    spelling.texts.push(isOddNumber ? source : null);
    hidden.push(isHidden ? text.slice(starts[at], ends[at]) : null);
    isOdd ||= isOddNumber || (live !== null && live[at] !== name);
    const below = inner[at];
    if (below && typeof value === 'object' && value !== null)
      isOddBelow = pair(below, value as Container, text) || isOddBelow;
  }
  if (isOdd) container[SPELLING] = { ...spelling, hidden: isRepeating ? hidden : null };
  return isOdd || isOddBelow;
}

const spelledBodies = new WeakSet<ParsedBody>();

/** Remembers how the caller wrote the body, before values of it are written anew. Reads each body once. */
export function spellBody(body: ParsedBody): void {
  if (spelledBodies.has(body)) return;
  spelledBodies.add(body);
  const { buffer, byteOffset, byteLength } = body.bytes;
  rememberSpelling(body.value, Buffer.from(buffer, byteOffset, byteLength).toString('utf8'));
}
