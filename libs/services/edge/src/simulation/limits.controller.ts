import { Body, Controller, HttpCode, Post, Req } from '@nestjs/common';
import { SimulateLimitsBody, type LimitSimulation } from '@gateway/contracts';
import { Access, principalOf } from '@gateway/platform';
import type { FastifyRequest } from 'fastify';
import { LimitSimulations } from './limit-simulations.js';

@Controller('v1/limits')
export class LimitsController {
  constructor(private readonly simulations: LimitSimulations) {}

  /** Runs the admission of a key's request without counting, and returns the reasons. */
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
