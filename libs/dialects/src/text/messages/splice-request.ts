import { isObject, type JsonObject } from '../../body/json-object.js';
import { spliceMembers } from '@gateway/json-body';
import type { RouteTarget } from '../../translation/translation.js';
import { JSON_TYPE } from '../../translation/upstream-body.js';
import { GATEWAY_OWNED } from '../gateway-owned.js';
import type { ModelRequest } from '../model-request.js';
import type { EncodedRequest } from '../text-dialect.js';
import { placeOf } from './place.js';
import { objectAt, objectsAt, textAt } from './json.js';

export const ACCEPT = 'application/json, text/event-stream';

const SAMPLING = ['temperature', 'top_p', 'top_k'];

/** Thinking that a translated answer brought carries no signature, and this dialect's providers refuse it. */
function isForeignThinking(block: unknown): boolean {
  return isObject(block) && block.type === 'thinking' && textAt(block, 'signature') === '';
}

/** The messages without thinking of other families; undefined where there is none and the bytes can stay. */
function ownMessages(body: JsonObject): JsonObject[] | undefined {
  const messages = objectsAt(body, 'messages');
  if (!messages.some((message) => objectsAt(message, 'content').some(isForeignThinking))) return undefined;
  return messages
    .map((message) =>
      Array.isArray(message.content)
        ? { ...message, content: message.content.filter((block) => !isForeignThinking(block)) }
        : message,
    )
    .filter(({ content }) => !Array.isArray(content) || content.length > 0);
}

/** The caller's bytes with the provider's model name, without what the model or the provider refuses. */
export function spliceRequest(request: ModelRequest, target: RouteTarget): EncodedRequest {
  const changes: JsonObject = {};
  const ignored: string[] = [];
  const leaveOut = (name: string): void => {
    changes[name] = undefined;
    if (request.body.value[name] !== undefined) ignored.push(name);
  };
  const { value } = request.body;
  for (const name of GATEWAY_OWNED) if (name in value) changes[name] = undefined;
  if (target.fixesSampling) for (const name of SAMPLING) if (name in value) leaveOut(name);
  for (const name of target.quirks.refuses ?? []) if (name in value) leaveOut(name);
  // Providers of this dialect answer a member that they do not know with a 400.
  if (!target.quirks.passthroughParams && !target.quirks.takesNewer)
    Object.keys(request.unknown).forEach(leaveOut);
  if (target.reasoning.style === 'none') {
    // This one never thinks, whatever it may.
    const { type } = objectAt(value, 'thinking');
    if (type === 'adaptive' || type === 'enabled') leaveOut('thinking');
    const { effort, ...config } = objectAt(value, 'output_config');
    if (effort !== undefined) {
      changes.output_config = Object.keys(config).length > 0 ? config : undefined;
      ignored.push('output_config.effort');
    }
  }
  const messages = ownMessages(value);
  if (messages) {
    changes.messages = messages;
    ignored.push(request.callerNames.thoughts);
  }
  const { path, headers, members } = placeOf(request, target, request.nativeHeaders);
  const { pieces, byteLength } = spliceMembers(request.body, { ...changes, ...members });
  return {
    request: { path, contentType: JSON_TYPE, accept: ACCEPT, headers, pieces, byteLength },
    ignored: [...new Set(ignored)],
  };
}
