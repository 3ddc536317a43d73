import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import { Reflector } from '@nestjs/core';
import { ApiError, unknownField } from '@gateway/contracts';
import type { FastifyRequest } from 'fastify';
import { ACCESS_METADATA, type AccessRule } from './access.js';
import { Authenticator } from './authenticator.js';
import { requireOrgOfPath } from './org-role.js';

/** Runs before every Nest handler; one without a rule is refused. */
@Injectable()
export class PrincipalGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly authenticator: Authenticator,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    // Records of the event log come from the fleet itself and carry no credential.
    if (context.getType() !== 'http') return true;
    const rule = this.reflector.getAllAndOverride<AccessRule | undefined>(ACCESS_METADATA, [
      context.getHandler(),
      context.getClass(),
    ]);
    if (rule === undefined) throw new ApiError('forbidden');
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    request.principal = await this.authenticator.authenticate(request, rule);
    requireOrgOfPath(request, rule);
    if (isManagement(rule)) refuseQuery(request, context);
    if (request.bodyFault !== null) throw request.bodyFault;
    return true;
  }
}

/** True for endpoints of people and of admin keys; inference takes what SDKs put into the query. */
function isManagement({ session, adminKey, superAdmin }: AccessRule): boolean {
  return session !== undefined || adminKey !== undefined || superAdmin !== undefined;
}

/**
 * Refuses the query of a write whose handler reads none: an organization that is named there would be passed over, and
 * the write would be made for another account. Throws ApiError `validation_error`.
 */
function refuseQuery({ method, query }: FastifyRequest, context: ExecutionContext): void {
  if (method === 'GET' || method === 'HEAD') return;
  const [name] = Object.keys(query as object);
  if (name === undefined || readsQuery(context)) return;
  const msg = unknownField(name);
  throw new ApiError('validation_error', {
    message: `${name}: ${msg}`,
    details: Object.keys(query as object).map((member) => ({ type: 'unknown_field', loc: [member], msg })),
  });
}

function readsQuery(context: ExecutionContext): boolean {
  const taken: unknown = Reflect.getMetadata(
    ROUTE_ARGS_METADATA,
    context.getClass(),
    context.getHandler().name,
  );
  return Object.keys(taken ?? {}).some((key) => key.startsWith(`${RouteParamtypes.QUERY}:`));
}
