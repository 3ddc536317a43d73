import { JSON_HEADERS } from '@gateway/dialects';
import type { EndpointCounts } from '@gateway/endpoints';
import { estimateInput } from '@gateway/money';
import { expectedInput } from '../admission/admission.js';
import type { InferenceRequest } from '../request/inference-request.js';
import type { Client } from '../request/client.js';
import type { InferDeps } from './infer-deps.js';

/** The estimate that a request would be reserved by. The model is looked up, and may be refused, as if it were called. */
export function countingOf(
  counts: EndpointCounts,
): (call: InferenceRequest, client: Client, deps: InferDeps) => Promise<void> {
  return async (call, client, deps) => {
    const { endpoint, principal } = call;
    const read = await deps.storedBodies.read(call, (body) => counts.read(body));
    const recalled = await deps.conversations.recall(read, call, client);
    const asked = await deps.files.attach(recalled, call, client);
    const plan = deps.routes.plan(asked, { endpoint, principal, nowMs: call.receivedAtMs });
    const { total } = estimateInput(expectedInput(asked, plan.routes));
    client.answer(JSON.stringify(counts.answer(total)), JSON_HEADERS);
  };
}
