import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type UpstreamDouble } from '@gateway/testing';
import { ask, type FrontName, type Told } from './call.js';
import type { AnswerFacts, Json } from './facts.js';
import type { Gateway } from './gateway.js';
import type { Verdict } from './recordings.js';
import { SPLIT_MODES, type Answer, serve } from './upstream.js';

/** One row of the tables of expectations in the folder's README. */
interface Expectation {
  file: string;
  finish: string;
  native: string | null;
  usage: { prompt: number; completion: number; cached: number; write: number; reasoning: number } | null;
  facts: string;
}

/** Providers whose wire format this release speaks, by the first part of a file's name. */
const PROVIDERS: Record<string, string> = {
  anthropic: 'anthropic',
  openai: 'openai',
  'openai-compatible': 'openai-compatible',
  xai: 'xai',
  deepseek: 'deepseek',
  groq: 'groq',
  mistral: 'mistral',
  alibaba: 'alibaba',
  moonshotai: 'moonshotai',
};

const STOP_REASONS: Record<string, string> = {
  stop: 'end_turn',
  tool_calls: 'tool_use',
  length: 'max_tokens',
  content_filter: 'refusal',
};

function usageOf(cell: string): Expectation['usage'] {
  const totals = /^([\d ]+) \/ ([\d ]+) \/ [\d ]+/.exec(cell.trim());
  if (!totals) return null;
  const named = (name: string): number => Number(new RegExp(`${name} (\\d+)`).exec(cell)?.[1] ?? 0);
  return {
    prompt: Number(totals[1]),
    completion: Number(totals[2]),
    cached: named('cached'),
    write: named('write'),
    reasoning: named('reasoning'),
  };
}

function expectations(folder: string): Expectation[] {
  const rows: Expectation[] = [];
  for (const line of readFileSync(join(folder, 'README.md'), 'utf8').split('\n')) {
    const cells = line.split('|').map((cell) => cell.trim().replaceAll('**', ''));
    if (cells.length < 6 || !/\.(json|sse|txt)$/.test(cells[1]) || cells[1].includes('/')) continue;
    const [finish, native] = cells[2].split(' / ');
    rows.push({ file: cells[1], finish, native: native ?? null, usage: usageOf(cells[3]), facts: cells[4] });
  }
  return rows;
}

/** Rebuilds the envelope that the file leaves out (README, Format). */
function answerOf(folder: string, { file, finish }: Expectation, provider: string): Answer {
  const content = readFileSync(join(folder, file), 'utf8');
  const status = Number(/error (\d{3})/.exec(finish)?.[1] ?? 200);
  if (file.endsWith('.json'))
    return { status, contentType: 'application/json', headers: {}, body: Buffer.from(content) };
  const stream = (body: string): Answer => ({
    status: 200,
    contentType: 'text/event-stream',
    headers: {},
    body: Buffer.from(body),
  });
  if (file.endsWith('.sse')) return stream(content);
  const lines = content.split('\n').filter((line) => line.trim() !== '');
  if (provider !== 'anthropic')
    return stream(`${lines.map((line) => `data: ${line}\n\n`).join('')}data: [DONE]\n\n`);
  return stream(
    lines.map((line) => `event: ${String((JSON.parse(line) as Json).type)}\ndata: ${line}\n\n`).join(''),
  );
}

/** Bodies of the responses format, which this release does not call as an upstream. */
function isResponses(folder: string, file: string): boolean {
  const head = readFileSync(join(folder, file), 'utf8').slice(0, 2_000);
  return /"type":\s*"response\.|"object":\s*"response"/.test(head);
}

function faults(expected: Expectation, told: Told, front: FrontName): string[] {
  if (expected.finish.startsWith('error')) {
    if (told.failure !== null) return [];
    const isInBand = told.facts?.error != null && !told.facts.isComplete;
    return isInBand ? [] : ['expected an error'];
  }
  if (told.facts === null) return [`expected an answer, got ${told.status} ${told.raw.slice(0, 300)}`];
  return [
    ...finishFaults(expected, told.facts, front),
    ...usageFaults(expected, told.facts, front),
    ...factFaults(expected, told.facts),
  ];
}

function finishFaults(expected: Expectation, told: AnswerFacts, front: FrontName): string[] {
  const found: string[] = [];
  const finish = front === 'chat' ? expected.finish : (STOP_REASONS[expected.finish] ?? expected.finish);
  if (told.finish !== finish) found.push(`finish ${told.finish}, expected ${finish}`);
  if (front === 'chat' && told.native !== expected.native)
    found.push(`native ${told.native}, expected ${expected.native}`);
  if (!told.isComplete) found.push('the stream has no end');
  return found;
}

function usageFaults({ usage }: Expectation, told: AnswerFacts, front: FrontName): string[] {
  // Where the file has none, the estimate stands: never 0.
  if (usage === null)
    return (told.completion ?? 0) > 0
      ? []
      : [`usage is ${JSON.stringify(told.usage)}, expected the estimate`];
  const pairs: [string, number | null, number][] = [
    ['prompt', told.prompt, usage.prompt],
    ['completion', told.completion, usage.completion],
    ['cached', told.cached, usage.cached],
    ['cache write', told.cacheWrite, usage.write],
  ];
  if (front === 'chat') pairs.push(['reasoning', told.reasoningTokens, usage.reasoning]);
  return pairs
    .filter(([, got, wanted]) => got !== wanted)
    .map(([name, got, wanted]) => `${name} ${got}, expected ${wanted}`);
}

/** Calls and texts that a row quotes: `name` `{…}` and "text". */
function factFaults({ facts, file }: Expectation, told: AnswerFacts): string[] {
  const found: string[] = [];
  for (const [, name, input] of facts.matchAll(/`(\w+)` `(\{[^`]*\})`/g)) {
    const isThere = told.tools.some(
      (tool) => tool.name === name && JSON.stringify(tool.arguments) === JSON.stringify(JSON.parse(input)),
    );
    if (!isThere) found.push(`no call ${name} ${input} in ${JSON.stringify(told.tools)}`);
  }
  const quoted =
    /^(?:text |one answer, |content )?"([^"]+)"/.exec(facts)?.[1] ??
    / (?:text|content|then text) "([^"]+)"/.exec(facts)?.[1];
  if (quoted !== undefined && !told.text.includes(quoted) && !told.reasoning.includes(quoted))
    found.push(`text ${JSON.stringify(told.text.slice(0, 80))} lacks ${JSON.stringify(quoted)}`);
  if (/\bkept\b/.test(facts)) {
    for (const [, key] of facts.matchAll(
      /(num_sources_used|prompt_cache_hit_tokens|prompt_cache_miss_tokens)/g,
    )) {
      if (!(key in told.usage) && told.native !== null) found.push(`${key} is not kept`);
    }
  }
  if (/cost|price/i.test(JSON.stringify(told.usage))) found.push(`${file}: a cost is shown`);
  return found;
}

/** Every golden body of a provider we speak to, on both fronts, in every split mode. */
export async function replayGolden(
  folder: string,
  upstream: UpstreamDouble,
  gateway: Gateway,
): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  for (const expected of expectations(folder)) {
    const provider = PROVIDERS[expected.file.slice(0, expected.file.indexOf('__'))];
    if (!provider)
      verdicts.push({ kind: 'not sent', name: expected.file, why: 'no adapter for the provider yet' });
    else if (isResponses(folder, expected.file))
      verdicts.push({
        kind: 'not sent',
        name: expected.file,
        why: 'a responses body: no responses upstream yet',
      });
    else
      for (const front of ['chat', 'messages'] as const)
        verdicts.push(await replayBody(folder, expected, provider, front, upstream, gateway));
  }
  return verdicts;
}

async function replayBody(
  folder: string,
  expected: Expectation,
  provider: string,
  front: FrontName,
  upstream: UpstreamDouble,
  gateway: Gateway,
): Promise<Verdict> {
  const name = `${expected.file} on ${front}`;
  const answer = answerOf(folder, expected, provider);
  const stream = answer.contentType === 'text/event-stream';
  const body = {
    model: gateway.modelOf(provider),
    max_tokens: 1_000,
    stream,
    messages: [{ role: 'user', content: 'Hello' }],
  };
  for (const mode of SPLIT_MODES) {
    serve(upstream, answer, mode);
    const found = faults(expected, await ask(gateway, front, body), front);
    if (found.length > 0) return { kind: 'failed', name, why: `${mode}: ${found.join('; ')}` };
  }
  return { kind: 'held', name };
}
