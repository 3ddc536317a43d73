import { VERSIONS } from '@gateway/api-version';
import { HEADER } from '@gateway/contracts';
import type { AccessRule } from '@gateway/platform';
import type { Schema } from './class-schemas.js';

export interface PathItem {
  path: string;
  operations: Record<string, unknown>;
}

export const VERSION_HEADER = {
  name: HEADER.serviceVersion,
  in: 'header',
  required: false,
  description: 'The API version to be answered in; absent = that of the key, else the newest.',
  schema: { type: 'string', enum: VERSIONS.map(({ label }) => label) },
};

export const FAILURE = {
  description: 'A failure; see GET /v1/errors.',
  content: jsonOf(ref('ErrorEnvelope')),
};

/** Alternatives, as the guard reads them; an empty list is nobody in particular. */
export function securityOf({ key, session, superAdmin, adminKey }: AccessRule): Schema[] {
  return [
    ...(key === undefined ? [] : [{ apiKey: [] }]),
    ...(session === undefined && superAdmin === undefined ? [] : [{ session: [] }]),
    ...(adminKey === undefined ? [] : [{ adminKey: [adminKey.scope] }]),
  ];
}

export function ref(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` };
}

export function jsonOf(schema: Schema): Schema {
  return { 'application/json': { schema } };
}

/** The schema is that of JSON; what else an endpoint answers with is text or bytes. */
export function contentOf(types: readonly string[], schema: Schema): Schema {
  return Object.fromEntries(
    types.map((type) => [type, { schema: type === 'application/json' ? schema : { type: 'string' } }]),
  );
}
