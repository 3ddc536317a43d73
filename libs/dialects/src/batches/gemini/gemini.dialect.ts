import { writeJson } from '@gateway/json-body';
import { isObject, objectOf, objectsOf, textOf, type JsonObject } from '../../body/json-object.js';
import { spelledJsonOf } from '../../body/upstream-json.js';
import { jsonBody, JSON_TYPE, lookAtPath, type UpstreamBody } from '../../translation/upstream-body.js';
import { badReply } from '../../translation/exchange.js';
import { idOf, lineNumber, pageOf } from '../batch-id.js';
import type { BatchAnswer, BatchesDialect } from '../batches-dialect.js';

const ASKED = /^(\/models\/[^/:]+):generateContent$/;
const PAGE = 100;
/** Batches that are looked through for one of ours: their order is not promised. */
const PAGES_MAX = 50;
const ENDED: ReadonlySet<string> = new Set(['SUCCEEDED', 'FAILED', 'CANCELLED', 'EXPIRED']);
/** Statuses of google.rpc.Code, where a failure of a line has its number instead of an HTTP status. */
const STATUSES: readonly number[] = [
  500, 499, 500, 400, 504, 404, 409, 403, 429, 400, 409, 400, 501, 500, 503, 500, 401,
];

/** Batches of Google's AI Studio: a file of lines, an operation under our display name, a file of answers. */
export const dialect: BatchesDialect = {
  name: 'gemini-batches',
  bytesMax: 100 * 1_048_576,
  takes: (path) => ASKED.test(path),

  line: (number, { pieces }) =>
    Buffer.concat([Buffer.from(`{"key":"${number}","request":`), ...pieces, Buffer.from('}\n')]),

  async upload(calls, lines, name) {
    const boundary = `lines-of-${name}`;
    const file = JSON.stringify({ file: { display_name: name } });
    const part = (type: string): string => `--${boundary}\r\nContent-Type: ${type}\r\n\r\n`;
    // The lines together are large, and are not copied.
    const pieces = [
      Buffer.from(`${part(JSON_TYPE)}${file}\r\n${part('application/jsonl')}`),
      ...lines,
      Buffer.from(`\r\n--${boundary}--\r\n`),
    ];
    const sent = await calls.send({
      path: '/upload/v1beta/files',
      contentType: `multipart/related; boundary=${boundary}`,
      accept: JSON_TYPE,
      headers: { 'x-goog-upload-protocol': 'multipart' },
      pieces,
      byteLength: pieces.reduce((sum, piece) => sum + piece.byteLength, 0),
    });
    return named('files', objectOf(sent.file).name);
  },

  async find(calls, { name }) {
    let token = '';
    for (let page = 0; page < PAGES_MAX; page += 1) {
      const path = `/batches?pageSize=${PAGE}${token === '' ? '' : `&pageToken=${encodeURIComponent(token)}`}`;
      const { operations, nextPageToken } = await calls.send(lookAtPath(path));
      const found = objectsOf(operations).find(({ metadata }) => objectOf(metadata).displayName === name);
      if (found) return [named('batches', found.name)];
      token = pageOf(nextPageToken);
      if (token === '') return [];
    }
    return [];
  },

  async create(calls, { name, file, path }) {
    const batch = { display_name: name, input_config: { file_name: file } };
    const model = ASKED.exec(path)?.[1] ?? '';
    const begun = await calls.send(jsonBody(`${model}:batchGenerateContent`, JSON_TYPE, { batch }));
    return named('batches', begun.name);
  },

  async look(calls, id) {
    const operation = await calls.send(lookAtPath(`/${id}`));
    if (!hasEnded(operation)) return null;
    const { metadata, response } = operation;
    const outputs = [objectOf(response), objectOf(objectOf(metadata).output)];
    const file = outputs.map(({ responsesFile }) => textOf(responsesFile)).find((one) => one !== '');
    return file === undefined ? [] : [download(named('files', file))];
  },

  async cancel(calls, id) {
    if (hasEnded(await calls.send(lookAtPath(`/${id}`)))) return;
    await calls.send(jsonBody(`/${id}:cancel`, JSON_TYPE, {}));
  },

  answer(text) {
    const value = spelledJsonOf(text);
    if (!isObject(value)) return null;
    const line = lineNumber(textOf(value.key));
    return line === null ? null : answerOf(line, value);
  },
};

function hasEnded({ done, metadata }: JsonObject): boolean {
  const state = textOf(objectOf(metadata).state).replace(/^(BATCH|JOB)_STATE_/, '');
  return done === true || ENDED.has(state);
}

/** A line that was cancelled with its batch was not run. */
function answerOf(line: number, { response, error }: JsonObject): BatchAnswer | null {
  if (isObject(response)) return { line, status: 200, body: writeJson(response) };
  if (!isObject(error)) return null;
  const { code } = error;
  const number = typeof code === 'number' && Number.isInteger(code) && code > 0 ? code : 2;
  const status = STATUSES[number] ?? number;
  if (status === 499 || status > 599) return null;
  return { line, status: status < 400 ? 500 : status, body: writeJson({ error }) };
}

/** A name such as batches/x, which stands in a path as it is. Throws ExchangeFailure. */
function named(kind: 'files' | 'batches', value: unknown): string {
  const name = idOf(value);
  if (!new RegExp(`^${kind}/[\\w-]+$`).test(name)) throw badReply(`the answer names none of its ${kind}.`);
  return name;
}

function download(file: string): UpstreamBody {
  return lookAtPath(`/download/v1beta/${file}:download?alt=media`);
}
