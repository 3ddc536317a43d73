import { isObject, type JsonObject } from '../../body/json-object.js';

/** The member where it is an object, else an empty one: answers of providers are read leniently. */
export function objectAt(value: JsonObject, key: string): JsonObject {
  const member = value[key];
  return isObject(member) ? member : {};
}

/** Objects of the array under the key; anything else counts as none. */
export function objectsAt(value: JsonObject, key: string): JsonObject[] {
  const member = value[key];
  return Array.isArray(member) ? member.filter(isObject) : [];
}

/** The string under the key, "" where there is none. */
export function textAt(value: JsonObject, key: string): string {
  const member = value[key];
  return typeof member === 'string' ? member : '';
}

export function textOrNull(value: JsonObject, key: string): string | null {
  const member = value[key];
  return typeof member === 'string' ? member : null;
}

export function numberOrNull(value: JsonObject, key: string): number | null {
  const member = value[key];
  return typeof member === 'number' ? member : null;
}
