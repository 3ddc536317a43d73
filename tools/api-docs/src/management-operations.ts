import type { AccessRule } from '@gateway/platform';
import type { Schema } from './class-schemas.js';
import type { DescribedRoute } from './described-routes.js';
import { FAILURE, jsonOf, ref, securityOf, VERSION_HEADER, type PathItem } from './operation.js';
import type { SourceTypes } from './source-types.js';

/** The operation of a handler. `all` are the classes of bodies and queries. */
export function managementOperation(
  route: DescribedRoute,
  all: ReadonlyMap<string, Schema>,
  source: SourceTypes,
): PathItem {
  const { path, method, service, access, status, body, query, controller, handler } = route;
  const permission = permissionOf(access);
  const { comment, answer } = source.handler(controller, handler);
  const operation = {
    operationId: operationId(route),
    tags: [service],
    summary: comment === '' ? operationId(route) : comment.split(/(?<=\.) /)[0],
    ...(comment === '' ? {} : { description: comment }),
    parameters: [VERSION_HEADER, ...pathParameters(path), ...queryParameters(query, all)],
    security: securityOf(access),
    ...(permission === null ? {} : { 'x-permission': permission }),
    ...(body === null ? {} : { requestBody: { required: true, content: jsonOf(ref(body)) } }),
    responses: {
      [status]: {
        description: answer === null ? 'Done.' : 'The answer.',
        ...(answer === null ? {} : { content: jsonOf(answer) }),
      },
      default: FAILURE,
    },
  };
  return { path, operations: { [method]: operation } };
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
  return Object.entries((schema.properties ?? {}) as Record<string, Schema>).map(
    ([name, { description, ...member }]) => ({
      name,
      in: 'query',
      required: required.has(name),
      ...(description === undefined ? {} : { description }),
      schema: member,
    }),
  );
}

function permissionOf({ key }: AccessRule): string | null {
  return key === undefined || key === true ? null : key.permission;
}
