import { RequestMethod, type Type } from '@nestjs/common';
import {
  HTTP_CODE_METADATA,
  METHOD_METADATA,
  PATH_METADATA,
  ROUTE_ARGS_METADATA,
} from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import { ACCESS_METADATA, type AccessRule } from '@gateway/platform';

/** One operation as its handler declares it. */
export interface DescribedRoute {
  service: string;
  /** Class and method that serve it. */
  controller: string;
  handler: string;
  /** Index of the handler's path, from 0. */
  alias: number;
  /** Lower case. */
  method: string;
  /** Path with `{name}` for parameters. */
  path: string;
  access: AccessRule;
  status: number;
  /** Names of the classes of body and query; the class decides their schema. */
  body: string | null;
  query: string | null;
}

/** The operations of a service's controllers, from their metadata: nothing is started. */
export function describedRoutes(service: string, controllers: readonly unknown[]): DescribedRoute[] {
  return controllers.filter(isClass).flatMap((controller) => {
    const prototype = controller.prototype as object;
    const names = Object.getOwnPropertyNames(prototype).filter((name) => name !== 'constructor');
    return names.flatMap((name) => handlerRoutes(service, controller, name));
  });
}

function handlerRoutes(service: string, controller: Type<unknown>, name: string): DescribedRoute[] {
  const handler: unknown = Reflect.get(controller.prototype as object, name);
  if (typeof handler !== 'function') return [];
  const method = Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod | undefined;
  if (method === undefined) return [];
  const access = (Reflect.getMetadata(ACCESS_METADATA, handler) ??
    Reflect.getMetadata(ACCESS_METADATA, controller)) as AccessRule | undefined;
  if (access === undefined) throw new Error(`${controller.name}.${name} declares no access.`);
  const status = (Reflect.getMetadata(HTTP_CODE_METADATA, handler) as number | undefined) ?? usual(method);
  const { body, query } = argumentClasses(controller, name);
  const paths = pathsOf(controller).flatMap((prefix) => pathsOf(handler).map((path) => joined(prefix, path)));
  return paths.map((path, alias) => ({
    service,
    controller: controller.name,
    handler: name,
    alias,
    method: RequestMethod[method].toLowerCase(),
    path,
    access,
    status,
    body,
    query,
  }));
}

function usual(method: RequestMethod): number {
  return method === RequestMethod.POST ? 201 : 200;
}

/** Nest keeps `<kind>:<index>` per decorated argument, TypeScript the classes of all arguments. */
function argumentClasses(
  controller: Type<unknown>,
  name: string,
): { body: string | null; query: string | null } {
  const args = (Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, name) ?? {}) as Record<
    string,
    { index: number; data?: unknown }
  >;
  const types = (Reflect.getMetadata('design:paramtypes', controller.prototype as object, name) ??
    []) as unknown[];
  const found: { body: string | null; query: string | null } = { body: null, query: null };
  for (const [key, { index, data }] of Object.entries(args)) {
    const kind = Number(key.split(':')[0]);
    const type = types[index];
    if (data !== undefined || !isClass(type) || type === Object) continue;
    if (kind === Number(RouteParamtypes.BODY)) found.body = type.name;
    if (kind === Number(RouteParamtypes.QUERY)) found.query = type.name;
  }
  return found;
}

function pathsOf(target: object): string[] {
  return [(Reflect.getMetadata(PATH_METADATA, target) as string | string[] | undefined) ?? ''].flat();
}

function joined(prefix: string, path: string): string {
  const parts = [prefix, path].flatMap((part) => part.split('/')).filter((part) => part !== '');
  return `/${parts.map((part) => (part.startsWith(':') ? `{${part.slice(1)}}` : part)).join('/')}`;
}

function isClass(value: unknown): value is Type<unknown> {
  return typeof value === 'function' && value.prototype !== undefined;
}
