import { VERSIONS } from '@gateway/api-version';
import { BODY_LIMIT_BYTES, HEADER } from '@gateway/contracts';
import { COMPOSED_ENDPOINTS } from '@gateway/edge';
import { ENDPOINTS, type Endpoint } from '@gateway/endpoints';
import type { AccessRule } from '@gateway/platform';
import { classSchemas, nullableSchemas, withReferenced, type Schema } from './class-schemas.js';
import type { DescribedRoute } from './described-routes.js';

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
        attempts: { type: 'array', items: { type: 'object' } },
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

/** The public surface: what only the fleet may call is left out. */
export function openApi(routes: readonly DescribedRoute[]): Schema {
  const shown = routes.filter(({ access }) => !isInternal(access));
  const all = classSchemas();
  const named = shown.flatMap(({ body }) => (body === null ? [] : [body]));
  const paths: Record<string, Record<string, unknown>> = {};
  for (const { path, operations } of [...inferencePaths(), ...shown.map((route) => described(route, all))])
    paths[path] = { ...paths[path], ...operations };
  return {
    openapi: '3.1.0',
    info: {
      title: 'Model Gateway',
      version: VERSIONS.findLast(({ latest }) => latest)?.label,
      description: `Versions by the header ${HEADER.serviceVersion}: ${VERSIONS.map(({ label }) => label).join(', ')}. A body of more than ${BODY_LIMIT_BYTES} bytes is refused with 413 as HTML.`,
    },
    paths: Object.fromEntries(Object.entries(paths).sort(([a], [b]) => (a < b ? -1 : 1))),
    components: {
      securitySchemes: SECURITY_SCHEMES,
      schemas: {
        ...closed(withReferenced(nullableSchemas(all), named)),
        ...Object.fromEntries(DESCRIBED.map(({ docs }) => [docs.schemaName, docs.schema])),
        ErrorEnvelope: ERROR_ENVELOPE,
      },
    },
  };
}

/** Management bodies refuse members that they do not know. */
function closed(schemas: Record<string, Schema>): Record<string, Schema> {
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, { ...schema, additionalProperties: false }]),
  );
}

/** What the edge serves without Nest. */
const DESCRIBED: Pick<Endpoint, 'paths' | 'counts' | 'permission' | 'docs'>[] = [
  ...ENDPOINTS,
  ...COMPOSED_ENDPOINTS,
];

interface PathItem {
  path: string;
  operations: Record<string, unknown>;
}

/** Inference endpoints: the edge registers them without Nest, and each describes itself. */
function inferencePaths(): PathItem[] {
  return DESCRIBED.flatMap(({ paths, counts, permission, docs }) =>
    [
      ...paths.map((path) => ({ path, ...docs })),
      ...(counts ? [{ ...docs, ...counts, answers: ['application/json'], description: 'An estimate.' }] : []),
    ].flatMap(({ path, summary, schemaName, description, answers }) =>
      ['/v1', '/openai/v1'].map((base) => ({
        path: `${base}${path}`,
        operations: {
          post: {
            tags: ['edge'],
            summary,
            parameters: [VERSION_HEADER],
            security: securityOf({ key: { permission } }),
            'x-permission': permission,
            requestBody: { required: true, content: jsonOf(ref(schemaName)) },
            responses: {
              200: { description: `The answer. ${description}`, content: contentOf(answers) },
              default: FAILURE,
            },
          },
        },
      })),
    ),
  );
}

function contentOf(types: readonly string[]): Schema {
  return Object.fromEntries(
    types.map((type) => [
      type,
      { schema: type === 'application/json' ? { type: 'object' } : { type: 'string' } },
    ]),
  );
}

const VERSION_HEADER = {
  name: HEADER.serviceVersion,
  in: 'header',
  required: false,
  schema: { type: 'string', enum: VERSIONS.map(({ label }) => label) },
};
const FAILURE = { description: 'A failure; see GET /v1/errors.', content: jsonOf(ref('ErrorEnvelope')) };

function described(route: DescribedRoute, all: ReadonlyMap<string, Schema>): PathItem {
  const { path, method, service, access, status, body, query } = route;
  const permission = permissionOf(access);
  const operation = {
    tags: [service],
    parameters: [VERSION_HEADER, ...pathParameters(path), ...queryParameters(query, all)],
    security: securityOf(access),
    ...(permission === null ? {} : { 'x-permission': permission }),
    ...(body === null ? {} : { requestBody: { required: true, content: jsonOf(ref(body)) } }),
    responses: {
      [status]: { description: status === 204 ? 'Done.' : 'The answer.' },
      default: FAILURE,
    },
  };
  return { path, operations: { [method]: operation } };
}

function pathParameters(path: string): Schema[] {
  return [...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
}

function queryParameters(query: string | null, all: ReadonlyMap<string, Schema>): Schema[] {
  if (query === null) return [];
  const schema = all.get(query);
  if (schema === undefined) throw new Error(`There is no schema of ${query}.`);
  const required = new Set(schema.required as string[] | undefined);
  return Object.entries((schema.properties ?? {}) as Record<string, Schema>).map(([name, member]) => ({
    name,
    in: 'query',
    required: required.has(name),
    schema: member,
  }));
}

/** Alternatives, as the guard reads them; an empty list is nobody in particular. */
function securityOf({ key, session, superAdmin, adminKey }: AccessRule): Schema[] {
  return [
    ...(key === undefined ? [] : [{ apiKey: [] }]),
    ...(session === undefined && superAdmin === undefined ? [] : [{ session: [] }]),
    ...(adminKey === undefined ? [] : [{ adminKey: [adminKey.scope] }]),
  ];
}

function permissionOf({ key }: AccessRule): string | null {
  return key === undefined || key === true ? null : key.permission;
}

function isInternal({ key, session, superAdmin, adminKey, public: isPublic }: AccessRule): boolean {
  return [key, session, superAdmin, adminKey, isPublic].every((rule) => rule === undefined);
}

function ref(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` };
}

function jsonOf(schema: Schema): Schema {
  return { 'application/json': { schema } };
}
