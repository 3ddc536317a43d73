import { spliceMembers } from '@gateway/json-body';
import { filled, objectsOf, type JsonObject } from '../../body/json-object.js';
import type { RouteTarget } from '../../translation/translation.js';
import { JSON_TYPE } from '../../translation/upstream-body.js';
import { GATEWAY_OWNED } from '../gateway-owned.js';
import type { ModelRequest } from '../model-request.js';
import type { EncodedRequest } from '../text-dialect.js';
import { readCompaction } from './compaction.js';
import { isForeignReasoning } from './sealed-reasoning.js';

export const PATH = '/responses';
export const ACCEPT = 'application/json, text/event-stream';

/** Members that name what the gateway keeps and a request goes on from: it stands in the input by now. */
const CONTINUED = ['previous_response_id', 'conversation'];
const SAMPLING = ['temperature', 'top_p'];

/** The caller's bytes with the provider's model name, without what the model or the provider refuses. */
export function spliceRequest(request: ModelRequest, target: RouteTarget): EncodedRequest {
  const { value } = request.body;
  const { quirks } = target;
  const changes: JsonObject = { model: target.upstreamModel };
  const ignored: string[] = [];
  const leaveOut = (name: string): void => {
    changes[name] = undefined;
    if (value[name] !== undefined && value[name] !== null) ignored.push(name);
  };
  for (const name of [...GATEWAY_OWNED, ...CONTINUED]) if (name in value) changes[name] = undefined;
  if (target.fixesSampling) for (const name of SAMPLING) if (name in value) leaveOut(name);
  for (const name of quirks.refuses ?? []) if (name in value) leaveOut(name);
  if (!quirks.passthroughParams) Object.keys(request.unknown).forEach(leaveOut);
  const input = ownItems(value.input);
  if (objectsOf(value.input).some(isForeignReasoning)) ignored.push(request.callerNames.thoughts);
  if (input) changes.input = input;
  if (filled(value.user) !== null && filled(value.safety_identifier) !== null) changes.user = undefined;
  const { pieces, byteLength } = spliceMembers(request.body, changes);
  return {
    request: { path: PATH, contentType: JSON_TYPE, accept: ACCEPT, pieces, byteLength },
    ignored: [...new Set(ignored)],
  };
}

/** The items without what no provider reads; undefined where there is none of it and the bytes can stay. */
function ownItems(input: unknown): JsonObject[] | undefined {
  const items = objectsOf(input);
  if (!items.some((item) => isForeignReasoning(item) || isOwnCompaction(item))) return undefined;
  return items.filter((item) => !isForeignReasoning(item)).map(spoken);
}

function isOwnCompaction(item: JsonObject): boolean {
  return item.type === 'compaction' && readCompaction(item) !== null;
}

/** A summary of the gateway's own as a message: it alone reads the item. */
function spoken(item: JsonObject): JsonObject {
  const summary = item.type === 'compaction' ? readCompaction(item) : null;
  if (summary === null) return item;
  return { type: 'message', role: 'user', content: [{ type: 'input_text', text: summary }] };
}
