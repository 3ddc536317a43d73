import type { Schema } from './class-schemas.js';

export const text: Schema = { type: 'string' };
export const count: Schema = { type: 'integer', minimum: 0 };
export const number: Schema = { type: 'number' };
export const flag: Schema = { type: 'boolean' };
export const seconds: Schema = { type: 'integer', description: 'Unix time in seconds.' };
export const open: Schema = { type: 'object', additionalProperties: true };
export const orNull = ({ type, ...rest }: Schema): Schema => ({ ...rest, type: [type as string, 'null'] });
export const list = (items: Schema): Schema => ({ type: 'array', items });
export const kind = (value: string): Schema => ({ type: 'string', enum: [value] });

/** Members named with a `?` at their end may be absent. */
export function object(members: Record<string, Schema>, description?: string): Schema {
  const entries = Object.entries(members);
  return {
    type: 'object',
    ...(description === undefined ? {} : { description }),
    properties: Object.fromEntries(entries.map(([name, schema]) => [name.replace(/\?$/, ''), schema])),
    required: entries.flatMap(([name]) => (name.endsWith('?') ? [] : [name])),
    additionalProperties: true,
  };
}
