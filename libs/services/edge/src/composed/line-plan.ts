import type { Asked } from '@gateway/endpoints';
import type { Plan } from '@gateway/routing';
import type { InferDeps } from '../inference/infer-deps.js';
import { atBatchTier } from '../inference/planner.js';
import type { InferenceRequest } from '../request/inference-request.js';

/** Returns the plan that would serve a call; nothing is called or counted. Throws the ApiError that it would get. */
export async function linePlan(
  made: InferenceRequest,
  deps: InferDeps,
): Promise<{ asked: Asked; plan: Plan }> {
  const { endpoint, principal } = made;
  const read = await deps.storedBodies.read(made, (body) => endpoint.read(body));
  const asked = made.origin.isBatch ? atBatchTier(read) : read;
  return { asked, plan: deps.routes.plan(asked, { endpoint, principal, nowMs: deps.clock.now() }) };
}
