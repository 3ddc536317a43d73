import type { JsonObject } from '../../body/json-object.js';
import { ApiError } from '@gateway/contracts';
import type { RouteTarget } from '../../translation/translation.js';
import type { ModelRequest, Part, ToolCallPart, Turn } from '../model-request.js';
import { encoded, TARGET, translatedRequest } from './messages.fixture.js';

export const say = (role: Turn['role'], text: string, more: Partial<Part> = {}): Turn => ({
  role,
  parts: [{ type: 'text', text, ...more } as Part],
});
export const callPart = (id: string, args = '{}'): ToolCallPart => ({
  type: 'tool_call',
  id,
  name: 'look',
  arguments: args,
});
export const calls = (...ids: string[]): Turn => ({
  role: 'assistant',
  parts: ids.map((id) => callPart(id)),
});
export const answers = (id: string, text = 'ok'): Turn => ({
  role: 'tool',
  parts: [{ type: 'tool_result', toolCallId: id, parts: [{ type: 'text', text }], isError: false }],
});
export const hi = say('user', 'hi');

export function sent(changes: Partial<ModelRequest>, target: Partial<RouteTarget> = {}): JsonObject {
  return encoded(translatedRequest(changes), { ...TARGET, ...target }).body;
}

export function ignored(changes: Partial<ModelRequest>, target: Partial<RouteTarget> = {}): string[] {
  return encoded(translatedRequest(changes), { ...TARGET, ...target }).ignored;
}

export function refused(changes: Partial<ModelRequest>, target: Partial<RouteTarget> = {}): ApiError {
  try {
    sent(changes, target);
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error('encoded');
}

export function messagesOf(turns: Turn[]): unknown {
  return sent({ turns }).messages;
}

export const adaptive: Partial<RouteTarget> = {
  reasoning: { style: 'adaptive', efforts: ['low', 'medium', 'high', 'max'] },
};
export const budget: Partial<RouteTarget> = { reasoning: { style: 'budget' } };
export const effort = (
  level: NonNullable<ModelRequest['reasoning']>['effort'],
  maxTokens: number | null = null,
) => ({
  reasoning: { effort: level, maxTokens, exclude: false },
});
