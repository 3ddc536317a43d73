import { isObject, spelledLike, type JsonObject } from '@gateway/json-body';

export { isObject, type JsonObject };

const NO_OBJECTS: readonly JsonObject[] = [];

/** The value as an object, an empty one where it is none: providers leave members out as they like. */
export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** The objects of a list, which is the list itself where it holds nothing else; nothing where it is none. */
export function objectsOf(value: unknown): readonly JsonObject[] {
  if (!Array.isArray(value)) return NO_OBJECTS;
  return value.every(isObject) ? value : value.filter(isObject);
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** A string that says something, else null. */
export function filled(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** The members that are wanted. A plain loop: this runs several times for each frame of a stream. */
export function pick(value: JsonObject, isWanted: (name: string) => boolean): JsonObject {
  const picked: JsonObject = {};
  for (const name in value) {
    // An assignment to that name would change the object's prototype instead.
    if (name !== '__proto__' && isWanted(name)) picked[name] = value[name];
  }
  return picked;
}

/** `value` without the named members. */
export function without(value: JsonObject, names: readonly string[]): JsonObject {
  return spelledLike(
    pick(value, (name) => !names.includes(name)),
    value,
  );
}

/** A count as providers report it, however large: what cannot be is doubted when it is metered. null for what is none. */
export function wholeCount(value: unknown): number | null {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : null;
}

/** The same of what an answer with content never has none of: there 0 was not reported, and is estimated. */
export function countOfSome(value: unknown): number | null {
  return wholeCount(value) || null;
}
