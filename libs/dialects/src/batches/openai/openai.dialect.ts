import { writeJson } from '@gateway/json-body';
import { isObject, objectOf, objectsOf, textOf } from '../../body/json-object.js';
import { formBody } from '../../body/multipart.js';
import { spelledJsonOf } from '../../body/upstream-json.js';
import { jsonBody, JSON_TYPE, lookAtPath } from '../../translation/upstream-body.js';
import { idOf, lineNumber } from '../batch-id.js';
import type { BatchAnswer, BatchesDialect } from '../batches-dialect.js';

const PATHS: readonly string[] = ['/chat/completions', '/responses', '/embeddings', '/moderations'];
const MIB = 1_048_576;
/** Time after which the provider removes uploads and results: the batch itself takes a day. */
const KEPT_SECONDS = String(3 * 86_400);
/** The member of `metadata` that holds our name of a batch. */
const NAME = 'client_batch';
const PAGE = 100;
/** Batches that are looked through for one of ours. */
const PAGES_MAX = 50;
/** Clocks differ. */
const CLOCKS_APART_SECONDS = 600;
const ENDED: ReadonlySet<string> = new Set(['completed', 'failed', 'expired', 'cancelled']);

/** Placeholder for the lines in their form. */
const PLACE = new Uint8Array(0);

/** OpenAI's batches: a file of lines, a batch of it, files of answers and of failures. */
export const dialect: BatchesDialect = {
  name: 'openai-batches',
  bytesMax: 100 * MIB,
  takes: (path) => PATHS.includes(path),

  line(number, { path, pieces }) {
    const head = `{"custom_id":"${number}","method":"POST","url":"/v1${path}","body":`;
    return Buffer.concat([Buffer.from(head), ...pieces, Buffer.from('}\n')]);
  },

  async upload(calls, lines, name) {
    const fields = [
      ['purpose', 'batch'],
      ['expires_after[anchor]', 'created_at'],
      ['expires_after[seconds]', KEPT_SECONDS],
    ] as const;
    const file = { field: 'file', filename: `${name}.jsonl`, contentType: 'application/jsonl' };
    const form = { fields, files: [{ ...file, bytes: PLACE }], boundary: `lines-of-${name}` };
    const body = formBody('/files', JSON_TYPE, form);
    const byteLength = lines.reduce((sum, line) => sum + line.byteLength, body.byteLength);
    // Together they are large, and are not copied.
    const pieces = body.pieces.flatMap((piece) => (piece === PLACE ? lines : [piece]));
    return idOf((await calls.send({ ...body, pieces, byteLength })).id);
  },

  async find(calls, { name, sinceSeconds }) {
    let after = '';
    for (let page = 0; page < PAGES_MAX; page += 1) {
      const path = `/batches?limit=${PAGE}${after === '' ? '' : `&after=${encodeURIComponent(after)}`}`;
      const { data, has_more } = await calls.send(lookAtPath(path));
      const batches = objectsOf(data);
      const found = batches.find(({ metadata }) => objectOf(metadata)[NAME] === name);
      if (found) return [idOf(found.id)];
      // The newest come first.
      const last = batches.at(-1);
      const isOld = Number(last?.created_at) < sinceSeconds - CLOCKS_APART_SECONDS;
      if (last === undefined || has_more !== true || isOld) return [];
      after = idOf(last.id);
    }
    return [];
  },

  async create(calls, { name, file, path }) {
    const batch = {
      input_file_id: file,
      endpoint: `/v1${path}`,
      completion_window: '24h',
      metadata: { [NAME]: name },
      output_expires_after: { anchor: 'created_at', seconds: Number(KEPT_SECONDS) },
    };
    return idOf((await calls.send(jsonBody('/batches', JSON_TYPE, batch))).id);
  },

  async look(calls, id) {
    const { status, output_file_id, error_file_id } = await calls.send(lookAtPath(pathOf(id)));
    if (!ENDED.has(textOf(status))) return null;
    return [output_file_id, error_file_id]
      .filter((file) => typeof file === 'string' && file !== '')
      .map((file) => lookAtPath(`/files/${encodeURIComponent(idOf(file))}/content`));
  },

  async cancel(calls, id) {
    const { status } = await calls.send(lookAtPath(pathOf(id)));
    if (ENDED.has(textOf(status)) || status === 'cancelling') return;
    await calls.send(jsonBody(`${pathOf(id)}/cancel`, JSON_TYPE, {}));
  },

  answer: (text) => answerOf(spelledJsonOf(text)),
};

function answerOf(value: unknown): BatchAnswer | null {
  if (!isObject(value)) return null;
  const { custom_id, response } = value;
  const line = lineNumber(textOf(custom_id));
  const { status_code: status, body } = objectOf(response);
  if (line === null || typeof status !== 'number' || !Number.isInteger(status)) return null;
  if (status < 200 || status > 599) return null;
  return { line, status, body: writeJson(body ?? null) };
}

function pathOf(id: string): string {
  return `/batches/${encodeURIComponent(id)}`;
}
