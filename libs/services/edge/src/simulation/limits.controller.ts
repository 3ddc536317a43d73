import { Body, Controller, HttpCode, Post, Req } from '@nestjs/common';
import { SimulateLimitsBody, type LimitSimulation } from '@gateway/contracts';
import { Access, principalOf } from '@gateway/platform';
import type { FastifyRequest } from 'fastify';
import { LimitSimulations } from './limit-simulations.js';

@Controller('v1/limits')
export class LimitsController {
  constructor(private readonly simulations: LimitSimulations) {}

  /** What a request of a key would get, and why: admission itself, on a dry run. */
  @Post('simulate')
  @HttpCode(200)
  @Access({
    session: true,
    adminKey: { scope: 'keys:read' },
    org: { roles: ['owner', 'admin'], own: true },
  })
  simulate(@Body() body: SimulateLimitsBody, @Req() request: FastifyRequest): Promise<LimitSimulation> {
    return this.simulations.simulate(principalOf(request), body, request.id);
  }
}
