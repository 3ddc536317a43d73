import { without, type JsonObject } from './json-object.js';

/** Members at the top of an answer or event that say who serves, which callers are not told. */
const SERVER_NAMES = ['provider', 'x_groq'];

export function withoutServer(answer: JsonObject): JsonObject {
  return without(answer, SERVER_NAMES);
}
