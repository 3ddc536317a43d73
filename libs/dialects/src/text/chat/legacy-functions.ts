import type { ErrorDetail } from '@gateway/contracts';
import { isObject, without, type JsonObject } from '../../body/json-object.js';

/**
 * The members that replace the legacy ones: every upstream is asked with tools. Legacy calls have no ids, and each is
 * answered by the next function message of its name, so an id made of the position distinguishes them. Such a caller
 * reads one call per answer: parallel calls are turned off.
 */
export function toolsForFunctions(body: JsonObject): JsonObject {
  const members: JsonObject = {};
  if (Array.isArray(body.messages)) members.messages = rewrittenMessages(body.messages);
  if (Array.isArray(body.functions)) {
    const functions: unknown[] = body.functions;
    const tools: unknown[] = Array.isArray(body.tools) ? body.tools : [];
    members.tools = [...tools, ...functions.map((declared) => ({ type: 'function', function: declared }))];
    members.parallel_tool_calls = body.parallel_tool_calls ?? false;
  }
  const choice = body.function_call;
  if (isObject(choice)) members.tool_choice = { type: 'function', function: { name: choice.name } };
  else if (choice !== undefined && choice !== null) members.tool_choice = choice;
  return members;
}

function rewrittenMessages(messages: unknown[]): unknown[] {
  let lastId = '';
  return messages.map((message, position) => {
    if (!isObject(message)) return message;
    if (message.role === 'assistant' && isObject(message.function_call)) {
      lastId = `call_function_${position}`;
      const call = { id: lastId, type: 'function', function: message.function_call };
      return { ...without(message, ['function_call']), tool_calls: [call] };
    }
    if (message.role === 'function') {
      return { role: 'tool', tool_call_id: lastId, content: message.content ?? '' };
    }
    return message;
  });
}

/** The fault with its place as the caller wrote it. */
export function inFunctions(detail: ErrorDetail, body: JsonObject): ErrorDetail {
  const [member, position, ...rest] = detail.loc;
  const ahead = Array.isArray(body.tools) ? body.tools.length : 0;
  if (member === 'tools' && typeof position === 'number' && position >= ahead)
    return { ...detail, loc: ['functions', position - ahead, ...rest.slice(1)] };
  if (member === 'tool_choice' && body.function_call != null)
    return { ...detail, loc: ['function_call', ...rest.slice(1)] };
  if (member !== 'messages' || rest[0] !== 'tool_calls') return detail;
  const message: unknown = Array.isArray(body.messages) ? body.messages[Number(position)] : null;
  if (!isObject(message) || !isObject(message.function_call)) return detail;
  return { ...detail, loc: [member, position, 'function_call', ...rest.slice(3)] };
}
