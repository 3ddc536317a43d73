import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { RouteHealth, RouteHealthBody } from '@gateway/contracts';
import { Access } from '@gateway/platform';

/** Edges report here how providers fare; `/internal` is never forwarded from outside. */
@Controller('internal/catalogue')
export class RouteHealthController {
  constructor(private readonly health: RouteHealth) {}

  @Post('health')
  @HttpCode(204)
  @Access({ internal: true })
  report(@Body() { figures }: RouteHealthBody): Promise<void> {
    return this.health.report(figures);
  }
}
