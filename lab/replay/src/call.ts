import { object, type AnswerFacts, type Json } from './facts/answer-facts.js';
import { readFacts, type FrontName } from './facts/read.js';
import type { Gateway } from './gateway.js';

/** The answer of the gateway. */
export interface Received {
  status: number;
  /** Error envelope of a status from 400 on. */
  failure: Json | null;
  facts: AnswerFacts | null;
  raw: string;
  isStream: boolean;
  requestId: string;
}

const PATHS: Record<FrontName, string> = {
  chat: '/v1/chat/completions',
  messages: '/v1/messages',
  responses: '/v1/responses',
};
const LONGEST_MS = 30_000;

/** Sends a body to a path of the gateway. */
export async function post(gateway: Gateway, path: string, body: Json): Promise<Response> {
  return fetch(`${gateway.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(LONGEST_MS),
  });
}

/** Sends a body to the gateway and reads the answer as its dialect says. */
export async function ask(gateway: Gateway, front: FrontName, body: Json): Promise<Received> {
  const response = await post(gateway, PATHS[front], body);
  const raw = await response.text();
  const isStream = response.headers.get('content-type')?.includes('text/event-stream') ?? false;
  const requestId = response.headers.get('x-request-id') ?? '';
  const received = { status: response.status, raw, isStream, requestId };
  if (response.status >= 400) return { ...received, failure: object(JSON.parse(raw)), facts: null };
  return { ...received, failure: null, facts: readFacts(front, Buffer.from(raw), isStream) };
}
