import { Injectable } from '@nestjs/common';
import { JSON_HEADERS } from '@gateway/dialects';
import type { EndpointCounts } from '@gateway/endpoints';
import { estimateInput } from '@gateway/money';
import { expectedInput } from '../admission/admission.js';
import type { InferenceRequest } from '../request/inference-request.js';
import type { Client } from '../request/client.js';
import { drawPoint } from '../routes/draw-point.js';
import { RoutePlanner } from '../routes/route-planner.js';
import { Conversations } from '../state/conversations.js';
import { NamedFiles } from '../state/named-files.js';
import { StoredBodies } from './stored-bodies.js';

/** Estimates of inputs, as reservations have them. The model is looked up, and may be refused, as if it were called. */
@Injectable()
export class InputCounts {
  constructor(
    private readonly bodies: StoredBodies,
    private readonly conversations: Conversations,
    private readonly files: NamedFiles,
    private readonly routes: RoutePlanner,
  ) {}

  async run(counts: EndpointCounts, request: InferenceRequest, client: Client): Promise<void> {
    const { endpoint, principal } = request;
    const read = await this.bodies.read(request, (body) => counts.read(body));
    const recalled = await this.conversations.recall(read, request, client);
    const asked = await this.files.attach(recalled, request, client);
    const { receivedAtMs: nowMs, requestId, unitIndex } = request;
    const point = (): number => drawPoint(requestId, unitIndex);
    const plan = this.routes.plan(asked, { endpoint, principal, nowMs, point });
    const { total } = estimateInput(expectedInput(asked, plan.routes));
    client.answer(JSON.stringify(counts.answer(total)), JSON_HEADERS);
  }
}
