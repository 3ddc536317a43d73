import {
  chatAnswer,
  chatStream,
  messagesAnswer,
  messagesStream,
  type AnswerFacts,
  type Json,
} from './facts.js';
import type { Gateway } from './gateway.js';

export type FrontName = 'chat' | 'messages';

/** What the gateway answered. */
export interface Told {
  status: number;
  /** Error envelope of a status from 400 on. */
  failure: Json | null;
  facts: AnswerFacts | null;
  raw: string;
}

const PATHS: Record<FrontName, string> = { chat: '/v1/chat/completions', messages: '/v1/messages' };
const LONGEST_MS = 30_000;

/** Sends a body to the gateway and reads the answer as its dialect says. */
export async function ask(
  gateway: Gateway,
  front: FrontName,
  body: Json,
  headers: Record<string, string> = {},
): Promise<Told> {
  const response = await fetch(`${gateway.url}${PATHS[front]}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(LONGEST_MS),
  });
  const raw = await response.text();
  if (response.status >= 400)
    return { status: response.status, failure: JSON.parse(raw) as Json, facts: null, raw };
  const isStream = response.headers.get('content-type')?.includes('text/event-stream') ?? false;
  return { status: response.status, failure: null, facts: read(front, raw, isStream), raw };
}

/** Facts of a body of a dialect, plain or streamed. */
export function read(front: FrontName, raw: string, isStream: boolean): AnswerFacts {
  if (isStream) return front === 'chat' ? chatStream(raw) : messagesStream(raw);
  return front === 'chat' ? chatAnswer(JSON.parse(raw)) : messagesAnswer(JSON.parse(raw));
}
