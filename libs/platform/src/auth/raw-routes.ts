import type { ApiError, KeyPrincipal } from '@gateway/contracts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { countBody, isLarge, refuseUnread } from '../pressure/body-intake.js';
import type { Pressure } from '../pressure/pressure.js';
import type { Authenticator } from './authenticator.js';
import type { AccessRule } from './access.js';
import { requireOrgOfPath } from './org-role.js';
import type { Serve } from '../request/gateway-request.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Callers of this route; required on routes that are registered without Nest. */
    access?: AccessRule;
    /** The handler admits, and admission compares the account's version: the guard need not. */
    admits?: boolean;
    /** Called where a known key is refused before the handler of a route that admits. */
    refused?: (request: FastifyRequest, principal: KeyPrincipal, rejection: ApiError) => void;
  }
}

/** A route as it was registered with Fastify, by Nest or by hand. */
export interface RegisteredRoute {
  method: string;
  path: string;
  /** Rule of a route registered by hand; Nest's handlers declare theirs with @Access. */
  access: AccessRule | null;
  /** Present where a plain request of it may pass Fastify by. */
  serve?: Serve;
}

/**
 * Guards routes that are registered without Nest by the rule in their `config.access`, and keeps the list of all
 * routes. Has to be called before the first route is added.
 */
export function guardRawRoutes(
  instance: FastifyInstance,
  authenticator: () => Authenticator,
  pressure: () => Pressure,
): RegisteredRoute[] {
  const routes: RegisteredRoute[] = [];
  instance.addHook('onRoute', (route) => {
    const access = route.config?.access ?? null;
    const methods = typeof route.method === 'string' ? [route.method] : route.method;
    const admits = route.config?.admits === true;
    // A key in memory may be old: where nothing is admitted, only the guard compares its account's version.
    const serve = admits ? route.config?.serve : undefined;
    for (const method of methods) routes.push({ method, path: route.path, access, serve });
    if (access === null) return;
    const refused = route.config?.refused;
    const requireUsableBody = (request: FastifyRequest): void => {
      if (request.bodyFault === null) return;
      if (request.principal?.kind === 'key') refused?.(request, request.principal, request.bodyFault);
      throw request.bodyFault;
    };
    // Before the body is read: of somebody who may not call, none of it comes into memory.
    const guard = async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
      try {
        request.principal = admits
          ? await authenticator().authenticateKey(request, access, (principal, rejection) =>
              refused?.(request, principal, rejection),
            )
          : await authenticator().authenticate(request, access);
        if (access.org !== undefined) requireOrgOfPath(request, access);
        if (request.bodyFault !== null) requireUsableBody(request);
      } catch (rejection) {
        return refuseUnread(request, rejection);
      }
      const isCounted = access.public !== true && isLarge(request);
      return isCounted ? countBody(request, reply.raw, pressure()) : undefined;
    };
    route.preParsing = [guard, ...[route.preParsing ?? []].flat()];
    // The parser of a route that admits takes bytes as they are.
    if (!admits)
      route.preHandler = [
        (request, _reply, done) => {
          requireUsableBody(request);
          done();
        },
        ...[route.preHandler ?? []].flat(),
      ];
  });
  return routes;
}
