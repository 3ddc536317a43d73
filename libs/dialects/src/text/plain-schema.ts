import { numberText, writeJson } from '@gateway/json-body';
import { isDeepStrictEqual } from 'node:util';
import { isObject, objectOf, objectsOf, textOf, without, type JsonObject } from '../body/json-object.js';
import type { Tool } from './model-request.js';

/** Words that some upstream refuses at the top of a tool's schema, or leaves out without a report. */
const FOLDED = ['$ref', 'anyOf', 'oneOf', 'allOf', 'not', 'enum'];
const OWN = [...FOLDED, 'type', 'properties', 'required', 'additionalProperties'];
/** Bounds of one schema: branches and members that are read, and characters that tell of the choice. */
const BRANCHES_MAX = 256;
const MEMBERS_MAX = 10_000;
const WORDS_MAX = 1_024;

/** The object that a schema describes. */
interface Shape {
  properties: Map<string, unknown>;
  required: string[];
  /** No other member is allowed. */
  isClosed: boolean;
  /** Members of the schema that stay as they are. */
  others: JsonObject;
  /** The choices that one object cannot say. */
  words: string[];
}

/**
 * The tool with a schema that every upstream takes: one object. Claude and OpenAI refuse a choice at its top, Gemini and
 * Ollama drop it. The choice is told in the description; schemas deeper down stay as they are.
 */
export function plainTool(tool: Tool): Tool {
  const { parameters } = tool;
  if (tool.custom !== undefined) return tool;
  if (parameters === undefined || !FOLDED.some((name) => name in parameters))
    return { ...tool, parameters: objectSchema(parameters) };
  const { others, properties, required, isClosed, words } = new SchemaFold(parameters).shape();
  const { strict, ...rest } = tool;
  const told = cut(words.join(' '));
  return {
    ...rest,
    ...(told === '' ? {} : { description: tool.description ? `${tool.description}\n\n${told}` : told }),
    parameters: {
      ...others,
      type: 'object',
      properties: Object.fromEntries(properties),
      ...(required.length === 0 ? {} : { required }),
      ...(isClosed ? { additionalProperties: false } : openness(parameters)),
    },
    // A strict schema demands every member, which those of a choice are not.
    ...(strict === undefined || told !== '' ? {} : { strict }),
  };
}

/** The schema as it came where it says that it is of an object with members. */
function objectSchema(schema: JsonObject = {}): JsonObject {
  const hasMembers = isObject(schema.properties);
  if (schema.type === 'object' && hasMembers) return schema;
  const { type: _type, ...rest } = schema;
  return { type: 'object', ...rest, ...(hasMembers ? {} : { properties: {} }) };
}

/** True where the schema lets a caller say nothing at all. */
export function isEmptySchema(schema: JsonObject): boolean {
  const { properties, required, additionalProperties, ...rest } = schema;
  const said = without(rest, ['type', '$schema', '$id', '$defs', 'definitions', 'title', 'description']);
  return (
    Object.keys(objectOf(properties)).length === 0 &&
    !(Array.isArray(required) && required.length > 0) &&
    !isObject(additionalProperties) &&
    Object.keys(said).length === 0
  );
}

function isObjectType(type: unknown): boolean {
  return type === 'object' || (Array.isArray(type) && type.includes('object'));
}

function openness({ additionalProperties }: JsonObject): JsonObject {
  return additionalProperties === undefined || additionalProperties === false ? {} : { additionalProperties };
}

function cut(words: string): string {
  return words.length <= WORDS_MAX ? words : `${words.slice(0, WORDS_MAX - 1)}…`;
}

/** Reads one schema whose top is a choice, a reference or both. */
class SchemaFold {
  private branchesLeft = BRANCHES_MAX;
  private membersLeft = MEMBERS_MAX;

  constructor(private readonly root: JsonObject) {}

  shape(): Shape {
    return this.read(this.root, new Set());
  }

  /** `path`: references that are being followed, so that none goes in circles. */
  private read(schema: JsonObject, path: ReadonlySet<string>): Shape {
    if (this.branchesLeft <= 0 || this.membersLeft <= 0) return ownShape({});
    let shape = ownShape(schema);
    this.branchesLeft -= 1;
    this.membersLeft -= shape.properties.size;
    const ref = textOf(schema.$ref);
    if (ref !== '' && !path.has(ref)) {
      const target = this.resolved(ref);
      if (target !== null) shape = both(shape, this.read(target, new Set([...path, ref])));
    }
    for (const part of objectsOf(schema.allOf)) shape = both(shape, this.read(part, path));
    for (const name of ['anyOf', 'oneOf']) {
      const branches = this.branches(schema[name]).map((branch) => this.read(branch, path));
      if (branches.length > 0) shape = both(shape, either(branches, shape, name === 'oneOf'));
    }
    for (const name of ['not', 'enum'])
      if (schema[name] !== undefined) shape.words.push(`${name}: ${writeJson(schema[name])}.`);
    return shape;
  }

  /** The branches that an object may take; `true` allows anything. */
  private branches(list: unknown): JsonObject[] {
    if (!Array.isArray(list)) return [];
    return (list as unknown[])
      .map((branch) => (branch === true ? {} : branch))
      .filter(isObject)
      .filter(({ type }) => type === undefined || isObjectType(type));
  }

  /** The schema that a reference into the same document names; null for any other. */
  private resolved(ref: string): JsonObject | null {
    if (!ref.startsWith('#')) return null;
    let value: unknown = this.root;
    for (const step of ref.slice(1).split('/').slice(1)) {
      const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
      if (Array.isArray(value)) value = (value as unknown[])[Number(name)];
      else value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
    }
    return isObject(value) && value !== this.root ? value : null;
  }
}

function ownShape(schema: JsonObject): Shape {
  const { required } = schema;
  return {
    properties: new Map(Object.entries(objectOf(schema.properties))),
    required: Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [],
    isClosed: schema.additionalProperties === false,
    others: without(schema, OWN),
    words: [],
  };
}

/** An object of both shapes. The members of both count as known, though one of them names none of the other's. */
function both(one: Shape, other: Shape): Shape {
  const properties = new Map(one.properties);
  for (const [name, schema] of other.properties)
    properties.set(name, properties.has(name) ? joined(properties.get(name), schema) : schema);
  return {
    properties,
    required: [...new Set([...one.required, ...other.required])],
    isClosed: one.isClosed || other.isClosed,
    others: { ...other.others, ...one.others },
    words: [...one.words, ...other.words],
  };
}

/** An object of any of the shapes; `base` is what all of them have in common. */
function either(shapes: readonly Shape[], base: Shape, isExact: boolean): Shape {
  const properties = new Map<string, unknown>();
  for (const name of new Set(shapes.flatMap((shape) => [...shape.properties.keys()])))
    properties.set(name, anyOf(shapes.flatMap((shape) => shape.properties.get(name) ?? [])));
  const [first, ...rest] = shapes;
  const isChoice = rest.length > 0;
  const forms = shapes.map((shape, at) => `(${at + 1}) ${wordsOf(shape, base)}`);
  const told = `The arguments are ${isExact ? 'exactly' : 'at least'} one of: ${forms.join('; ')}.`;
  return {
    properties,
    required: first.required.filter((name) => rest.every(({ required }) => required.includes(name))),
    isClosed: shapes.every(({ isClosed }) => isClosed),
    // What one form alone says of the whole object is not true of the others.
    others: isChoice ? {} : first.others,
    words: isChoice ? [told] : first.words,
  };
}

/** A form in words: its members, those that it requires first, each with its value where it has only one. */
function wordsOf({ properties, required, words }: Shape, base: Shape): string {
  const named = (name: string): string => {
    const schema = objectOf(properties.get(name));
    if (schema.const === undefined) return name;
    return `${name} = ${numberText(schema, 'const') ?? writeJson(schema.const)}`;
  };
  const isNew = (name: string): boolean => !base.required.includes(name);
  const needed = required.filter(isNew).map(named);
  const free = [...properties.keys()].filter((name) => isNew(name) && !required.includes(name)).map(named);
  const list = needed.length === 0 ? free : needed;
  const optional = needed.length === 0 || free.length === 0 ? [] : [`optionally ${free.join(', ')}`];
  const said = [...list, ...optional].join(', ');
  return [said === '' ? 'nothing more' : said, ...words].join(' ');
}

/** A value of both schemas. */
function joined(one: unknown, other: unknown): unknown {
  if (one === other || isAnything(other)) return one;
  if (isAnything(one)) return other;
  if (!isObject(one) || !isObject(other)) return other;
  const isTold = (name: string): boolean => name === 'title' || name === 'description';
  const conflicts = Object.keys(other).some(
    (name) => !isTold(name) && name in one && !isDeepStrictEqual(one[name], other[name]),
  );
  return conflicts ? { allOf: [one, other] } : { ...one, ...other };
}

/** A value of any of the schemas; values that stand for themselves become one list. */
function anyOf(schemas: readonly unknown[]): unknown {
  const texts = [...new Set(schemas)].map((schema): [string, unknown] => [writeJson(schema), schema]);
  const distinct = [...new Map(texts).values()];
  if (distinct.length === 1 || distinct.some(isAnything)) return distinct.find(isAnything) ?? distinct[0];
  const types = new Set(distinct.map((schema) => objectOf(schema).type));
  const values = distinct.map((schema) => valuesOf(objectOf(schema)));
  if (types.size > 1 || values.includes(null)) return { anyOf: distinct };
  const [type] = types;
  return { ...(type === undefined ? {} : { type }), enum: [...new Set(values.flat())] };
}

/** The only values of a schema that says nothing else; null for any other. */
function valuesOf(schema: JsonObject): unknown[] | null {
  const isMore = Object.keys(without(schema, ['type', 'const', 'enum'])).length > 0;
  // A number that no double keeps would be another one in the list.
  const isOdd = writeJson(schema) !== JSON.stringify(schema);
  if (isMore || isOdd || ('const' in schema && 'enum' in schema)) return null;
  if ('const' in schema) return [schema.const];
  return Array.isArray(schema.enum) ? schema.enum : null;
}

function isAnything(schema: unknown): boolean {
  return schema === true || (isObject(schema) && Object.keys(schema).length === 0);
}
