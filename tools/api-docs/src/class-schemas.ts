import { createRequire } from 'node:module';
import { getMetadataStorage, ValidationTypes } from 'class-validator';
import { validationMetadatasToSchemas } from 'class-validator-jsonschema';

export type Schema = Readonly<Record<string, unknown>>;

const REF = '#/components/schemas/';

interface Transforming {
  target: unknown;
  propertyName: string;
  transformFn: (given: { value: unknown }) => unknown;
}

/** class-transformer keeps its types where its index does not reach. */
const storage = createRequire(import.meta.url)('class-transformer/cjs/storage') as {
  defaultMetadataStorage: never;
};

/** JSON Schemas of every decorated class that has been loaded, by the class's name. */
export function classSchemas(): ReadonlyMap<string, Schema> {
  const schemas = validationMetadatasToSchemas({
    classTransformerMetadataStorage: storage.defaultMetadataStorage,
    refPointerPrefix: REF,
  });
  return new Map(Object.entries(schemas as Record<string, Schema>));
}

/** The same with the classes that add no field of their own: they are as the class that they extend. */
export function withInherited(
  all: ReadonlyMap<string, Schema>,
  types: Iterable<{ name: string }>,
): ReadonlyMap<string, Schema> {
  const found = new Map(all);
  for (const type of types) {
    const { name } = Object.getPrototypeOf(type) as { name: string };
    const inherited = all.get(name);
    if (!found.has(type.name) && inherited !== undefined) found.set(type.name, inherited);
  }
  return found;
}

/** The same with null where the validator takes it: `@IsOptional()` lets null by as well as absence, `@ValidateIf()` may not. */
export function nullableSchemas(all: ReadonlyMap<string, Schema>): ReadonlyMap<string, Schema> {
  return new Map([...all].map(([name, schema]) => [name, withNulls(schema, refusingNull(name))]));
}

/** The same with a number beside the text that a body's number is made into before it is judged. */
export function numberSchemas(all: ReadonlyMap<string, Schema>): ReadonlyMap<string, Schema> {
  return new Map([...all].map(([name, schema]) => [name, withNumbers(schema, takingNumbers(name))]));
}

/** Members of a class, its own and inherited ones, whose numbers are turned into text. */
function takingNumbers(name: string): ReadonlySet<string> {
  const { _transformMetadatas: byClass } = storage.defaultMetadataStorage as unknown as {
    _transformMetadatas: ReadonlyMap<unknown, ReadonlyMap<string, readonly Transforming[]>>;
  };
  const target = classOf(name);
  const transforms = [...byClass.values()].flatMap((members) => [...members.values()].flat());
  const own = transforms.filter((one) => isOf(target, one.target) && one.transformFn({ value: 1 }) === '1');
  return new Set(own.map(({ propertyName }) => propertyName));
}

function withNumbers(schema: Schema, taking: ReadonlySet<string>): Schema {
  if (taking.size === 0) return schema;
  const properties = Object.entries((schema.properties ?? {}) as Record<string, Schema>);
  return {
    ...schema,
    properties: Object.fromEntries(
      properties.map(([name, member]) => [
        name,
        taking.has(name) ? { ...member, type: ['string', 'number'] } : member,
      ]),
    ),
  };
}

interface Condition {
  target: unknown;
  type: string;
  propertyName: string;
  constraints: ((body: object, value: unknown) => boolean)[];
}

/** Members of a class, its own and inherited ones, whose conditions all say that null is judged like any value. */
function refusingNull(name: string): ReadonlySet<string> {
  const { validationMetadatas } = getMetadataStorage() as unknown as {
    validationMetadatas: ReadonlyMap<unknown, readonly Condition[]>;
  };
  const target = classOf(name);
  const conditions = [...validationMetadatas.values()]
    .flat()
    .filter((one) => one.type === ValidationTypes.CONDITIONAL_VALIDATION && isOf(target, one.target));
  const letsNullBy = ({ propertyName, constraints: [isJudged] }: Condition): boolean =>
    !isJudged({ [propertyName]: null }, null);
  const letBy = new Set(conditions.filter(letsNullBy).map(({ propertyName }) => propertyName));
  return new Set(conditions.map(({ propertyName }) => propertyName).filter((member) => !letBy.has(member)));
}

function classOf(name: string): unknown {
  const { validationMetadatas } = getMetadataStorage() as unknown as {
    validationMetadatas: ReadonlyMap<unknown, unknown>;
  };
  return [...validationMetadatas.keys()].find((one) => typeof one === 'function' && one.name === name);
}

function isOf(target: unknown, declaring: unknown): boolean {
  if (typeof target !== 'function' || typeof declaring !== 'function') return false;
  return target === declaring || target.prototype instanceof declaring;
}

function withNulls(schema: Schema, refusing: ReadonlySet<string>): Schema {
  const required = new Set([...((schema.required as string[] | undefined) ?? []), ...refusing]);
  const properties = Object.entries((schema.properties ?? {}) as Record<string, Schema>);
  return {
    ...schema,
    properties: Object.fromEntries(
      properties.map(([name, member]) => [name, required.has(name) ? member : nullable(member)]),
    ),
  };
}

function nullable(member: Schema): Schema {
  const { type, $ref, enum: values, anyOf } = member;
  if ($ref !== undefined) return { anyOf: [{ $ref }, { type: 'null' }] };
  return {
    ...member,
    ...(type === undefined ? {} : { type: [type, 'null'].flat() }),
    ...(Array.isArray(anyOf) ? { anyOf: [...(anyOf as unknown[]), { type: 'null' }] } : {}),
    ...(Array.isArray(values) ? { enum: [...(values as unknown[]), null] } : {}),
  };
}

/**
 * Returns the named classes and all that they refer to, except those defined elsewhere. Throws where one is not known.
 */
export function withReferenced(
  all: ReadonlyMap<string, Schema>,
  names: Iterable<string>,
  elsewhere: readonly string[] = [],
): Record<string, Schema> {
  const found = new Map<string, Schema>();
  const waiting = [...names];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (found.has(name) || elsewhere.includes(name)) continue;
    const schema = all.get(name);
    if (schema === undefined) throw new Error(`There is no schema of ${name}.`);
    found.set(name, schema);
    waiting.push(...references(schema));
  }
  return Object.fromEntries([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function references(schema: Schema): string[] {
  const text = JSON.stringify(schema);
  return [...text.matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)].map(([, name]) => name);
}
