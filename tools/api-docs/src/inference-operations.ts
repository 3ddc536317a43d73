import { COMPOSED_ENDPOINTS } from '@gateway/edge';
import { ENDPOINTS, type Endpoint } from '@gateway/endpoints';
import type { Schema } from './class-schemas.js';
import { REQUEST_HEADERS } from './response-headers.js';
import { plainSchema } from './plain-schema.js';
import { withTypes } from './untyped-members.js';
import { contentOf, FAILURES, jsonOf, ref, securityOf, VERSION_HEADER, type PathItem } from './operation.js';

/** Endpoints that the edge serves without Nest: each describes itself. */
const DESCRIBED: Pick<
  Endpoint,
  'paths' | 'counts' | 'permission' | 'docs' | 'isCacheable' | 'answersOnce'
>[] = [
  // Long work is begun by a controller of its own.
  ...ENDPOINTS.filter(({ isInternal }) => isInternal !== true),
  ...COMPOSED_ENDPOINTS,
];

/** Long work: the bodies are those of controllers. */
const INTERNAL = ENDPOINTS.filter(({ isInternal }) => isInternal === true);

const BASES = [
  { base: '/v1', prefix: '' },
  { base: '/openai/v1', prefix: 'openai_' },
];

export function inferenceOperations(): PathItem[] {
  return DESCRIBED.flatMap(({ paths, counts, permission, docs, isCacheable, answersOnce }) =>
    [
      ...paths.map((path) => ({ path, ...docs })),
      ...(counts ? [{ ...docs, ...counts, answers: ['application/json'], description: 'An estimate.' }] : []),
    ].flatMap(({ path, summary, schemaName, description, answers, body = 'application/json', form }) =>
      BASES.map(({ base, prefix }) => ({
        path: `${base}${path}`,
        method: 'post',
        operation: {
          operationId: `${prefix}${camelCase(path)}`,
          tags: ['inference'],
          summary,
          description,
          parameters: [
            VERSION_HEADER,
            REQUEST_HEADERS.tags,
            ...(isCacheable ? [REQUEST_HEADERS.cache] : []),
            ...(answersOnce ? [REQUEST_HEADERS.once] : []),
          ],
          security: securityOf({ key: { permission } }),
          'x-permission': permission,
          requestBody: {
            required: true,
            content: {
              [body]: { schema: ref(schemaName) },
              ...(form && { 'multipart/form-data': { schema: plainSchema(form) } }),
            },
          },
          responses: {
            200: {
              description: `The answer. ${description}`,
              content: contentOf(answers, { type: 'object' }),
            },
            ...FAILURES,
          },
        },
      })),
    ),
  );
}

/** Bodies of the inference endpoints by their names. */
export function inferenceSchemas(): Record<string, Schema> {
  return Object.fromEntries(
    [...DESCRIBED, ...INTERNAL].map(({ docs: { schemaName, schema } }) => [
      schemaName,
      withTypes(schemaName, plainSchema(schema)),
    ]),
  );
}

/** The operation with its body, where a controller begins the work of an endpoint and takes the body as it comes. */
export function withBegunBody(item: PathItem): PathItem {
  const path = item.path.replace(/^(\/openai)?\/v1/, '');
  const begun = INTERNAL.find(({ paths }) => item.method === 'post' && paths.includes(path));
  if (begun === undefined) return item;
  const requestBody = { required: true, content: jsonOf(ref(begun.docs.schemaName)) };
  return { ...item, operation: { ...item.operation, requestBody } };
}

/** `/chat/completions` is chatCompletions. */
function camelCase(path: string): string {
  const [first, ...rest] = path.split(/[/_-]/).filter((word) => word !== '');
  return [first, ...rest.map((word) => `${word[0].toUpperCase()}${word.slice(1)}`)].join('');
}
