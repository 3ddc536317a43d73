import { RequestMethod, type INestApplication } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { DiscoveryService, MetadataScanner, Reflector } from '@nestjs/core';
import { ACCESS_METADATA, type AccessRule } from './access.js';
import type { RegisteredRoute } from './raw-routes.js';

export interface ListedRoute {
  method: string;
  path: string;
  access: AccessRule;
}

/** Fastify answers HEAD by the GET route and OPTIONS by CORS; neither has a handler of ours. */
const IMPLIED_METHODS = new Set(['HEAD', 'OPTIONS']);

/**
 * Every endpoint of an application with who may call it, for the endpoint x role table.
 * Throws where an endpoint declares nothing, or an organization that its path does not name: it never starts.
 */
export function listRoutes(app: INestApplication, registered: readonly RegisteredRoute[]): ListedRoute[] {
  const nest = nestRoutes(app);
  const declared = new Map(nest.map((route) => [`${route.method} ${route.path}`, route.access]));
  const unguarded: string[] = [];
  const listed: ListedRoute[] = [];
  for (const { method, path, access } of registered) {
    if (IMPLIED_METHODS.has(method)) continue;
    const rule = access ?? declared.get(`${method} ${path}`) ?? declared.get(`ALL ${path}`);
    if (rule === undefined || rule === null) unguarded.push(`${method} ${path}`);
    else listed.push({ method, path, access: rule });
  }
  if (unguarded.length > 0)
    throw new Error(`Endpoints without @Access or config.access: ${unguarded.join(', ')}`);
  const unchecked = listed.filter(({ path, access }) => !isOrgChecked(path, access));
  if (unchecked.length > 0)
    throw new Error(
      `Endpoints whose org rule nobody applies: ${unchecked.map(({ path }) => path).join(', ')}`,
    );
  return listed;
}

/** An organization's rule is for people and admin keys, and its parameter stands in the path. */
function isOrgChecked(path: string, { org, session, adminKey, superAdmin }: AccessRule): boolean {
  if (org === undefined) return true;
  const hasCaller = session !== undefined || adminKey !== undefined || superAdmin !== undefined;
  const named = [org.param, org.self].filter((name) => name !== undefined);
  const parts = path.split('/');
  return hasCaller && named.every((name) => parts.includes(`:${name}`));
}

function nestRoutes(app: INestApplication): { method: string; path: string; access: AccessRule | null }[] {
  const reflector = app.get(Reflector);
  const scanner = new MetadataScanner();
  const { controllers } = { controllers: app.get(DiscoveryService, { strict: false }).getControllers() };
  return controllers.flatMap(({ metatype }) => {
    if (typeof metatype !== 'function') return [];
    const prototype = metatype.prototype as object;
    return scanner.getAllMethodNames(prototype).flatMap((name) => {
      const handler: unknown = Reflect.get(prototype, name);
      if (typeof handler !== 'function') return [];
      const method = Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod | undefined;
      if (method === undefined) return [];
      const access =
        reflector.getAllAndOverride<AccessRule | undefined>(ACCESS_METADATA, [handler, metatype]) ?? null;
      const prefixes = pathsOf(Reflect.getMetadata(PATH_METADATA, metatype));
      const paths = pathsOf(Reflect.getMetadata(PATH_METADATA, handler));
      return prefixes.flatMap((prefix) =>
        paths.map((path) => ({ method: RequestMethod[method], path: joined(prefix, path), access })),
      );
    });
  });
}

function pathsOf(metadata: unknown): string[] {
  return [metadata ?? ''].flat().map(String);
}

function joined(prefix: string, path: string): string {
  const parts = [prefix, path].flatMap((part) => part.split('/')).filter((part) => part !== '');
  return `/${parts.join('/')}`;
}
