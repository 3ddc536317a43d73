import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ApiError } from '@gateway/contracts';
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
    if (request.bodyFault !== null) throw request.bodyFault;
    return true;
  }
}
