import type { AccessRule } from '@gateway/platform';
import type { Schema } from './class-schemas.js';
import type { DescribedRoute } from './described-routes.js';
import { FAILURES, jsonOf, ref, securityOf, VERSION_HEADER, type PathItem } from './operation.js';
import { pathParameters, queryParameters } from './parameters.js';
import { REQUEST_HEADERS } from './response-headers.js';
import type { SourceTypes } from './source-types.js';

/** The operation of a handler. `all` are the classes of bodies and queries. */
export function managementOperation(
  route: DescribedRoute,
  all: ReadonlyMap<string, Schema>,
  source: SourceTypes,
): PathItem {
  const { path, method, service, access, status, body, query, controller, handler } = route;
  const permission = permissionOf(access);
  const { comment, answers, isOnce } = source.handler(controller, handler);
  const isEmpty = Object.keys(answers).length === 0;
  const operation = {
    operationId: operationId(route),
    tags: [service],
    ...words(comment, route),
    parameters: [
      VERSION_HEADER,
      ...pathParameters(path),
      ...queryParameters(query, all),
      ...(isCached(path) ? [IF_NONE_MATCH] : []),
      ...(isOnce ? [REQUEST_HEADERS.once] : []),
    ],
    security: securityOf(access),
    ...(permission === null ? {} : { 'x-permission': permission }),
    ...(body === null ? {} : { requestBody: { required: true, content: jsonOf(ref(body)) } }),
    responses: {
      [status]: {
        description: isEmpty ? 'Done.' : 'The answer.',
        ...(isEmpty ? {} : { content: mapped(answers, (schema) => ({ schema })) }),
      },
      ...(isCached(path) ? { 304: { description: 'It is the one whose ETag was sent.' } } : {}),
      ...FAILURES,
    },
  };
  return { path, method, operation };
}

const IF_NONE_MATCH: Schema = {
  name: 'If-None-Match',
  in: 'header',
  required: false,
  description: 'ETags of answers that the caller has.',
  schema: { type: 'string' },
};

/** True for answers of the public catalogue, which carry an ETag. */
function isCached(path: string): boolean {
  return path.startsWith('/v1/public/');
}

/** The first sentence of a handler's comment, and the whole of it; without one its own name has to do. */
function words(comment: string, { controller, handler }: DescribedRoute): Schema {
  const noun = controller.replace(/Controller$/, '').replaceAll(/\B[A-Z]/g, ' $&');
  const said = comment === '' ? `${noun}: ${handler.replaceAll(/[A-Z]/g, ' $&').toLowerCase()}.` : comment;
  const [first] = comment === '' ? [said] : said.split(/(?<=[.:]) /);
  return { summary: first.replace(/[.:]$/, ''), description: said };
}

/** `ApiKeysController.create` is apiKeys_create; a second path of the same names the parameters by which it differs. */
function operationId({ controller, handler, path, alias }: DescribedRoute): string {
  const noun = controller.replace(/Controller$/, '');
  const names = [...path.matchAll(/\{([^}]+)\}/g)].map(
    ([, name]) => `${name[0].toUpperCase()}${name.slice(1)}`,
  );
  const by = alias === 0 ? '' : `By${names.join('And')}`;
  return `${noun[0].toLowerCase()}${noun.slice(1)}_${handler}${by}`;
}

function permissionOf({ key }: AccessRule): string | null {
  return key === undefined || key === true ? null : key.permission;
}

function mapped<T>(schemas: Readonly<Record<string, Schema>>, of: (schema: Schema) => T): Record<string, T> {
  return Object.fromEntries(Object.entries(schemas).map(([type, schema]) => [type, of(schema)]));
}
