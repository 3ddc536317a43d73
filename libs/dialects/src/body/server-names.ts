import { without, type JsonObject } from './json-object.js';

/** Members at the top of an answer or event that name who serves: no answer of ours reports it. */
const SERVER_NAMES = ['provider', 'x_groq'];

export function withoutServer(answer: JsonObject): JsonObject {
  return without(answer, SERVER_NAMES);
}
