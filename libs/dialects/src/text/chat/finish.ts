import { filled, type JsonObject } from './json-object.js';

/**
 * Stop reasons of OpenAI-compatible providers whose meaning equals one of OpenAI's (wire-formats 5.8). A value that is
 * not listed goes to the caller verbatim.
 */
const EQUAL_MEANING: ReadonlyMap<string, string> = new Map([
  ['stop', 'stop'],
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['eos', 'stop'],
  ['eos_token', 'stop'],
  ['complete', 'stop'],
  ['length', 'length'],
  ['max_tokens', 'length'],
  ['model_length', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_calls', 'tool_calls'],
  ['tool_call', 'tool_calls'],
  ['tool_use', 'tool_calls'],
  ['function_call', 'tool_calls'],
  ['content_filter', 'content_filter'],
  ['content_filtered', 'content_filter'],
  ['guardrail_intervened', 'content_filter'],
  ['refusal', 'content_filter'],
  ['safety', 'content_filter'],
]);

export interface Finish {
  reason: string;
  native: string | null;
}

/** Finish of a choice as its provider gave it, null where it gave none. OpenRouter sends the native value apart. */
export function finishOf(choice: JsonObject): Finish | null {
  const given = filled(choice.finish_reason);
  if (given === null) return null;
  return {
    reason: EQUAL_MEANING.get(given.toLowerCase()) ?? given,
    native: filled(choice.native_finish_reason) ?? given,
  };
}

/** What the caller reads: a legacy caller knows calls by their old name. */
export function callerFinish(reason: string, legacyFunctions: boolean): string {
  return legacyFunctions && reason === 'tool_calls' ? 'function_call' : reason;
}
