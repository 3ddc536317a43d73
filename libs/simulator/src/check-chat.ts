import { openAiError } from './errors-openai.js';
import type { NativeError } from './error-table.js';
import { isList, isObject, objectOf, objectsOf, textOf, type JsonObject } from './json.js';
import type { Script } from './script.js';

const TOP_LEVEL = new Set(
  (
    'model messages temperature top_p max_completion_tokens max_tokens n stop seed frequency_penalty ' +
    'presence_penalty logit_bias logprobs top_logprobs tools tool_choice parallel_tool_calls functions ' +
    'function_call response_format stream stream_options reasoning_effort verbosity modalities audio prediction ' +
    'web_search_options service_tier store metadata prompt_cache_key prompt_cache_retention prompt_cache_options ' +
    'safety_identifier user moderation'
  ).split(' '),
);
const MESSAGE_KEYS = new Set(
  'role content name tool_calls tool_call_id refusal audio function_call'.split(' '),
);
const ROLES = new Set('system developer user assistant tool function'.split(' '));
const NAME = /^[a-zA-Z0-9_-]{1,64}$/;

function invalid(message: string, param: string | null, code: string | null = null): NativeError {
  return openAiError(400, 'invalid_request_error', code, message, param);
}

/** The first thing OpenAI would refuse in this body, or undefined. Models named `compat` allow unknown keys. */
export function checkChat(body: JsonObject, script: Script): NativeError | undefined {
  const lenient = script.words.has('compat');
  return (
    (lenient ? undefined : checkKeys(body)) ??
    checkParameters(body, script) ??
    checkTools(body) ??
    checkMessages(body, lenient)
  );
}

function checkKeys(body: JsonObject): NativeError | undefined {
  for (const key in body) {
    if (!TOP_LEVEL.has(key)) return invalid(`Unknown parameter: '${key}'.`, key, 'unknown_parameter');
  }
  return undefined;
}

function checkParameters(body: JsonObject, script: Script): NativeError | undefined {
  if (script.words.has('reasoning')) {
    if (body.max_tokens !== undefined && body.max_tokens !== null) {
      const text = `Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.`;
      return invalid(text, 'max_tokens', 'unsupported_parameter');
    }
  }
  if (body.stream_options !== undefined && body.stream_options !== null && body.stream !== true) {
    return invalid(
      "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
      'stream_options',
    );
  }
  if (body.top_logprobs !== undefined && body.top_logprobs !== null && body.logprobs !== true) {
    return invalid(
      "The 'top_logprobs' parameter is only allowed when 'logprobs' is enabled.",
      'top_logprobs',
    );
  }
  if (script.words.has('strict') && typeof body.temperature === 'number' && typeof body.top_p === 'number') {
    return invalid(
      '`temperature` and `top_p` cannot both be set for this model.',
      'top_p',
      'unsupported_parameter',
    );
  }
  for (const key of ['temperature', 'top_p']) {
    const value = body[key];
    if (typeof value === 'number' && (value < 0 || value > 2)) {
      return invalid(`Invalid '${key}': decimal out of range.`, key, 'decimal_above_max_value');
    }
  }
  for (const key of ['max_tokens', 'max_completion_tokens']) {
    const value = body[key];
    if (typeof value === 'number' && value < 1) {
      return invalid(`Invalid '${key}': integer below minimum value.`, key, 'integer_below_min_value');
    }
  }
  const format = objectOf(body.response_format);
  if (format.type === 'json_schema' && !NAME.test(textOf(objectOf(format.json_schema).name))) {
    return invalid(
      "Missing required parameter: 'response_format.json_schema.name'.",
      'response_format',
      'missing_required_parameter',
    );
  }
  return undefined;
}

function checkTools(body: JsonObject): NativeError | undefined {
  const tools = objectsOf(body.tools);
  const names = new Set<string>();
  if (isList(body.tools) && tools.length === 0)
    return invalid("Invalid 'tools': empty array.", 'tools', 'empty_array');
  for (const [index, tool] of tools.entries()) {
    const kind = textOf(tool.type);
    const name = textOf(objectOf(tool[kind === 'custom' ? 'custom' : 'function']).name);
    if (!NAME.test(name)) {
      return invalid(
        `Invalid 'tools[${index}].function.name'.`,
        `tools[${index}].function.name`,
        'invalid_value',
      );
    }
    names.add(name);
  }
  const choice = body.tool_choice;
  if (choice === undefined || choice === null) return undefined;
  if (tools.length === 0 && choice !== 'none') {
    return invalid("'tool_choice' is only allowed when 'tools' are specified.", 'tool_choice');
  }
  const named =
    isObject(choice) && choice.type === 'function' ? textOf(objectOf(choice.function).name) : undefined;
  if (named !== undefined && !names.has(named)) {
    return invalid("Tool choice 'function' not found in 'tools' parameter.", 'tool_choice');
  }
  return undefined;
}

function checkMessages(body: JsonObject, lenient: boolean): NativeError | undefined {
  if (textOf(body.model) === '') return invalid('you must provide a model parameter', null);
  if (!isList(body.messages)) {
    return invalid("Missing required parameter: 'messages'.", 'messages', 'missing_required_parameter');
  }
  const messages = objectsOf(body.messages);
  if (messages.length === 0) return invalid("Invalid 'messages': empty array.", 'messages', 'empty_array');
  for (const [index, message] of messages.entries()) {
    const at = `messages[${index}]`;
    if (!ROLES.has(textOf(message.role)))
      return invalid(`Invalid value: '${textOf(message.role)}'.`, `${at}.role`, 'invalid_value');
    for (const key in message) {
      if (!lenient && !MESSAGE_KEYS.has(key)) {
        return invalid(`Unknown parameter: '${at}.${key}'.`, `${at}.${key}`, 'unknown_parameter');
      }
    }
    const hasCalls =
      message.role === 'assistant' &&
      (message.tool_calls !== undefined || message.function_call !== undefined);
    if (
      (message.content === null || message.content === undefined) &&
      message.role !== 'function' &&
      !hasCalls &&
      message.refusal === undefined &&
      message.audio === undefined
    ) {
      return invalid(`Invalid value for 'content': expected a string, got null.`, `${at}.content`);
    }
  }
  return checkToolOrder(messages);
}

/** Every call is answered right after its assistant message, and every answer has its call. */
function checkToolOrder(messages: readonly JsonObject[]): NativeError | undefined {
  let open = new Set<string>();
  for (const [index, message] of messages.entries()) {
    if (message.role === 'tool') {
      if (!open.delete(textOf(message.tool_call_id))) {
        const text =
          "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.";
        return invalid(text, `messages.[${index}].role`);
      }
      continue;
    }
    if (open.size > 0) return unanswered(open, index);
    const calls = message.role === 'assistant' ? objectsOf(message.tool_calls) : [];
    open = new Set(calls.map((call) => textOf(call.id)));
  }
  return open.size > 0 ? unanswered(open, messages.length) : undefined;
}

function unanswered(open: ReadonlySet<string>, index: number): NativeError {
  const text =
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. " +
    `The following tool_call_ids did not have response messages: ${[...open].join(', ')}`;
  return invalid(text, `messages.[${index}].role`);
}
