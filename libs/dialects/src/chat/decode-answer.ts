import type { RouteTarget } from '../dialect.js';
import type { ModelEvent } from '../model-event.js';
import { AnswerDecoder, badResponse } from './answer-decoder.js';
import { isObject } from './json-object.js';

/** Events of a plain answer. A message is read as one delta: a stream and its plain twin cannot disagree. */
export function decodeAnswer(
  body: unknown,
  target: RouteTarget,
  toolNames?: Readonly<Record<string, string>>,
): ModelEvent[] {
  const decoder = new AnswerDecoder(target.quirks, toolNames);
  if (!isObject(body)) return decoder.fail(badResponse('The answer is not a JSON object.', body));
  return [...decoder.read(body, 'message'), ...decoder.end()];
}
