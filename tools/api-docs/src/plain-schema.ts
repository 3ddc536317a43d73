import type { Schema } from './class-schemas.js';

/**
 * A schema as JSON Schema 2020-12 has it. Validators write `nullable` and `discriminator` in the way of OpenAPI 3.0, and
 * `oneOf` for texts of which some are of several formats at once.
 */
export function plainSchema(schema: Schema): Schema {
  return plain(schema) as Schema;
}

function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  const {
    nullable,
    discriminator: _dropped,
    oneOf,
    anyOf = oneOf,
    ...rest
  } = value as Record<string, unknown>;
  const [only, ...others] = [anyOf].flat();
  const alternatives = others.length > 0 ? { anyOf } : { ...(only as Schema | undefined) };
  const members = Object.entries({ ...rest, ...alternatives });
  const schema = Object.fromEntries(members.map(([name, member]) => [name, plain(member)]));
  if (nullable !== true) return schema;
  const { type, enum: values } = schema;
  if (type === undefined) return { anyOf: [schema, { type: 'null' }] };
  return {
    ...schema,
    type: [...new Set([type, 'null'].flat())],
    ...(Array.isArray(values) && !values.includes(null) ? { enum: [...(values as unknown[]), null] } : {}),
  };
}
