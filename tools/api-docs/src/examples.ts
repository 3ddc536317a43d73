import type { Schema } from './class-schemas.js';
import type { Content, Operation } from './operation.js';
import { MESSAGE, VALUES } from './example-values.js';

const REF = '#/components/schemas/';
/** Deeper than any answer; what refers to itself ends there. */
const DEPTH_MAX = 8;

type Schemas = Readonly<Record<string, Schema>>;

/** No text that is known fits: what it would stand in has no example. */
class NoExample extends Error {}

function orNone<T>(make: () => T): { example?: T } {
  try {
    return { example: make() };
  } catch (failure) {
    if (failure instanceof NoExample) return {};
    throw failure;
  }
}

/** Bodies that their schemas take, made of values that look like the gateway's own. */
export class Examples {
  constructor(private readonly schemas: Schemas) {}

  /** Returns the required members, or the first member where none is required. */
  request(schema: Schema): unknown {
    return this.value(schema, '', 'required', 0);
  }

  /** Every member. */
  answer(schema: Schema): unknown {
    return this.value(schema, '', 'all', 0);
  }

  /** Returns an example for a field or parameter of this name. */
  named(name: string, schema: Schema): unknown {
    return this.value(schema, name, 'all', 0);
  }

  private value(given: Schema, name: string, members: 'all' | 'required', depth: number): unknown {
    const schema = this.resolved(given);
    if (schema.const !== undefined) return schema.const;
    if (schema.default !== undefined) return schema.default;
    if (Array.isArray(schema.enum)) return (schema.enum as unknown[])[0];
    const [type] = [schema.type].flat();
    if (type === 'object' || schema.properties !== undefined)
      return this.object(schema, name, members, depth);
    if (type === 'array') return this.array(schema, name, members, depth);
    if (type === 'boolean') return true;
    if (type === 'null') return null;
    return scalar(schema, type, name);
  }

  /** Resolves references, and takes the first of alternatives. */
  private resolved(schema: Schema): Schema {
    if (typeof schema.$ref === 'string') return this.resolved(this.schemas[schema.$ref.slice(REF.length)]);
    const alternatives = (schema.anyOf ?? schema.oneOf) as Schema[] | undefined;
    return alternatives === undefined
      ? schema
      : this.resolved({ ...schema, anyOf: undefined, oneOf: undefined, ...alternatives[0] });
  }

  private array(
    { items, minItems }: Schema,
    name: string,
    members: 'all' | 'required',
    depth: number,
  ): unknown[] {
    if (items === undefined) return minItems === undefined ? [] : [MESSAGE];
    // An object at the last depth is empty, and may lack what its schema requires.
    if (depth + 1 >= DEPTH_MAX && minItems === undefined) return [];
    return [this.value(items as Schema, singular(name), members, depth + 1)];
  }

  private object(schema: Schema, name: string, members: 'all' | 'required', depth: number): unknown {
    const properties = Object.entries((schema.properties ?? {}) as Schemas);
    const required = new Set(schema.required as string[] | undefined);
    const others = schema.additionalProperties;
    if (depth >= DEPTH_MAX) return {};
    if (properties.length === 0 && typeof others === 'object')
      return { [keyOf(name)]: this.value(others as Schema, keyOf(name), members, depth + 1) };
    const shown = properties.filter(([field]) => members === 'all' || required.has(field));
    const chosen = shown.length === 0 ? properties.slice(0, 1) : shown;
    const patterns = Object.entries((schema.patternProperties ?? {}) as Schemas);
    return Object.fromEntries([
      ...chosen.map(([field, member]) => [field, this.value(member, field, members, depth + 1)]),
      ...patterns.map(([pattern, member]) => [
        `${pattern.slice(1)}tools`,
        this.value(member, '', members, depth + 1),
      ]),
    ]);
  }
}

/** The operation with an example of each parameter, of its body and of its good answers. */
export function withExamples(operation: Operation, examples: Examples): Operation {
  const { parameters, requestBody, responses } = operation;
  return {
    ...operation,
    parameters: parameters.map((parameter) => ({
      ...parameter,
      ...orNone(() => examples.named(String(parameter.name), parameter.schema as Schema)),
    })),
    ...(requestBody === undefined
      ? {}
      : {
          requestBody: {
            ...requestBody,
            content: shown(requestBody.content, (schema) => examples.request(schema)),
          },
        }),
    responses: Object.fromEntries(
      Object.entries(responses).map(([status, response]) => [
        status,
        response.content === undefined
          ? response
          : { ...response, content: shown(response.content, (schema) => examples.answer(schema)) },
      ]),
    ),
  };
}

/** JSON that has no example yet. */
function shown(content: Content, exampleOf: (schema: Schema) => unknown): Content {
  return Object.fromEntries(
    Object.entries(content).map(([type, media]) => [
      type,
      type !== 'application/json' || media.example !== undefined
        ? media
        : { ...media, ...orNone(() => exampleOf(media.schema as Schema)) },
    ]),
  );
}

/** The first value that the schema takes: one of the name's own before one of all names. */
function scalar(schema: Schema, type: unknown, name: string): unknown {
  if (type === 'integer' || type === 'number') return Math.max(numberOf(name), Number(schema.minimum ?? 0));
  const candidates = VALUES.filter(([pattern]) => pattern.test(name)).map(([, value]) => value);
  const found = candidates.find((text) => fits(text, schema));
  if (found === undefined) throw new NoExample(name);
  return found;
}

function fits(text: string, { pattern, minLength, maxLength, format }: Schema): boolean {
  if (typeof pattern === 'string' && !new RegExp(pattern, 'u').test(text)) return false;
  if (format === 'date-time' && Number.isNaN(Date.parse(text))) return false;
  if (format === 'email' && !text.includes('@')) return false;
  return text.length >= Number(minLength ?? 0) && text.length <= Number(maxLength ?? Infinity);
}

function numberOf(name: string): number {
  if (/_ms$/.test(name)) return 412;
  if (/tokens/.test(name)) return 128;
  if (/limit|rpm|tpm|rpd/.test(name)) return 50;
  return /status/.test(name) ? 200 : 1;
}

function keyOf(name: string): string {
  return /tags|metadata|variables/.test(name)
    ? 'environment'
    : /headers/.test(name)
      ? 'content-type'
      : 'openai/gpt-5.1';
}

function singular(name: string): string {
  return name.replace(/ies$/, 'y').replace(/s$/, '');
}
