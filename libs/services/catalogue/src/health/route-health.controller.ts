import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import {
  ApiError,
  PlatformCredentialsBody,
  ProviderStatesBody,
  RouteHealth,
  RouteHealthBody,
  type RouteFigures,
} from '@gateway/contracts';
import { Access } from '@gateway/platform';

/** Edges report here how providers fare; `/internal` is never forwarded from outside. */
@Controller('internal/catalogue')
export class RouteHealthController {
  constructor(private readonly health: RouteHealth) {}

  @Post('health')
  @HttpCode(204)
  @Access({ internal: true })
  async report(@Body() { figures }: RouteHealthBody): Promise<void> {
    const at = figures.findIndex((one) => !isPossible(one));
    if (at >= 0)
      throw new ApiError('validation_error', {
        message: `figures.${at} counts more than its tries.`,
        param: `figures.${at}`,
      });
    await this.health.report(figures);
  }

  @Post('provider-states')
  @HttpCode(204)
  @Access({ internal: true })
  reportStates(@Body() { edge, states }: ProviderStatesBody): Promise<void> {
    return this.health.reportStates(edge, states);
  }

  @Post('credentials')
  @HttpCode(204)
  @Access({ internal: true })
  reportCredentials(@Body() { edge, providers, unserved = [] }: PlatformCredentialsBody): Promise<void> {
    return this.health.reportCredentials(edge, providers == null ? null : { providers, unserved });
  }
}

/** A try fails or not, and has one time and one speed at most. */
function isPossible({ tries, faults, latency, speed }: RouteFigures): boolean {
  const sum = (classes: readonly number[]): number => classes.reduce((all, count) => all + count, 0);
  return faults <= tries && sum(latency) <= tries && sum(speed) <= tries;
}
