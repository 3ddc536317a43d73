import { Inject, Injectable } from '@nestjs/common';
import type { Clock, KeyPrincipal } from '@gateway/contracts';
import { CLOCK } from '@gateway/platform';
import type { Plan } from '@gateway/routing';
import { drawPoint } from '../../routes/draw-point.js';
import { RoutePlanner } from '../../routes/route-planner.js';
import { askedOf, REALTIME, type RealtimeAsked } from './realtime-endpoint.js';

/** Plans of the work of realtime sessions. */
@Injectable()
export class RealtimePlanner {
  constructor(
    private readonly routes: RoutePlanner,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /**
   * Returns the plan of a response or transcription of a request, which draws the target of an alias once. Throws ApiError where the caller may not, or no longer, use the
   * model.
   */
  plan(asked: RealtimeAsked, principal: KeyPrincipal, requestId: string): Plan {
    const nowMs = this.clock.now();
    const point = (): number => drawPoint(requestId, 0);
    return this.routes.plan(askedOf(asked), { endpoint: REALTIME, principal, nowMs, point });
  }
}
