import { isObject, type JsonObject } from '../../body/json-object.js';
import { spelledLike, writeJson } from '@gateway/json-body';
import { objectsAt } from './json.js';

const FORMATS = new Set([
  'date-time',
  'time',
  'date',
  'duration',
  'email',
  'hostname',
  'uri',
  'ipv4',
  'ipv6',
  'uuid',
]);
/** Keywords taken unchanged. */
const KEPT = new Set(['type', 'required', 'enum', 'const', '$ref', 'description', 'default']);
/** Say nothing about the value. */
const DROPPED = new Set([
  '$schema',
  '$id',
  'title',
  'examples',
  '$comment',
  'additionalProperties',
  'strict',
]);
/** Maps, because a schema may have a key `toString`. */
const LISTS = new Map(Object.entries({ anyOf: 'anyOf', allOf: 'allOf', oneOf: 'anyOf' }));
const MAPS = new Map(Object.entries({ properties: 'properties', $defs: '$defs', definitions: '$defs' }));

/**
 * A JSON Schema in the subset that structured output takes: closed objects, oneOf as anyOf, and the
 * constraints it has no word for said in the description.
 */
export function outputSchema(schema: unknown): unknown {
  if (!isObject(schema)) return schema === true || schema === undefined ? {} : schema;
  const result: JsonObject = {};
  const constraints: string[] = [];
  for (const [key, value] of Object.entries(schema)) {
    const list = LISTS.get(key);
    const map = MAPS.get(key);
    if (key === '$ref' && typeof value === 'string') {
      result.$ref = value.replace('#/definitions/', '#/$defs/');
    } else if (KEPT.has(key)) {
      result[key] = value;
    } else if (key === 'items') {
      result.items = outputSchema(value);
    } else if (list !== undefined && Array.isArray(value)) {
      result[list] = [...objectsAt(result, list), ...value.map((one) => outputSchema(one))];
    } else if (map !== undefined && isObject(value)) {
      const inner = Object.entries(value).map(([one, within]) => [one, outputSchema(within)]);
      const members = spelledLike(Object.fromEntries(inner) as JsonObject, value);
      const earlier = result[map];
      result[map] = isObject(earlier) ? { ...earlier, ...members } : members;
    } else if (key === 'format' && typeof value === 'string' && FORMATS.has(value)) {
      result.format = value;
    } else if (!DROPPED.has(key)) {
      constraints.push(`${key}: ${writeJson(value)}`);
    }
  }
  if (isObjectSchema(result)) result.additionalProperties = false;
  if (constraints.length > 0) {
    const words = `(${constraints.join(', ')})`;
    result.description = typeof result.description === 'string' ? `${result.description} ${words}` : words;
  }
  return spelledLike(result, schema);
}

function isObjectSchema({ type, properties }: JsonObject): boolean {
  if (type === undefined) return properties !== undefined;
  return Array.isArray(type) ? type.includes('object') : type === 'object';
}
