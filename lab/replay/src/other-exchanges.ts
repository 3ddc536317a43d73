import { isDeepStrictEqual } from 'node:util';
import type { UpstreamDouble } from '@gateway/testing';
import { post } from './call.js';
import type { ExchangeKind } from './exchange-kind.js';
import type { Exchange } from './exchange.js';
import { list, object, text, type Json } from './facts/answer-facts.js';
import type { TextFormat } from './facts/read.js';
import type { Gateway } from './gateway.js';
import { readRequest } from './requests/read-request.js';
import { writeRequest } from './requests/write-request.js';
import type { Verdict } from './verdict.js';

type OtherKind = Exclude<ExchangeKind, { kind: 'text' | 'none' }>;

interface Other {
  exchange: Exchange;
  kind: OtherKind;
  /** Catalogue id of the model. */
  model: string;
  upstream: UpstreamDouble;
  gateway: Gateway;
}

function strings(value: unknown): string[] {
  return list(value).filter((item) => typeof item === 'string');
}

/** Returns the texts to embed of a recorded request, whichever format it was written in. */
function textsIn(json: Json): unknown {
  if (json.input !== undefined) return json.input;
  if (json.inputText !== undefined) return [json.inputText];
  if (json.texts !== undefined) return strings(json.texts);
  const nova = object(object(json.singleEmbeddingParams).text).value;
  if (nova !== undefined) return [nova];
  const words = (content: unknown): string => text(object(list(object(content).parts)[0]).text);
  if (json.content !== undefined) return [words(json.content)];
  if (json.requests !== undefined)
    return list(json.requests).map((request) => words(object(request).content));
  return list(json.instances).map((instance) => text(object(instance).content));
}

function lengthIn(json: Json): number | null {
  const first = object(list(json.requests)[0]);
  const found =
    json.dimensions ??
    json.output_dimension ??
    object(json.parameters).outputDimensionality ??
    first.outputDimensionality;
  return typeof found === 'number' ? found : null;
}

function floats(vector: unknown, hasBytes = false): number[] {
  if (typeof vector !== 'string') return list(vector).map(Number);
  const bytes = Buffer.from(vector, 'base64');
  if (hasBytes) return [...new Int8Array(bytes)];
  return Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readFloatLE(at * 4));
}

/** The vectors of a provider's answer, whichever format it was written in. */
function vectorsIn(answer: Json, hasBytes = false): number[][] {
  if (answer.data !== undefined)
    return list(answer.data).map((entry) => floats(object(entry).embedding, hasBytes));
  if (answer.predictions !== undefined)
    return list(answer.predictions).map((entry) => floats(object(object(entry).embeddings).values));
  const { embedding, embeddings } = answer;
  if (embedding !== undefined) return [floats(object(embedding).values ?? embedding)];
  const all = list(object(embeddings).float ?? embeddings);
  return all.map((entry) =>
    Array.isArray(entry) ? floats(entry) : floats(object(entry).values ?? object(entry).embedding),
  );
}

/** The same to the precision that vectors of 32 bits have. */
function isClose(one: number[][], other: number[][]): boolean {
  return (
    one.length === other.length &&
    one.every(
      (vector, at) =>
        vector.length === other[at].length && vector.every((x, i) => Math.abs(x - other[at][i]) < 1e-6),
    )
  );
}

async function vectorFaults({
  exchange: { request, response },
  kind,
  model,
  gateway,
}: Other): Promise<string[]> {
  const json = request.json ?? {};
  const dimensions = lengthIn(json);
  const body = {
    model,
    input: textsIn(json),
    ...(dimensions === null ? {} : { dimensions }),
  };
  const faults: string[] = [];
  for (const encoding_format of ['float', 'base64']) {
    const answer = await post(gateway, '/v1/embeddings', { ...body, encoding_format });
    const got = object(await answer.json());
    if (response.status >= 400) {
      if (answer.status !== 502 && answer.status !== 400) faults.push(`got ${answer.status} for an error`);
      continue;
    }
    const expected = object(JSON.parse(response.body.toString('utf8')));
    if (answer.status !== 200) faults.push(`got ${answer.status} ${JSON.stringify(got).slice(0, 300)}`);
    else if (!isClose(vectorsIn(got), vectorsIn(expected, kind.dialect === 'perplexity-embeddings')))
      faults.push(`${encoding_format}: other vectors`);
    const { prompt_tokens: count } = object(got.usage);
    const counted = object(expected.usage).prompt_tokens ?? object(expected.usageMetadata).promptTokenCount;
    if (counted !== undefined && counted !== count)
      faults.push(`prompt ${JSON.stringify(count)}, expected ${JSON.stringify(counted)}`);
    if (/cost|price/i.test(JSON.stringify(got.usage))) faults.push('a cost is shown');
  }
  return faults;
}

async function answered(gateway: Gateway, path: string, body: Json): Promise<{ status: number; got: Json }> {
  const answer = await post(gateway, path, body);
  return { status: answer.status, got: object(await answer.json()) };
}

async function rankFaults({ exchange: { request, response }, model, gateway }: Other): Promise<string[]> {
  const body = { ...request.json, model };
  const { got } = await answered(gateway, '/v1/rerank', body);
  const expected = object(JSON.parse(response.body.toString('utf8')));
  const ranks = (answer: Json): unknown[] =>
    list(answer.results).map((entry) => [object(entry).index, object(entry).relevance_score]);
  return isDeepStrictEqual(ranks(got), ranks(expected)) ? [] : [`other ranks: ${JSON.stringify(got)}`];
}

async function moderationFaults({
  exchange: { request, response },
  model,
  gateway,
}: Other): Promise<string[]> {
  const body = { ...request.json, model };
  const { got } = await answered(gateway, '/v1/moderations', body);
  const expected = object(JSON.parse(response.body.toString('utf8')));
  return isDeepStrictEqual(got.results, expected.results)
    ? []
    : [`other results: ${JSON.stringify(got).slice(0, 300)}`];
}

/** Tokens that a provider adds for itself where tools are sent: Anthropic's own instructions, for one. */
const TOOLS_EXTRA = 700;

/** Ours is an estimate: it may be as far off as three times, and knows nothing of a provider's own instructions. */
async function countFaults(
  { exchange: { request, response }, model, gateway }: Other,
  dialect: TextFormat,
): Promise<string[]> {
  const expected = object(JSON.parse(response.body.toString('utf8')));
  const real = Number(expected.input_tokens ?? expected.totalTokens);
  const asked = readRequest(dialect, request.json ?? {}, request.path);
  const { max_tokens: _, stream: __, ...body } = writeRequest('messages', asked);
  const { status, got } = await answered(gateway, '/v1/messages/count_tokens', { ...body, model });
  const count = Number(got.input_tokens);
  if (status !== 200) return [`got ${status} ${JSON.stringify(got).slice(0, 300)}`];
  return count > 0 &&
    count <= 3 * real + 30 &&
    count >= (real - (asked.tools.length > 0 ? TOOLS_EXTRA : 0)) / 3 - 30
    ? []
    : [`counted ${count}, the provider ${real}`];
}

/** Replays what is no text: vectors, ranks, moderation and counts of input. */
export async function replayOther(other: Other): Promise<Verdict> {
  const { exchange, kind, upstream } = other;
  const { name } = exchange;
  const faults = await faultsOf(other);
  if (faults.length === 0 && kind.kind !== 'count' && upstream.seen.length === 0)
    faults.push('nothing was sent');
  return faults.length === 0
    ? { kind: 'held', name }
    : { kind: 'failed', name, why: faults.join('; ').slice(0, 1_000) };
}

function faultsOf(other: Other): Promise<string[]> {
  switch (other.kind.kind) {
    case 'vectors':
      return vectorFaults(other);
    case 'ranks':
      return rankFaults(other);
    case 'moderation':
      return moderationFaults(other);
    case 'count':
      return countFaults(other, other.kind.dialect);
  }
}
