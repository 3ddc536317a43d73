export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value as an object, an empty one where it is none: providers leave members out as they like. */
export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** The objects of a list, nothing where it is none. */
export function objectsOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** A string that says something, else null. */
export function filled(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

/** `value` without the named members. */
export function without(value: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)));
}
