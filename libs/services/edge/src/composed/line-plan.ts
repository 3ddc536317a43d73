import { StoredContentNeeded, type Asked } from '@gateway/endpoints';
import { planRoutes, type Plan } from '@gateway/routing';
import { atBatchTier, type InferDeps } from '../inference/infer.js';
import type { Call } from '../request/call.js';

/** Returns the plan that would serve a call; nothing is called or counted. Throws the ApiError that it would get. */
export async function linePlan(made: Call, deps: InferDeps): Promise<{ asked: Asked; plan: Plan }> {
  const { endpoint, principal } = made;
  const read = await askedOf(made, deps);
  const asked = made.isBatch ? atBatchTier(read) : read;
  const { providers, byok, breakers, stats } = deps;
  const [index, nowMs] = [deps.index(), deps.clock.now()];
  return {
    asked,
    plan: planRoutes({ asked, endpoint, principal, index, providers, byok, breakers, stats, nowMs }),
  };
}

/** Returns the request with the template and memories that it names. */
async function askedOf({ endpoint, principal, bytes, headers }: Call, deps: InferDeps): Promise<Asked> {
  try {
    return endpoint.read({ bytes, headers });
  } catch (failure) {
    if (!(failure instanceof StoredContentNeeded)) throw failure;
    return endpoint.read({ bytes: await deps.storedBodies.bodyOf(failure, principal), headers });
  }
}
