import { json, keep, saidTo } from '../batches/spoken-turns.js';
import type { NativeError } from '../error-table.js';
import { objectOf, objectsOf, parseJson, textOf, type JsonObject } from '../json.js';
import type { SimEndpoint } from '../sim-endpoint.js';

interface GeminiBatch {
  readonly name: string;
  readonly displayName: string;
  readonly model: string;
  readonly file: string;
  looks: number;
  state: 'BATCH_STATE_RUNNING' | 'BATCH_STATE_SUCCEEDED' | 'BATCH_STATE_CANCELLED';
}

const LOOKS = 2;
const files = new Map<string, readonly string[]>();
const batches = new Map<string, GeminiBatch>();
let count = 0;

/** Google's generateContent and its batches: at work at the first two looks, ended at the third. */
export const simulated: readonly SimEndpoint[] = [
  {
    path: ':generateContent',
    answer: ({ path, json: body = {} }) => {
      const answer = answered(modelOf(path), body);
      return 'status' in answer ? answer : json(answer.response);
    },
  },
  {
    path: '/upload/v1beta/files',
    answer: ({ body, contentType }) => {
      const boundary = /^multipart\/related; boundary=(\S+)$/.exec(contentType)?.[1];
      const parts = boundary === undefined ? [] : body.toString('utf8').split(`--${boundary}`);
      if (parts.length !== 4) return failure(400, 'INVALID_ARGUMENT', 'Two parts are expected.');
      const [, lines = ''] = parts[2].split('\r\n\r\n');
      const name = `files/${next()}-simulated-lines`;
      keep(
        files,
        name,
        lines.split('\n').filter((line) => line.trim() !== ''),
      );
      return json({ file: { name, mimeType: 'application/jsonl' } });
    },
  },
  {
    path: ':batchGenerateContent',
    answer: ({ path, json: body = {} }) => {
      const batch = objectOf(body.batch);
      const file = textOf(objectOf(batch.input_config).file_name);
      if (!files.has(file)) return failure(400, 'INVALID_ARGUMENT', 'No such file.');
      const name = `batches/${next()}-simulated-gemini`;
      const displayName = textOf(batch.display_name);
      const state = 'BATCH_STATE_RUNNING';
      const made: GeminiBatch = { name, displayName, model: modelOf(path), file, looks: 0, state };
      keep(batches, name, made);
      return json(shown(made));
    },
  },
  { path: '/v1beta/batches', method: 'GET', answer: ({ path }) => json(listed(path)) },
  {
    path: '-simulated-gemini',
    method: 'GET',
    answer: ({ path }) => {
      const batch = batchAt(path);
      if (batch === undefined) return unknown();
      batch.looks += 1;
      if (batch.looks > LOOKS && batch.state === 'BATCH_STATE_RUNNING') batch.state = 'BATCH_STATE_SUCCEEDED';
      return json(shown(batch));
    },
  },
  {
    path: '-simulated-gemini:cancel',
    answer: ({ path }) => {
      const batch = batchAt(path.replace(/:cancel$/, ''));
      if (batch === undefined) return unknown();
      if (batch.state === 'BATCH_STATE_RUNNING') batch.state = 'BATCH_STATE_CANCELLED';
      return json({});
    },
  },
  {
    path: '-simulated-answers:download',
    method: 'GET',
    answer: ({ path }) => {
      const id = /\/files\/(\w+)-simulated-answers:download/.exec(path)?.[1] ?? '';
      const batch = batches.get(`batches/${id}-simulated-gemini`);
      if (batch === undefined) return unknown();
      return { contentType: 'application/jsonl', body: resultLines(batch) };
    },
  },
];

function listed(path: string): object {
  const { searchParams } = new URL(path, 'http://localhost');
  const from = Number(searchParams.get('pageToken') ?? 0);
  const end = from + Number(searchParams.get('pageSize') ?? 10);
  const all = [...batches.values()].reverse();
  const operations = all.slice(from, end).map(shown);
  return { operations, ...(end < all.length ? { nextPageToken: String(end) } : {}) };
}

function shown({ name, displayName, model, state }: GeminiBatch): object {
  const done = state !== 'BATCH_STATE_RUNNING';
  const responsesFile = name.replace('batches/', 'files/').replace(/-gemini$/, '-answers');
  const metadata = { model, displayName, state, ...(done ? { output: { responsesFile } } : {}) };
  return { name, metadata, ...(done ? { done, response: { responsesFile } } : {}) };
}

/**
 * Returns the lines of a batch. One that was cancelled has answers for the first half of the lines, as if it had been
 * cancelled midway.
 */
function resultLines({ file, model, state }: GeminiBatch): string {
  const lines = files.get(file) ?? [];
  const end = state === 'BATCH_STATE_CANCELLED' ? Math.ceil(lines.length / 2) : lines.length;
  const results = lines.map((line, at) => {
    const { key, request } = objectOf(parseJson(line));
    if (at >= end) return { key, error: { code: 1, message: 'The request was cancelled.' } };
    const answer = answered(model, objectOf(request));
    return 'status' in answer ? { key, ...answer.body } : { key, ...answer };
  });
  return results.map((result) => `${JSON.stringify(result)}\n`).join('');
}

function answered(model: string, body: JsonObject): NativeError | { response: object } {
  const turns = [objectOf(body.systemInstruction), ...objectsOf(body.contents)];
  const texts = turns.map(({ parts }) =>
    objectsOf(parts)
      .map(({ text }) => textOf(text))
      .join(''),
  );
  if (objectsOf(body.contents).length === 0)
    return failure(400, 'INVALID_ARGUMENT', '* GenerateContentRequest.contents: contents is not specified');
  const said = saidTo(model, texts);
  if ('refused' in said) {
    const { refused, message } = said;
    return failure(refused, refused === 400 ? 'INVALID_ARGUMENT' : 'INTERNAL', message);
  }
  const { text, tokens } = said;
  const content = { role: 'model', parts: [{ text }] };
  const usageMetadata = {
    ...{ promptTokenCount: tokens.prompt, candidatesTokenCount: tokens.completion },
    totalTokenCount: tokens.prompt + tokens.completion,
  };
  const candidates = [{ content, finishReason: 'STOP', index: 0 }];
  return { response: { candidates, usageMetadata, modelVersion: model } };
}

function modelOf(path: string): string {
  return decodeURIComponent(/\/models\/([^/:]+):/.exec(path)?.[1] ?? '');
}

function batchAt(path: string): GeminiBatch | undefined {
  return batches.get(`batches/${path.split('/').at(-1) ?? ''}`);
}

function next(): string {
  count += 1;
  return count.toString(36).padStart(8, '0');
}

function failure(status: number, code: string, message: string): NativeError {
  return { status, headers: {}, body: { error: { code: status, status: code, message } } };
}

function unknown(): NativeError {
  return failure(404, 'NOT_FOUND', 'Requested entity was not found.');
}
