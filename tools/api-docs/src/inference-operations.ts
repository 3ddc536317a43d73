import { COMPOSED_ENDPOINTS } from '@gateway/edge';
import { ENDPOINTS, type Endpoint } from '@gateway/endpoints';
import type { Schema } from './class-schemas.js';
import { plainSchema } from './plain-schema.js';
import { contentOf, FAILURES, ref, securityOf, VERSION_HEADER, type PathItem } from './operation.js';

/** What the edge serves without Nest: each describes itself. */
const DESCRIBED: Pick<Endpoint, 'paths' | 'counts' | 'permission' | 'docs'>[] = [
  // Long work is begun by a controller of its own.
  ...ENDPOINTS.filter(({ isInternal }) => isInternal !== true),
  ...COMPOSED_ENDPOINTS,
];

const BASES = [
  { base: '/v1', prefix: '' },
  { base: '/openai/v1', prefix: 'openai_' },
];

export function inferenceOperations(): PathItem[] {
  return DESCRIBED.flatMap(({ paths, counts, permission, docs }) =>
    [
      ...paths.map((path) => ({ path, ...docs })),
      ...(counts ? [{ ...docs, ...counts, answers: ['application/json'], description: 'An estimate.' }] : []),
    ].flatMap(({ path, summary, schemaName, description, answers, body = 'application/json' }) =>
      BASES.map(({ base, prefix }) => ({
        path: `${base}${path}`,
        method: 'post',
        operation: {
          operationId: `${prefix}${camelCase(path)}`,
          tags: ['inference'],
          summary,
          description,
          parameters: [VERSION_HEADER],
          security: securityOf({ key: { permission } }),
          'x-permission': permission,
          requestBody: { required: true, content: { [body]: { schema: ref(schemaName) } } },
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
  return Object.fromEntries(DESCRIBED.map(({ docs }) => [docs.schemaName, plainSchema(docs.schema)]));
}

/** `/chat/completions` is chatCompletions. */
function camelCase(path: string): string {
  const [first, ...rest] = path.split(/[/_-]/).filter((word) => word !== '');
  return [first, ...rest.map((word) => `${word[0].toUpperCase()}${word.slice(1)}`)].join('');
}
