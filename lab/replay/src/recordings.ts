import type { UpstreamDouble } from '@gateway/testing';
import { ask, type Received } from './call.js';
import { kindOf, type ExchangeKind } from './exchange-kind.js';
import type { Exchange } from './exchange.js';
import { object, text, type AnswerFacts, type Json } from './facts/answer-facts.js';
import { FRONTS, readFacts, type FrontName } from './facts/read.js';
import type { Gateway } from './gateway.js';
import { differences, errorFaults, fixedKeys, priceFaults } from './judge.js';
import { replayOther } from './other-exchanges.js';
import { readRequest } from './requests/read-request.js';
import { writeRequest } from './requests/write-request.js';
import { serve, SPLIT_MODES, type SplitMode } from './upstream.js';
import type { Verdict } from './verdict.js';

type TextKind = Extract<ExchangeKind, { kind: 'text' }>;

/** One exchange on its way through one caller's format. */
interface Passage {
  exchange: Exchange;
  kind: TextKind;
  front: FrontName;
  /** Facts of the provider's own body; null for an error. */
  expected: AnswerFacts | null;
  body: Json;
  /** Catalogue id of the model. */
  model: string;
  upstream: UpstreamDouble;
  gateway: Gateway;
}

function isStream({ response }: Exchange): boolean {
  return /event-?stream/.test(response.headers['content-type'] ?? '');
}

/** The recorded body itself where the caller speaks the provider's format, else the same request in the caller's. */
function bodyFor(front: FrontName, exchange: Exchange, kind: TextKind): Json {
  return front === kind.dialect ? (exchange.request.json ?? {}) : rewritten(front, exchange, kind);
}

function rewritten(front: FrontName, { request }: Exchange, { dialect }: TextKind): Json {
  return writeRequest(front, readRequest(dialect, request.json ?? {}, request.path.split('?')[0]));
}

function judge({ exchange, kind, front, expected, model }: Passage, received: Received): string[] {
  if (expected === null) return errorFaults(exchange, front, received);
  if (received.facts === null) {
    const hasContent = expected.text !== '' || expected.tools.length > 0;
    return expected.error !== null && !hasContent
      ? []
      : [`expected an answer, got ${received.status} ${received.raw.slice(0, 300)}`];
  }
  if (received.isStream && received.facts.error === null && !received.facts.isComplete)
    return ['the stream has no end'];
  const { provider, dialect } = kind;
  return [
    ...differences(expected, received.facts, { front, dialect, provider }),
    ...fixedKeys(front, received, model),
  ];
}

/** A body of one answer with what differs from run to run blanked: all three splits must give the same. */
function comparable(raw: string): string {
  return raw
    .replace(/"[a-z]+_[0-9a-zA-Z-]{20,}"/g, '""')
    .replace(/"(created|created_at|completed_at)":\d+/g, '"$1":0');
}

/** Refused by our own checks before it was sent: a 4xx although nothing reached the upstream. */
function refusedHere(received: Received, upstream: UpstreamDouble): string | null {
  if (received.failure === null || upstream.seen.length > 0) return null;
  const error = object(received.failure.error);
  return `the gateway refuses the request: ${received.status} ${text(error.code)}: ${text(error.message)}`;
}

function serveExchange({ response }: Exchange, upstream: UpstreamDouble, mode: SplitMode): void {
  const { status, headers, body } = response;
  const contentType = headers['content-type'] ?? 'application/json';
  serve(upstream, { status, contentType, headers: passed(headers), body }, mode);
}

/** Null where it held; else what is wrong, or why it was not sent. */
async function pass(passage: Passage): Promise<Exclude<Verdict, { kind: 'held' }> | null> {
  const { exchange, front, expected, body, model, upstream, gateway } = passage;
  const { name } = exchange;
  const answers: string[] = [];
  const asked = { ...body, model };
  for (const mode of SPLIT_MODES) {
    serveExchange(exchange, upstream, mode);
    const received = await ask(gateway, front, asked);
    const refusal = refusedHere(received, upstream);
    if (refusal !== null) return { kind: 'not sent', name, why: refusal };
    const faults = judge(passage, received);
    if (faults.length === 0 && mode === 'whole' && received.facts?.error === null && expected !== null) {
      const record = await gateway.usageOf(received.requestId);
      faults.push(
        ...(record === null
          ? ['no usage record was shipped']
          : priceFaults(record, expected, received.facts)),
      );
    }
    if (faults.length > 0)
      return { kind: 'failed', name, why: `${front}, ${mode}: ${faults.join('; ').slice(0, 1_500)}` };
    answers.push(comparable(received.raw));
  }
  if (new Set(answers).size === 1) return null;
  return {
    kind: 'failed',
    name,
    why: `${front}: the answer depends on how the upstream’s bytes were cut`,
  };
}

/** The provider's own name of the model, which some formats say in the path. */
function recordedModel({ request }: Exchange): string {
  const inPath = /\/models?\/([^/:]+)/.exec(request.path)?.[1];
  return inPath === undefined ? text(request.json?.model) : decodeURIComponent(inPath);
}

/** Replays one exchange through every caller's format and in every split mode, and judges the answers. */
export async function replayExchange(
  exchange: Exchange,
  serial: number,
  upstream: UpstreamDouble,
  gateway: Gateway,
): Promise<Verdict> {
  const { name, response } = exchange;
  const kind = kindOf(exchange);
  if (kind.kind === 'none') return { kind: 'not sent', name, why: kind.why };
  // A name of its own: the failures that were recorded are not to open the breaker of another exchange.
  const model = gateway.serve(kind.provider, kind.dialect, `${recordedModel(exchange)}-${serial}`);
  if (kind.kind !== 'text') {
    serveExchange(exchange, upstream, 'whole');
    return replayOther({ exchange, kind, model, upstream, gateway });
  }
  const expected = response.status < 400 ? readFacts(kind.dialect, response.body, isStream(exchange)) : null;
  for (const front of FRONTS) {
    const passage = { exchange, kind, front, expected, model, upstream, gateway };
    let verdict = await pass({ ...passage, body: bodyFor(front, exchange, kind) });
    // What only the provider takes, the gateway refuses: the answer is judged all the same, to the request without it.
    if (verdict?.kind === 'not sent' && front === kind.dialect)
      verdict = await pass({ ...passage, body: rewritten(front, exchange, kind) });
    if (verdict !== null)
      return verdict.kind === 'failed' ? verdict : { ...verdict, why: `${front}: ${verdict.why}` };
  }
  return { kind: 'held', name };
}

/** Headers that mean something to the gateway; the rest described another connection. */
function passed(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) =>
      /^(retry-after|retry-after-ms|x-ratelimit|anthropic-ratelimit|x-amzn-errortype|x-amzn-bedrock)/.test(
        name,
      ),
    ),
  );
}
