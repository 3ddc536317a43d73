import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { UpstreamDouble } from '@gateway/testing';
import { ask, type Received } from './call.js';
import type { AnswerFacts, Json } from './facts/answer-facts.js';
import { FRONTS, type FrontName, type TextFormat } from './facts/read.js';
import type { Gateway } from './gateway.js';
import { finishOn } from './judge.js';
import { turn } from './requests/asked.js';
import { writeRequest } from './requests/write-request.js';
import { SPLIT_MODES, type Answer, serve } from './upstream.js';
import type { Verdict } from './verdict.js';

/** One row of the tables of expectations in the folder's README. */
interface Expectation {
  file: string;
  finish: string;
  native: string | null;
  usage: { prompt: number; completion: number; cached: number; write: number; reasoning: number } | null;
  facts: string;
}

/** Dialect of a provider's bodies, by the first part of a file's name; chat for the others. */
const DIALECTS: Record<string, TextFormat> = {
  anthropic: 'messages',
  google: 'gemini',
  'amazon-bedrock': 'converse',
  cohere: 'cohere',
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

/** One binary frame: length, length of the headers, checksums, headers, payload. */
function frame(type: string, payload: Buffer): Buffer {
  const named = (name: string, value: string): Buffer => {
    const head = Buffer.from([name.length, ...Buffer.from(name), 7, 0, value.length]);
    return Buffer.concat([head, Buffer.from(value)]);
  };
  const headers = Buffer.concat([
    named(':event-type', type),
    named(':content-type', 'application/json'),
    named(':message-type', 'event'),
  ]);
  const prelude = Buffer.alloc(8);
  prelude.writeUInt32BE(16 + headers.length + payload.length, 0);
  prelude.writeUInt32BE(headers.length, 4);
  const checked = (bytes: Buffer): Buffer => {
    const sum = Buffer.alloc(4);
    sum.writeUInt32BE(crc32(bytes));
    return Buffer.concat([bytes, sum]);
  };
  return checked(Buffer.concat([checked(prelude), headers, payload]));
}

function binaryFrame(line: string): Buffer {
  const [[type, payload]] = Object.entries(JSON.parse(line) as Json);
  return frame(type, Buffer.from(JSON.stringify(payload)));
}

/** Returns a line of a `.chunks.txt` in its frame, with what came after the last (README, Format). */
function enveloped(lines: string[], dialect: TextFormat): string {
  const named = (line: string): string =>
    `event: ${String((JSON.parse(line) as Json).type)}\ndata: ${line}\n\n`;
  if (dialect === 'messages' || dialect === 'responses') return lines.map(named).join('');
  if (dialect === 'cohere') return `${lines.map(named).join('')}data: [DONE]\n\n`;
  if (dialect === 'gemini') return lines.map((line) => `data: ${line}\r\n\r\n`).join('');
  return `${lines.map((line) => `data: ${line}\n\n`).join('')}data: [DONE]\n\n`;
}

/** Rebuilds the envelope that the file leaves out (README, Format). */
function answerOf(folder: string, { file, finish }: Expectation, dialect: TextFormat): Answer {
  const content = readFileSync(join(folder, file), 'utf8');
  const status = Number(/error (\d{3})/.exec(finish)?.[1] ?? 200);
  const answer = (contentType: string, body: string | Buffer): Answer => ({
    status,
    contentType,
    headers: {},
    body: Buffer.from(body),
  });
  if (file.endsWith('.json')) return answer('application/json', content);
  if (file.endsWith('.sse')) return answer('text/event-stream', content);
  const lines = content.split('\n').filter((line) => line.trim() !== '');
  return dialect === 'converse'
    ? answer('application/vnd.amazon.eventstream', Buffer.concat(lines.map(binaryFrame)))
    : answer('text/event-stream', enveloped(lines, dialect));
}

/** Bodies of the responses format, which two providers speak beside chat. */
function isResponses(folder: string, file: string): boolean {
  const head = readFileSync(join(folder, file), 'utf8').slice(0, 2_000);
  return /"type":\s*"response\.|"object":\s*"response"/.test(head);
}

function faults(expected: Expectation, received: Received, front: FrontName): string[] {
  if (expected.finish.startsWith('error')) {
    if (received.failure !== null) return [];
    const isInBand = received.facts?.error != null && !received.facts.isComplete;
    return isInBand ? [] : ['expected an error'];
  }
  if (received.facts === null)
    return [`expected an answer, got ${received.status} ${received.raw.slice(0, 300)}`];
  return [
    ...finishFaults(expected, received.facts, front),
    ...usageFaults(expected, received.facts, front),
    ...factFaults(expected, received.facts, front),
  ];
}

function finishFaults(expected: Expectation, received: AnswerFacts, front: FrontName): string[] {
  const found: string[] = [];
  const finish = finishOn(front, expected.finish, received.tools.length > 0);
  if (received.finish !== finish) found.push(`finish ${received.finish}, expected ${finish}`);
  if (front === 'chat' && expected.native !== null && received.native !== expected.native)
    found.push(`native ${received.native}, expected ${expected.native}`);
  if (!received.isComplete) found.push('the stream has no end');
  return found;
}

function usageFaults({ usage }: Expectation, received: AnswerFacts, front: FrontName): string[] {
  // Where the file has none the caller sees 0; what is billed, the estimate, stands in the usage record.
  if (usage === null) return received.completion === 0 ? [] : [`usage is ${JSON.stringify(received.usage)}`];
  const pairs: [string, number | null, number][] = [
    ['prompt', received.prompt, usage.prompt],
    ['completion', received.completion, usage.completion],
    ['cached', received.cached, usage.cached],
    ['cache write', received.cacheWrite, usage.write],
  ];
  if (front === 'chat') pairs.push(['reasoning', received.reasoningTokens, usage.reasoning]);
  return pairs
    .filter(([, got, wanted]) => got !== wanted)
    .map(([name, got, wanted]) => `${name} ${got}, expected ${wanted}`);
}

/** Calls and texts that a row quotes: `name` `{…}` and "text". */
function factFaults({ facts, file }: Expectation, received: AnswerFacts, front: FrontName): string[] {
  const found: string[] = [];
  for (const [, name, input] of facts.matchAll(/`(\w+)` `(\{[^`]*\})`/g)) {
    const isThere = received.tools.some(
      (tool) => tool.name === name && JSON.stringify(tool.arguments) === JSON.stringify(JSON.parse(input)),
    );
    if (!isThere) found.push(`no call ${name} ${input} in ${JSON.stringify(received.tools)}`);
  }
  const quoted =
    /^(?:text |one answer, |content )?"([^"]+)"/.exec(facts)?.[1] ??
    / (?:text|content|then text) "([^"]+)"/.exec(facts)?.[1];
  if (quoted !== undefined && !received.text.includes(quoted) && !received.reasoning.includes(quoted))
    found.push(`text ${JSON.stringify(received.text.slice(0, 80))} lacks ${JSON.stringify(quoted)}`);
  if (/\bkept\b/.test(facts)) {
    for (const [, key] of facts.matchAll(
      /(num_sources_used|prompt_cache_hit_tokens|prompt_cache_miss_tokens)/g,
    )) {
      if (!(key in received.usage) && front === 'chat') found.push(`${key} is not kept`);
    }
  }
  if (/cost|price/i.test(JSON.stringify(received.usage))) found.push(`${file}: a cost is shown`);
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
    const provider = expected.file.slice(0, expected.file.indexOf('__'));
    const dialect = isResponses(folder, expected.file) ? 'responses' : (DIALECTS[provider] ?? 'chat');
    for (const front of FRONTS)
      verdicts.push(await replayBody({ folder, expected, provider, dialect, front }, upstream, gateway));
  }
  return verdicts;
}

interface Body {
  folder: string;
  expected: Expectation;
  provider: string;
  dialect: TextFormat;
  front: FrontName;
}

async function replayBody(
  { folder, expected, provider, dialect, front }: Body,
  upstream: UpstreamDouble,
  gateway: Gateway,
): Promise<Verdict> {
  const name = `${expected.file} on ${front}`;
  const answer = answerOf(folder, expected, dialect);
  const stream = answer.contentType !== 'application/json';
  const asked = writeRequest(front, { turns: [turn('user', { text: 'Hello' })], tools: [], stream });
  const body = { ...asked, model: gateway.serve(provider, dialect, `golden-${expected.file}`) };
  for (const mode of SPLIT_MODES) {
    serve(upstream, answer, mode);
    const received = await ask(gateway, front, body);
    const found = faults(expected, received, front);
    if (expected.usage === null && received.facts?.error === null) {
      const record = await gateway.usageOf(received.requestId);
      if (record?.usage_estimated !== true || record.cost_usd === '0') found.push('it was not billed');
    }
    if (found.length > 0) return { kind: 'failed', name, why: `${mode}: ${found.join('; ')}` };
  }
  return { kind: 'held', name };
}
