import { parseBody, type ParsedBody } from '@gateway/json-body';
import type { RouteTarget } from '../translation/translation.js';
import type { SpeechDialect, SpeechRequest } from './speech-dialect.js';

/** A request as the endpoint reads it. */
export function speechRequest(more: object = {}): SpeechRequest {
  const sent = { model: 'mine', input: 'Hello', voice: 'alloy', ...more };
  const { response_format: format = 'mp3' } = more as { response_format?: string };
  const body = parseBody(Buffer.from(JSON.stringify(sent))) as ParsedBody;
  return { characters: Array.from(sent.input).length, format, body };
}

/** Returns the request sent for it: the path, and the body as it was parsed. */
export function spokenWith(dialect: SpeechDialect, model: string, more: object = {}): [string, unknown] {
  const target = { upstreamModel: model } as RouteTarget;
  const { pieces, byteLength, ...head } = dialect.encode(speechRequest(more), target);
  const bytes = Buffer.concat(pieces);
  expect(bytes.byteLength).toBe(byteLength);
  expect(head).toEqual({ path: head.path, contentType: 'application/json', accept: 'audio/*' });
  return [head.path, JSON.parse(bytes.toString())];
}

/** Returns the part of a request that it cannot speak, by the parameter; null: none. */
export function refusedBy(dialect: SpeechDialect, model: string, more: object = {}): unknown {
  const unsupported = dialect.unsupported?.(speechRequest(more), { upstreamModel: model } as RouteTarget);
  return unsupported == null ? null : [unsupported.param, unsupported.value ?? unsupported.what];
}

/** OpenAI's names of voices, which callers use everywhere. */
export const OPENAI_VOICES = [
  ...['alloy', 'ash', 'ballad', 'cedar', 'coral', 'echo', 'fable'],
  ...['marin', 'nova', 'onyx', 'sage', 'shimmer', 'verse'],
];

/** Names that would be more than a name in a path or a query. */
export const HOSTILE_VOICES = [
  ...['../../v1/user', 'a/b', 'a?b=c', 'a&model=x', 'a#b', '%2e%2e', 'a b', 'é', 'a\nb', 'x'.repeat(65)],
  ...['', '.', '__proto__'],
];
