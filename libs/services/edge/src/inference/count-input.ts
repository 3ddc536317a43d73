import { StoredContentNeeded, type Asked, type EndpointCounts } from '@gateway/endpoints';
import { estimateInput } from '@gateway/money';
import { planRoutes } from '@gateway/routing';
import { expectedInput } from '../admission/expected-input.js';
import type { Call } from '../request/call.js';
import type { Client } from '../request/client.js';
import { withNamedFiles } from '../state/named-files.js';
import { recall } from '../state/recall.js';
import type { InferDeps } from './infer.js';

const JSON_HEADERS = { 'content-type': 'application/json; charset=utf-8' };

/** The estimate that a request would be reserved by. The model is looked up, and may be refused, as if it were called. */
export function countingOf(
  counts: EndpointCounts,
): (call: Call, client: Client, deps: InferDeps) => Promise<void> {
  return async (call, client, deps) => {
    const { endpoint, principal } = call;
    const recalled = await recall(await read(call, counts, deps), call, client, deps);
    const asked = await withNamedFiles(recalled, call, client, deps);
    const { providers, byok, breakers, stats } = deps;
    const plan = planRoutes({
      asked,
      endpoint,
      principal,
      index: deps.index(),
      providers,
      byok,
      breakers,
      stats,
      nowMs: call.receivedAtMs,
    });
    const { total } = estimateInput(expectedInput(asked, plan.routes));
    client.answer(JSON.stringify(counts.answer(total)), JSON_HEADERS);
  };
}

/** Reads the input to count, with the template and memories that it names. */
async function read(call: Call, counts: EndpointCounts, { storedBodies }: InferDeps): Promise<Asked> {
  try {
    return counts.read(call);
  } catch (failure) {
    if (!(failure instanceof StoredContentNeeded)) throw failure;
    return counts.read({ bytes: await storedBodies.bodyOf(failure, call.principal), headers: call.headers });
  }
}
