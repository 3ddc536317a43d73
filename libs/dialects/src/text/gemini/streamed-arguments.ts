import { noteMember, numberText } from '@gateway/json-body';
import { objectsOf, type JsonObject } from '../../body/json-object.js';

const DEPTH_MAX = 64;
const INDEX_MAX = 10_000;
/** Longest arguments of one call, in UTF-16 units. */
const TEXT_MAX = 8 * 1_048_576;

type Container = JsonObject | unknown[];

/**
 * Arguments of a call that Vertex sends piece by piece, each with the path of its value. They are put together here,
 * because their order says nothing about the JSON text that they make.
 */
export class StreamedArguments {
  readonly value: JsonObject = {};
  /** True once they are longer or deeper than any call's. */
  isOutgrown = false;
  private length = 0;

  add(partialArgs: unknown): void {
    for (const { jsonPath, ...piece } of objectsOf(partialArgs)) {
      const path = typeof jsonPath === 'string' ? pathOf(jsonPath) : null;
      if (path === null) this.isOutgrown = true;
      if (path === null || this.isOutgrown) return;
      this.put(path, piece);
    }
  }

  private put(path: (string | number)[], piece: JsonObject): void {
    let holder: Container = this.value;
    for (const [at, step] of path.slice(0, -1).entries()) {
      const next = memberOf(holder, step);
      if (typeof next === 'object' && next !== null) holder = next as Container;
      else {
        const made: Container = typeof path[at + 1] === 'number' ? [] : {};
        setMember(holder, step, made, null);
        holder = made;
      }
    }
    const last = path[path.length - 1];
    const before = memberOf(holder, last);
    const value = valueOf(piece);
    const joined = typeof value === 'string' && typeof before === 'string' ? before + value : value;
    this.length += 16 + (typeof value === 'string' ? value.length : 0);
    if (this.length > TEXT_MAX) this.isOutgrown = true;
    else setMember(holder, last, joined, numberText(piece, 'numberValue'));
  }
}

function valueOf({ stringValue, numberValue, boolValue }: JsonObject): unknown {
  return stringValue ?? numberValue ?? boolValue ?? null;
}

function memberOf(holder: Container, step: string | number): unknown {
  if (Array.isArray(holder)) return typeof step === 'number' ? holder[step] : undefined;
  return Object.hasOwn(holder, String(step)) ? holder[String(step)] : undefined;
}

/** `text`: how a number is written, null where that is not known. */
function setMember(holder: Container, step: string | number, value: unknown, text: string | null): void {
  if (memberOf(holder, step) === undefined) noteMember(holder, step, value, text);
  if (Array.isArray(holder)) {
    if (typeof step === 'number') holder[step] = value;
  } else if (step !== '__proto__') holder[String(step)] = value;
}

/** `$.a[0].b` and `$['a b']` as steps; null where it is no such path. */
function pathOf(text: string): (string | number)[] | null {
  if (!text.startsWith('$')) return null;
  const steps: (string | number)[] = [];
  const pattern = /\.([^.[\]]+)|\[(\d{1,6})\]|\[(?:'([^']*)'|"([^"]*)")\]/y;
  let at = 1;
  while (at < text.length) {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (!found || steps.length >= DEPTH_MAX) return null;
    const [whole, name, index, single, double] = found;
    if (index !== undefined && Number(index) > INDEX_MAX) return null;
    steps.push(index === undefined ? (name ?? single ?? double) : Number(index));
    at += whole.length;
  }
  return steps.length === 0 ? null : steps;
}
