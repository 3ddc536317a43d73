import type { ModelEvent } from '../model-event.js';
import { AnswerReader, badResponse, inBandError } from './answer-reader.js';
import { isObject, objectAt, objectsAt, type JsonObject } from './json.js';

/** A plain message as the stream events that would have built it. */
function* asStream(message: JsonObject): Generator<JsonObject> {
  const { content: _content, usage, ...rest } = message;
  yield { type: 'message_start', message: { ...rest, usage: objectAt(message, 'usage') } };
  for (const [index, block] of objectsAt(message, 'content').entries()) {
    yield { type: 'content_block_start', index, content_block: block };
    yield { type: 'content_block_stop', index };
  }
  const { stop_reason, stop_sequence, stop_details } = message;
  yield {
    type: 'message_delta',
    delta: { stop_reason, stop_sequence, stop_details },
    ...(isObject(usage) ? { usage } : {}),
  };
  yield { type: 'message_stop' };
}

/** Events of a plain answer, `end` or `error` last. */
export function decodeAnswer(body: unknown): ModelEvent[] {
  if (!isObject(body)) return [badResponse('the answer is no JSON object')];
  if (body.type === 'error') return [inBandError(body)];
  if (!Array.isArray(body.content)) return [badResponse('the answer has no content')];
  const reader = new AnswerReader();
  return [...asStream(body)].flatMap((event) => reader.read(event));
}
