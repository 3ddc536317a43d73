import { namesMoney } from '../../translation/money-names.js';
import { pick, type JsonObject } from './json-object.js';

/** Members of an answer that the gateway writes itself, and those that tell who serves: neither is passed on. */
const OWN_ANSWER = new Set([
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
]);
const OWN_CHOICE = new Set([
  'index',
  'message',
  'delta',
  'logprobs',
  'finish_reason',
  'native_finish_reason',
]);
const OWN_MESSAGE = new Set([
  'role',
  'content',
  'refusal',
  'annotations',
  'audio',
  'tool_calls',
  'function_call',
  'reasoning',
  'thinking',
]);
const OWN_AND_REASONING = new Set([...OWN_MESSAGE, 'reasoning_content', 'reasoning_details']);

function free(value: JsonObject, own: ReadonlySet<string>): JsonObject {
  return pick(value, (name) => !own.has(name) && !namesMoney(name));
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
  return free(message, excludeReasoning ? OWN_AND_REASONING : OWN_MESSAGE);
}
