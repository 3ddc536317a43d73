import { isDeepStrictEqual } from 'node:util';
import { type UpstreamDouble } from '@gateway/testing';
import { ask, read, type FrontName, type Told } from './call.js';
import type { Exchange } from './exchange.js';
import { object, text, type AnswerFacts } from './facts.js';
import type { Gateway } from './gateway.js';
import { SPLIT_MODES, serve } from './upstream.js';

/** Which provider's adapter speaks for a recorded host, and in which dialect. */
const HOSTS: Record<string, { provider: string; front: FrontName }> = {
  'api.openai.com': { provider: 'openai', front: 'chat' },
  'api.anthropic.com': { provider: 'anthropic', front: 'messages' },
  'api.groq.com': { provider: 'groq', front: 'chat' },
  'api.mistral.ai': { provider: 'mistral', front: 'chat' },
  'api.deepseek.com': { provider: 'deepseek', front: 'chat' },
  'api.cerebras.ai': { provider: 'cerebras', front: 'chat' },
  'api.perplexity.ai': { provider: 'perplexity', front: 'chat' },
  'api.z.ai': { provider: 'zai', front: 'chat' },
  'openrouter.ai': { provider: 'openrouter', front: 'chat' },
  'ollama.com': { provider: 'ollama', front: 'chat' },
  'localhost:11434': { provider: 'ollama', front: 'chat' },
};

export type Verdict =
  | { kind: 'held'; name: string }
  /** Not sent, or refused by the gateway before it was: why. */
  | { kind: 'not sent'; name: string; why: string }
  | { kind: 'failed'; name: string; why: string };

function whyNot({ host, request }: Exchange): string | null {
  const known = HOSTS[host];
  if (!known) return `no adapter for ${host} yet`;
  const path = request.path.split('?')[0];
  const isFront = known.front === 'chat' ? path.endsWith('/chat/completions') : path.endsWith('/messages');
  if (!isFront) return `${request.method} ${path} is no ${known.front} exchange`;
  return request.json === null ? 'the recording has no JSON request' : null;
}

/** Keys that the gateway adds or may differ in: everything else of two readings is compared. */
function differences(expected: AnswerFacts, told: AnswerFacts, provider: string): string[] {
  const found: string[] = [];
  const compare = (name: keyof AnswerFacts, wanted: unknown = expected[name]): void => {
    if (!isDeepStrictEqual(wanted, told[name]))
      found.push(`${name}: expected ${JSON.stringify(wanted)}, got ${JSON.stringify(told[name])}`);
  };
  compare('text');
  compare('tools');
  compare('finish');
  if (expected.error === null) {
    compare('isComplete');
    if (expected.prompt !== null) compare('prompt');
    // Some providers leave reasoning out of the completion count; the gateway counts it in.
    const addsReasoning = provider === 'xai' ? (expected.reasoningTokens ?? 0) : 0;
    if (expected.completion !== null) compare('completion', expected.completion + addsReasoning);
    compare('cached');
  } else if (told.error === null) found.push('error: expected an in-band error, got none');
  return found;
}

function judge(exchange: Exchange, front: FrontName, provider: string, told: Told): string[] {
  const { status, headers, body } = exchange.response;
  if (status >= 400) {
    if (told.failure === null) return [`expected a failure for status ${status}, got ${told.status}`];
    const error = object(told.failure.error);
    return text(error.code) === '' || text(error.message) === ''
      ? [`the error has no code or message: ${told.raw}`]
      : [];
  }
  const isStream = (headers['content-type'] ?? '').includes('event-stream');
  const expected = read(front, body.toString('utf8'), isStream);
  if (told.facts === null) {
    const hasContent = expected.text !== '' || expected.tools.length > 0;
    return expected.error !== null && !hasContent
      ? []
      : [`expected an answer, got ${told.status} ${told.raw.slice(0, 300)}`];
  }
  if (isStream && told.facts.error === null && !told.facts.isComplete) return ['the stream has no end'];
  return differences(expected, told.facts, provider);
}

/** A body of one answer with what differs from run to run blanked: all three splits must give the same. */
function comparable(raw: string): string {
  return raw
    .replace(/"(?:id|request_id)":"(?:chatcmpl|msg|req)_[0-9a-f-]{36}"/g, '"id":""')
    .replace(/"created":\d+/g, '"created":0');
}

/** Refused by our own checks before it was sent: a 4xx although nothing reached the upstream. */
function refusedHere(told: Told, upstream: UpstreamDouble): string | null {
  if (told.failure === null || upstream.seen.length > 0) return null;
  const error = object(told.failure.error);
  return `the gateway refuses the request: ${told.status} ${text(error.code)}: ${text(error.message)}`;
}

/** Replays one exchange in every split mode and judges the answers. */
export async function replayExchange(
  exchange: Exchange,
  upstream: UpstreamDouble,
  gateway: Gateway,
): Promise<Verdict> {
  const { name } = exchange;
  const why = whyNot(exchange);
  if (why !== null) return { kind: 'not sent', name, why };
  const { provider, front } = HOSTS[exchange.host];
  const body = { ...exchange.request.json, model: gateway.modelOf(provider) };
  const answers: string[] = [];
  for (const mode of SPLIT_MODES) {
    const { status, headers, body: bytes } = exchange.response;
    serve(
      upstream,
      {
        status,
        contentType: headers['content-type'] ?? 'application/json',
        headers: passed(headers),
        body: bytes,
      },
      mode,
    );
    const told = await ask(gateway, front, body);
    const refusal = refusedHere(told, upstream);
    if (refusal !== null) return { kind: 'not sent', name, why: refusal };
    const faults = judge(exchange, front, provider, told);
    if (faults.length > 0) return { kind: 'failed', name, why: `${mode}: ${faults.join('; ')}` };
    answers.push(comparable(told.raw));
  }
  if (new Set(answers).size > 1)
    return { kind: 'failed', name, why: 'the answer depends on how the upstream’s bytes were cut' };
  return { kind: 'held', name };
}

/** Headers that mean something to the gateway; the rest described another connection. */
function passed(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) =>
      /^(retry-after|retry-after-ms|x-ratelimit|anthropic-ratelimit)/.test(name),
    ),
  );
}
