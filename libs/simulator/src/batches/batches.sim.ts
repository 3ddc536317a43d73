import { openAiError } from '../errors-openai.js';
import { isObject, textOf } from '../json.js';
import { JSON_TYPE } from '../reply.js';
import type { SimAnswer, SimEndpoint } from '../sim-endpoint.js';
import { BatchShelf, type SimBatch } from './batch-shelf.js';
import { resultLines } from './batch-lines.js';

const shelf = new BatchShelf();

/** OpenAI's files of lines and batches. A batch is at work at the first look and has ended at the second. */
export const simulated: readonly SimEndpoint[] = [
  {
    path: '/v1/files',
    answer: ({ body, contentType, createdAt }) => {
      const lines = fileIn(body, contentType);
      if (lines === undefined)
        return openAiError(400, 'invalid_request_error', null, "'file' is missing.", 'file');
      const id = shelf.addFile(lines);
      return json({ id, object: 'file', bytes: lines.length, created_at: createdAt, purpose: 'batch' });
    },
  },
  {
    path: '/v1/batches',
    answer: ({ json: body = {}, createdAt }) => {
      const file = textOf(body.input_file_id);
      if (shelf.file(file) === undefined)
        return openAiError(400, 'invalid_request_error', null, 'No such file.', 'input_file_id');
      const metadata = isObject(body.metadata) ? body.metadata : {};
      return json(shown(shelf.addBatch({ file, endpoint: textOf(body.endpoint), metadata, createdAt })));
    },
  },
  {
    path: '/v1/batches',
    method: 'GET',
    answer: () => json({ object: 'list', data: shelf.list().map(shown), has_more: false }),
  },
  {
    path: '-simulated-batch',
    method: 'GET',
    answer: ({ path }) => {
      const batch = shelf.batch(path.slice(path.lastIndexOf('/') + 1));
      if (batch === undefined) return unknown();
      const now = shown(batch);
      const next = { validating: 'in_progress', in_progress: 'completed', cancelling: 'cancelled' } as const;
      if (batch.status in next) batch.status = next[batch.status as keyof typeof next];
      return json(now);
    },
  },
  {
    path: '-simulated-batch/cancel',
    answer: ({ path }) => {
      const batch = shelf.batch(path.split('/').at(-2) ?? '');
      if (batch === undefined) return unknown();
      if (batch.status === 'validating' || batch.status === 'in_progress') batch.status = 'cancelling';
      return json(shown(batch));
    },
  },
  {
    path: '-simulated-lines/content',
    method: 'GET',
    answer: ({ path }) => {
      const [, of, kind] = /\/(batch_.+)\.(output|errors)-simulated-lines\/content$/.exec(path) ?? [];
      const batch = shelf.batch(of ?? '');
      const file = batch === undefined ? undefined : shelf.file(batch.file);
      if (batch === undefined || file === undefined) return unknown();
      const body = resultLines(batch, file, kind === 'errors' ? 'errors' : 'output');
      return { contentType: 'application/jsonl', body };
    },
  },
];

function shown({ id, endpoint, file, metadata, status, createdAt }: SimBatch): object {
  const hasEnded = status === 'completed' || status === 'cancelled';
  const fileOf = (kind: string): string | null => (hasEnded ? `${id}.${kind}-simulated-lines` : null);
  const files = { output_file_id: fileOf('output'), error_file_id: fileOf('errors') };
  const input = { endpoint, input_file_id: file, completion_window: '24h', metadata };
  return { id, object: 'batch', created_at: createdAt, status, ...input, ...files };
}

function json(value: object): SimAnswer {
  return { contentType: JSON_TYPE, body: JSON.stringify(value) };
}

function unknown(): ReturnType<typeof openAiError> {
  return openAiError(404, 'invalid_request_error', null, 'No such object.', null);
}

/** Returns the field `file` of a form, without a check of its form. */
function fileIn(body: Buffer, contentType: string): Buffer | undefined {
  const boundary = /boundary="?([^";]+)"?/.exec(contentType)?.[1];
  const name = body.indexOf('name="file"');
  const start = body.indexOf('\r\n\r\n', name) + 4;
  if (boundary === undefined || name < 0 || start < 4) return undefined;
  const end = body.indexOf(`\r\n--${boundary}`, start);
  return end < 0 ? undefined : body.subarray(start, end);
}
