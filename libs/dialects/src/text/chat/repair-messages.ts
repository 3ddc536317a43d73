import type { Quirks } from '../../translation/translation.js';
import {
  filled,
  isObject,
  objectOf,
  objectsOf,
  textOf,
  without,
  type JsonObject,
} from '../../body/json-object.js';
import { returnedText } from './returned-reasoning.js';
import { upstreamCallId } from '../upstream-names.js';

const REASONING = ['reasoning', 'reasoning_content', 'reasoning_details'];
/** Members that answers and SDK helpers add to a reply. Callers send the reply back whole, and providers refuse them. */
const READ_ONLY = ['annotations', 'parsed'];
const READ_ONLY_OF_CALL = ['parsed_arguments'];

/**
 * The caller's messages as this provider takes them, null where they can go as they are: then megabytes of them are
 * not written again.
 */
export function repairedMessages(messages: unknown, quirks: Quirks): JsonObject[] | null {
  const before = objectsOf(messages);
  const after = before.map((message) => repaired(message, quirks));
  return after.some((message, position) => message !== before[position]) ? after : null;
}

function repaired(message: JsonObject, quirks: Quirks): JsonObject {
  switch (message.role) {
    case 'system':
    case 'developer': {
      const role = quirks.systemRole ?? message.role;
      return role === message.role ? message : { ...message, role };
    }
    case 'assistant':
      return withCalls(withReasoning(withoutAny(message, READ_ONLY), quirks), quirks);
    case 'tool': {
      const id = textOf(message.tool_call_id);
      const accepted = upstreamCallId(id, quirks.toolCallIdPattern);
      const clean = 'is_error' in message ? toolError(message) : message;
      return accepted === id ? clean : { ...clean, tool_call_id: accepted };
    }
    default:
      return message;
  }
}

/** `is_error` is an extension: the model reads it in the text. */
function toolError(message: JsonObject): JsonObject {
  const clean = without(message, ['is_error']);
  if (message.is_error !== true) return clean;
  const { content } = message;
  return {
    ...clean,
    content:
      typeof content === 'string'
        ? `Error: ${content}`
        : [{ type: 'text', text: 'Error: ' }, ...objectsOf(content)],
  };
}

/** Reasoning of earlier turns goes back only to a provider that wants it, in its spelling. */
function withReasoning(message: JsonObject, quirks: Quirks): JsonObject {
  const sent = REASONING.filter((name) => name in message);
  if (sent.length === 0) return message;
  const clean = without(message, REASONING);
  const member = returnedReasoning(message, quirks);
  const isAsSent = (name: string): boolean => member !== null && member[name] === message[name];
  if (member && sent.length === Object.keys(member).length && sent.every(isAsSent)) return message;
  return { ...clean, ...member };
}

function returnedReasoning(message: JsonObject, quirks: Quirks): JsonObject | null {
  const details = objectsOf(message.reasoning_details);
  const { returnsReasoning: name } = quirks;
  if (details.length > 0 && (name === 'reasoning_details' || name === 'text_details'))
    return { reasoning_details: message.reasoning_details };
  const text =
    filled(message.reasoning_content) ??
    filled(message.reasoning) ??
    filled(details.map((detail) => textOf(detail.text ?? detail.summary)).join(''));
  // DeepSeek wants its reasoning back while a tool loop runs, and refuses it otherwise.
  return text === null ? null : returnedText(text, objectsOf(message.tool_calls).length > 0, quirks);
}

function withCalls(message: JsonObject, { toolCallIdPattern }: Quirks): JsonObject {
  const calls = objectsOf(message.tool_calls);
  const repairedCalls = calls.map((call) => {
    const id = upstreamCallId(textOf(call.id), toolCallIdPattern);
    const sent = objectOf(call.function);
    const body = withoutAny(sent, READ_ONLY_OF_CALL);
    const isEmpty = isObject(call.function) && textOf(body.arguments).trim() === '';
    if (id === call.id && !isEmpty && body === sent) return call;
    if (!isObject(call.function)) return { ...call, id };
    return { ...call, id, function: isEmpty ? { ...body, arguments: '{}' } : body };
  });
  return repairedCalls.some((call, position) => call !== calls[position])
    ? { ...message, tool_calls: repairedCalls }
    : message;
}

/** The same object where it has none of them. */
function withoutAny(value: JsonObject, names: readonly string[]): JsonObject {
  return names.some((name) => name in value) ? without(value, names) : value;
}
