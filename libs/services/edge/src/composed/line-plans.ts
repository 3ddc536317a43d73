import { Inject, Injectable } from '@nestjs/common';
import type { Clock } from '@gateway/contracts';
import type { Asked } from '@gateway/endpoints';
import { CLOCK } from '@gateway/platform';
import type { Plan } from '@gateway/routing';
import { atBatchTier } from '../inference/planner.js';
import { StoredBodies } from '../inference/stored-bodies.js';
import type { InferenceRequest } from '../request/inference-request.js';
import { drawPoint } from '../routes/draw-point.js';
import { RoutePlanner } from '../routes/route-planner.js';

/** Plans of requests of other services, which are sent later. */
@Injectable()
export class LinePlans {
  constructor(
    private readonly bodies: StoredBodies,
    private readonly routes: RoutePlanner,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Returns the plan that would serve a request; nothing is called or counted. Throws the ApiError that it would get. */
  async of(request: InferenceRequest): Promise<{ asked: Asked; plan: Plan }> {
    const { endpoint, principal, requestId, unitIndex } = request;
    const read = await this.bodies.read(request, (body) => endpoint.read(body));
    const asked = request.origin.isBatch ? atBatchTier(read) : read;
    const nowMs = this.clock.now();
    const point = (): number => drawPoint(requestId, unitIndex);
    return { asked, plan: this.routes.plan(asked, { endpoint, principal, nowMs, point }) };
  }
}
