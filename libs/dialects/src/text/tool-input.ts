import { ApiError } from '@gateway/contracts';
import { isObject, type JsonObject } from '../body/json-object.js';
import { spelledJsonOf } from '../body/upstream-json.js';
import type { ToolCallPart } from './model-request.js';

/**
 * Arguments of a call in the caller's history, for a format that wants an object. Half or broken JSON is the caller's
 * fault: {} would be another call.
 * @throws ApiError validation_error
 */
export function toolInput(part: ToolCallPart, turn: number, call: number): JsonObject {
  const text = part.arguments.trim();
  const value = text === '' || text === 'null' ? {} : spelledJsonOf(text);
  if (isObject(value)) return value;
  const loc = ['messages', part.message ?? turn, 'tool_calls', call, 'function', 'arguments'];
  const msg = 'the arguments of a tool call must be a JSON object';
  throw new ApiError('validation_error', { status: 422, details: [{ type: 'json_invalid', loc, msg }] });
}
