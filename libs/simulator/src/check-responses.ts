import type { NativeError } from './error-table.js';
import { openAiError } from './errors-openai.js';
import { isList, objectsOf, textOf, type JsonObject } from './json.js';

const KNOWN = new Set(
  (
    'model input instructions previous_response_id conversation store background stream stream_options include ' +
    'max_output_tokens max_tool_calls temperature top_p top_logprobs truncation reasoning text tools tool_choice ' +
    'parallel_tool_calls metadata safety_identifier user service_tier prompt prompt_cache_key prompt_cache_retention ' +
    'prompt_cache_options moderation context_management'
  ).split(' '),
);
const ITEM_PREFIXES: Readonly<Record<string, string>> = {
  message: 'msg',
  reasoning: 'rs',
  function_call: 'fc',
  custom_tool_call: 'ctc',
};

function invalid(message: string, param: string | null, code: string | null = null): NativeError {
  return openAiError(400, 'invalid_request_error', code, message, param);
}

/** Returns OpenAI's refusal of a request: unknown members, ids of another kind, calls and outputs that do not match. */
export function checkResponses(body: JsonObject): NativeError | undefined {
  for (const name in body)
    if (!KNOWN.has(name)) return invalid(`Unknown parameter: '${name}'.`, name, 'unknown_parameter');
  if (textOf(body.model) === '') return invalid('you must provide a model parameter', null);
  if (typeof body.input !== 'string' && !isList(body.input) && body.previous_response_id === undefined)
    return invalid("Missing required parameter: 'input'.", 'input', 'missing_required_parameter');
  for (const [at, tool] of objectsOf(body.tools).entries())
    if (tool.type === 'function' && textOf(tool.name) === '')
      return invalid(`Missing required parameter: 'tools[${at}].name'.`, `tools[${at}].name`);
  return checkItems(objectsOf(body.input), body.previous_response_id !== undefined);
}

function checkItems(items: readonly JsonObject[], isContinued: boolean): NativeError | undefined {
  const open = new Set<string>();
  for (const [at, item] of items.entries()) {
    const type = textOf(item.type ?? 'message');
    const prefix = ITEM_PREFIXES[type];
    const id = textOf(item.id);
    if (prefix !== undefined && id !== '' && !id.startsWith(`${prefix}_`))
      return invalid(
        `Invalid 'input[${at}].id': '${id}'. Expected an ID that begins with '${prefix}'.`,
        `input[${at}].id`,
      );
    if (textOf(item.encrypted_content) !== '' && !textOf(item.encrypted_content).startsWith('sealed-'))
      return invalid('The encrypted content could not be verified.', null, 'invalid_encrypted_content');
    if (type.endsWith('_call') && item.call_id !== undefined) open.add(textOf(item.call_id));
    if (type.endsWith('_call_output') && !open.delete(textOf(item.call_id)) && !isContinued)
      return invalid(
        `No tool call found for function call output with call_id ${textOf(item.call_id)}.`,
        'input',
      );
  }
  const [unanswered] = open;
  return unanswered === undefined
    ? undefined
    : invalid(`No tool output found for function call ${unanswered}.`, 'input');
}
