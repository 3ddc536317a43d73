import { BodyFault, parseBody, type ParsedBody } from '@gateway/json-body';
import { textChat, textMessages, textResponses } from '../../families.generated.js';
import type { TextCaller } from '../text-dialect.js';
import type { Json } from '../upstream-requests.fixture.js';

export const GOLDEN_FOLDER = 'libs/dialects/src/text/golden';

/** The callers with the least body of each. */
export const CALLERS = {
  chat: { caller: textChat.caller, least: { model: 'm', messages: [{ role: 'user', content: 'Hi' }] } },
  messages: {
    caller: textMessages.caller,
    least: { model: 'm', max_tokens: 9_000, messages: [{ role: 'user', content: 'Hi' }] },
  },
  responses: { caller: textResponses.caller, least: { model: 'm', input: 'Hi' } },
} as const satisfies Record<string, { caller: TextCaller; least: Json }>;

export type CallerName = keyof typeof CALLERS;
export const CALLER_NAMES = Object.keys(CALLERS) as CallerName[];

/** The least body of the caller with these members, as it comes. */
export function bodyOf(name: CallerName, members: Json): ParsedBody {
  const body = parseBody(Buffer.from(JSON.stringify({ ...CALLERS[name].least, ...members })));
  if (body instanceof BodyFault) throw new Error(body.detail.msg);
  return body;
}
