import { BASELINE_VERSION, VERSIONS } from '@gateway/api-version';
import { HEADER } from '@gateway/contracts';
import type { AccessRule } from '@gateway/platform';
import type { Schema } from './class-schemas.js';

/** One method of one path. */
export interface PathItem {
  path: string;
  method: string;
  operation: Operation;
}

export interface Operation {
  [member: string]: unknown;
  parameters: readonly Schema[];
  requestBody?: { required: boolean; content: Content };
  responses: Readonly<Record<string, Answer>>;
}

interface Answer {
  description: string;
  headers?: Readonly<Record<string, Schema>>;
  content?: Content;
}

/** Schemas by media type. */
export type Content = Readonly<Record<string, Schema>>;

export const VERSION_HEADER = {
  name: HEADER.serviceVersion,
  in: 'header',
  required: false,
  description: `The API version to be answered in; absent = that of the key, else the oldest (${BASELINE_VERSION}).`,
  schema: { type: 'string', enum: VERSIONS.map(({ label }) => label) },
};

/** Failures that every operation may answer with instead. */
export const FAILURES = {
  '4XX': { description: 'A fault of the request or the account; see GET /v1/errors.', content: failure(4) },
  '5XX': { description: 'A fault of the gateway or a provider; see GET /v1/errors.', content: failure(5) },
};

function failure(kind: 4 | 5): Content {
  const error =
    kind === 4
      ? { code: 'not_found', message: 'There is no such thing.' }
      : { code: 'service_unavailable', message: 'The service is not available for a moment.' };
  return {
    'application/json': {
      schema: ref('ErrorEnvelope'),
      example: { error, request_id: 'req_01k9x5t7v9e2m8b4c6d8f0g2h4' },
    },
  };
}

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

export function jsonOf(schema: Schema): Content {
  return { 'application/json': { schema } };
}

/** The schema is that of JSON; what else an endpoint answers with is text or bytes. */
export function contentOf(types: readonly string[], schema: Schema): Content {
  return Object.fromEntries(
    types.map((type) => [type, { schema: type === 'application/json' ? schema : { type: 'string' } }]),
  );
}
