import { StoredContentNeeded, type Asked } from '@gateway/endpoints';
import { planRoutes, type Plan } from '@gateway/routing';
import { atBatchTier, type InferDeps } from '../inference/infer.js';
import type { Call } from '../request/call.js';

/** What would serve a call; nothing is called or counted. Throws the ApiError that it would get. */
export function linePlan(made: Call, deps: InferDeps): { asked: Asked; plan: Plan } | StoredContentNeeded {
  const { endpoint, principal } = made;
  const read = endpoint.read(made);
  if (read instanceof StoredContentNeeded) return read;
  const asked = made.isBatch ? atBatchTier(read) : read;
  const { providers, byok, breakers, stats } = deps;
  const [index, nowMs] = [deps.index(), deps.clock.now()];
  return {
    asked,
    plan: planRoutes({ asked, endpoint, principal, index, providers, byok, breakers, stats, nowMs }),
  };
}
