import { isObject, listOf, objectOf, textOf, type Json, type JsonObject } from './json.js';

const MAX_DEPTH = 8;

/**
 * A small value that conforms to a JSON Schema as tools and structured output use them: const, enum, default,
 * type, required properties, items, bounds, anyOf, allOf and local $ref. `hint` is put into free text.
 */
export function fillSchema(schema: Json | undefined, hint: string): Json {
  const root = objectOf(schema);
  return fill(root, { root, hint, name: '' }, 0);
}

interface Context {
  root: JsonObject;
  hint: string;
  name: string;
}

function fill(given: JsonObject, context: Context, depth: number): Json {
  if (depth > MAX_DEPTH) return null;
  const schema = resolve(given, context.root);
  if (schema.const !== undefined) return schema.const;
  const options = listOf(schema.enum);
  if (options.length > 0) return options[0];
  if (schema.default !== undefined) return schema.default;
  const branch = [...listOf(schema.anyOf), ...listOf(schema.oneOf)].find(isObject);
  if (branch !== undefined) return fill(branch, context, depth + 1);
  const all = listOf(schema.allOf).filter(isObject);
  if (all.length > 0) return fillAll(all, schema, context, depth);
  switch (typeOf(schema)) {
    case 'object':
      return fillObject(schema, context, depth);
    case 'array':
      return fillArray(schema, context, depth);
    case 'integer':
    case 'number':
      return fillNumber(schema);
    case 'boolean':
      return true;
    case 'null':
      return null;
    default:
      return fillString(schema, context);
  }
}

function fillAll(parts: JsonObject[], schema: JsonObject, context: Context, depth: number): Json {
  const { allOf: _dropped, ...own } = schema;
  const filled = [...parts, own].map((part) => objectOf(fill(part, context, depth + 1)));
  return filled.reduce((joined, part) => ({ ...joined, ...part }), {});
}

function resolve(schema: JsonObject, root: JsonObject): JsonObject {
  let found = schema;
  for (let hops = 0; hops < MAX_DEPTH; hops += 1) {
    const reference = textOf(found.$ref);
    if (!reference.startsWith('#')) return found;
    let target: Json | undefined = root;
    for (const step of reference.slice(1).split('/').filter(Boolean)) target = objectOf(target)[step];
    found = objectOf(target);
  }
  return found;
}

function typeOf(schema: JsonObject): string {
  const type = schema.type;
  if (Array.isArray(type)) return textOf(listOf(type)[0]);
  if (typeof type === 'string') return type;
  if (schema.properties !== undefined) return 'object';
  return schema.items === undefined ? 'string' : 'array';
}

function fillObject(schema: JsonObject, context: Context, depth: number): Json {
  const properties = objectOf(schema.properties);
  const required = listOf(schema.required).map(textOf);
  const filled: Record<string, Json> = {};
  if (depth >= MAX_DEPTH) return filled;
  for (const name of required) {
    filled[name] = fill(objectOf(properties[name]), { ...context, name }, depth + 1);
  }
  return filled;
}

function fillArray(schema: JsonObject, context: Context, depth: number): Json {
  const least = typeof schema.minItems === 'number' ? schema.minItems : 1;
  if (depth >= MAX_DEPTH) return [];
  const item = fill(objectOf(schema.items), context, depth + 1);
  return Array.from({ length: Math.min(least, 100) }, () => item);
}

function fillNumber(schema: JsonObject): number {
  if (typeof schema.minimum === 'number') return Math.ceil(schema.minimum);
  if (typeof schema.exclusiveMinimum === 'number') return Math.floor(schema.exclusiveMinimum) + 1;
  if (typeof schema.maximum === 'number' && schema.maximum < 1) return Math.floor(schema.maximum);
  return 1;
}

const FORMATS: Readonly<Record<string, string>> = {
  date: '2026-01-02',
  'date-time': '2026-01-02T03:04:05Z',
  time: '03:04:05Z',
  email: 'someone@example.com',
  uri: 'https://example.com/',
  uuid: '00000000-0000-4000-8000-000000000000',
};

function fillString(schema: JsonObject, context: Context): string {
  const format = FORMATS[textOf(schema.format)];
  if (format !== undefined) return format;
  const text = context.hint === '' ? context.name || 'text' : context.hint;
  const least = typeof schema.minLength === 'number' ? schema.minLength : 0;
  const most = typeof schema.maxLength === 'number' ? schema.maxLength : 80;
  return text.padEnd(least, '.').slice(0, most);
}
