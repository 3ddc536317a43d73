import type { AnswerFacts } from './answer-facts.js';
import { chatAnswer, chatStream } from './chat.js';
import { cohereAnswer, cohereStream } from './cohere.js';
import { converseAnswer, converseStream } from './converse.js';
import { geminiAnswer, geminiStream } from './gemini.js';
import { messagesAnswer, messagesStream } from './messages.js';
import { responsesAnswer, responsesStream } from './responses.js';

/** Formats that a caller of ours may speak. */
export const FRONTS = ['chat', 'messages', 'responses'] as const;
export type FrontName = (typeof FRONTS)[number];
export type TextFormat = FrontName | 'gemini' | 'converse' | 'cohere';

const PLAIN: Record<TextFormat, (body: unknown) => AnswerFacts> = {
  chat: chatAnswer,
  messages: messagesAnswer,
  responses: responsesAnswer,
  gemini: geminiAnswer,
  converse: converseAnswer,
  cohere: cohereAnswer,
};
const STREAMED: Record<TextFormat, (body: Buffer) => AnswerFacts> = {
  chat: (body) => chatStream(body.toString('utf8')),
  messages: (body) => messagesStream(body.toString('utf8')),
  responses: (body) => responsesStream(body.toString('utf8')),
  gemini: (body) => geminiStream(body.toString('utf8')),
  converse: converseStream,
  cohere: (body) => cohereStream(body.toString('utf8')),
};

/** Facts of a body of a format, plain or streamed. */
export function readFacts(format: TextFormat, body: Buffer, isStream: boolean): AnswerFacts {
  return isStream ? STREAMED[format](body) : PLAIN[format](JSON.parse(body.toString('utf8')));
}
