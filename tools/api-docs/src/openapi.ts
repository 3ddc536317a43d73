import { VERSIONS } from '@gateway/api-version';
import { BODY_LIMIT_BYTES, HEADER } from '@gateway/contracts';
import type { AccessRule } from '@gateway/platform';
import {
  classSchemas,
  nullableSchemas,
  numberSchemas,
  withReferenced,
  type Schema,
} from './class-schemas.js';
import type { DescribedRoute } from './described-routes.js';
import { Examples, withExamples } from './examples.js';
import { answerSchemas, withAnswer } from './inference-answers.js';
import { inferenceOperations, inferenceSchemas, withBegunBody } from './inference-operations.js';
import { managementOperation } from './management-operations.js';
import { HEADERS, withHeaders } from './response-headers.js';
import { plainSchema } from './plain-schema.js';
import type { SourceTypes } from './source-types.js';
import { withTypes } from './untyped-members.js';
import { uploadOperations } from './upload-operation.js';

const ERROR_ENVELOPE: Schema = {
  type: 'object',
  required: ['error', 'request_id'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message'],
      properties: {
        code: { type: 'string', description: 'Stable; see GET /v1/errors.' },
        message: { type: 'string' },
        type: { type: 'string' },
        param: { type: ['string', 'null'] },
        provider_code: { type: 'string' },
        details: {
          type: 'array',
          items: {
            type: 'object',
            required: ['type', 'loc', 'msg'],
            properties: {
              type: { type: 'string' },
              loc: { type: 'array', items: { type: ['string', 'integer'] } },
              msg: { type: 'string' },
            },
          },
        },
        supported_versions: { type: 'array', items: { type: 'string' } },
        attempts: {
          type: 'array',
          description: 'Of an error after several attempts: how each failed.',
          items: {
            type: 'object',
            required: ['n', 'code', 'provider_code', 'status', 'fault'],
            properties: {
              n: { type: 'integer', minimum: 1 },
              code: { type: 'string' },
              provider_code: { type: ['string', 'null'] },
              status: { type: ['integer', 'null'] },
              fault: { type: 'string', enum: ['caller', 'account', 'service'] },
            },
          },
        },
      },
    },
    request_id: { type: 'string' },
  },
};

const SECURITY_SCHEMES = {
  apiKey: { type: 'http', scheme: 'bearer', description: 'An inference key, `rsk_…`; also as x-api-key.' },
  session: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'Answer of POST /auth/login.',
  },
  adminKey: { type: 'http', scheme: 'bearer', description: 'An admin key, `mak_…`.' },
};

const TAGS = [
  { name: 'inference', description: 'Requests to models, with an inference key.' },
  { name: 'keys', description: 'Accounts, keys, organizations, members, teams, templates.' },
  { name: 'catalogue', description: 'Models, prices, providers, error codes.' },
  { name: 'usage', description: 'What was used, and what is left.' },
  { name: 'notifications', description: 'Channels, policies and deliveries.' },
  { name: 'workers', description: 'What is kept between requests.' },
  { name: 'edge', description: 'The gateway itself.' },
];

/** The public surface: what only the fleet may call is left out. `source` is where the handlers are written. */
export function openApi(routes: readonly DescribedRoute[], source: SourceTypes): Schema {
  const shown = routes.filter(({ access }) => !isInternal(access));
  const all = new Map(
    [...classSchemas()].map(([name, schema]) => [
      name,
      plainSchema(commented(name, withTypes(name, schema), source)),
    ]),
  );
  const bodies = shown.flatMap(({ body }) => (body === null ? [] : [body]));
  const items = [
    ...inferenceOperations(),
    ...uploadOperations(),
    ...shown.map((route) => managementOperation(route, all, source)),
  ].map((item) => withHeaders(withAnswer(withBegunBody(item))));
  const typed = [...source.answerSchemas()].map(([name, schema]) => [name, withTypes(name, schema)] as const);
  const answers = { ...Object.fromEntries(typed), ...answerSchemas() };
  const schemas = named(
    closed(withReferenced(nullableSchemas(numberSchemas(all)), bodies, Object.keys(answers))),
    answers,
    inferenceSchemas(),
    { ErrorEnvelope: ERROR_ENVELOPE },
  );
  const examples = new Examples(schemas);
  const paths: Record<string, Record<string, unknown>> = {};
  for (const { path, method, operation } of items)
    paths[path] = { ...paths[path], [method]: withExamples(operation, examples) };
  return {
    openapi: '3.1.0',
    info: {
      title: 'Model Gateway',
      version: VERSIONS.findLast(({ latest }) => latest)?.label,
      license: { name: 'All rights reserved', identifier: 'LicenseRef-Proprietary' },
      description: `Versions by the header ${HEADER.serviceVersion}: ${VERSIONS.map(({ label }) => label).join(', ')}. A body of more than ${BODY_LIMIT_BYTES} bytes is refused with 413 as HTML.`,
    },
    servers: [{ url: '/', description: 'The gateway that serves this document.' }],
    tags: TAGS,
    paths: Object.fromEntries(Object.entries(paths).sort(byName)),
    components: {
      securitySchemes: SECURITY_SCHEMES,
      headers: HEADERS,
      schemas: Object.fromEntries(Object.entries(schemas).sort(byName)),
    },
  };
}

/** Adds the comments of the class and its fields, which validators do not hold. */
function commented(name: string, schema: Schema, source: SourceTypes): Schema {
  const comments = source.fieldComments(name);
  const members = Object.entries((schema.properties ?? {}) as Record<string, Schema>).map(
    ([field, member]) => {
      const description = comments.get(field) ?? '';
      return [field, description === '' ? member : { ...member, description }] as const;
    },
  );
  return members.length === 0 ? schema : { ...schema, properties: Object.fromEntries(members) };
}

/** Management bodies refuse members that they do not know. */
function closed(schemas: Record<string, Schema>): Record<string, Schema> {
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, { ...schema, additionalProperties: false }]),
  );
}

/** All of them in one. Throws where two have the same name. */
function named(...parts: Record<string, Schema>[]): Record<string, Schema> {
  const found: Record<string, Schema> = {};
  for (const [name, schema] of parts.flatMap((part) => Object.entries(part))) {
    if (found[name] !== undefined) throw new Error(`Two schemas are named ${name}.`);
    found[name] = schema;
  }
  return found;
}

function byName([a]: [string, unknown], [b]: [string, unknown]): number {
  return a < b ? -1 : 1;
}

function isInternal({ key, session, superAdmin, adminKey, public: isPublic }: AccessRule): boolean {
  return [key, session, superAdmin, adminKey, isPublic].every((rule) => rule === undefined);
}
