import { without, type JsonObject } from './json-object.js';
import { namesMoney } from './usage.js';

/** Members of an answer that the gateway writes itself, and those that tell who serves: neither is passed on. */
const OWN_ANSWER = [
  'id',
  'object',
  'created',
  'model',
  'choices',
  'usage',
  'service_tier',
  'system_fingerprint',
  'provider',
  'x_groq',
];
const OWN_CHOICE = ['index', 'message', 'delta', 'logprobs', 'finish_reason', 'native_finish_reason'];
const OWN_MESSAGE = [
  'role',
  'content',
  'refusal',
  'annotations',
  'audio',
  'tool_calls',
  'function_call',
  'reasoning',
  'thinking',
];
const REASONING = ['reasoning_content', 'reasoning_details'];

function free(value: JsonObject, own: readonly string[]): JsonObject {
  const kept = without(value, own);
  for (const name of Object.keys(kept)) if (namesMoney(name)) delete kept[name];
  return kept;
}

/** Members beside the choices that no rule of the gateway is about: they reach the caller as the provider wrote them. */
export function unknownOfAnswer(answer: JsonObject): JsonObject {
  return free(answer, OWN_ANSWER);
}

export function unknownOfChoice(choice: JsonObject): JsonObject {
  return free(choice, OWN_CHOICE);
}

/** The same of a message or delta. The provider's own spelling of its reasoning stays unless the caller left it out. */
export function unknownOfMessage(message: JsonObject, excludeReasoning: boolean): JsonObject {
  return free(message, excludeReasoning ? [...OWN_MESSAGE, ...REASONING] : OWN_MESSAGE);
}
