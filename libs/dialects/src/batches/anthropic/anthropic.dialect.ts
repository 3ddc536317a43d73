import { writeJson } from '@gateway/json-body';
import { isObject, objectOf, objectsOf, textOf, type JsonObject } from '../../body/json-object.js';
import { spelledJsonOf } from '../../body/upstream-json.js';
import { JSON_TYPE, lookAtPath, type UpstreamBody } from '../../translation/upstream-body.js';
import { idOf, lineNumber } from '../batch-id.js';
import type { BatchAnswer, BatchesDialect } from '../batches-dialect.js';

const PATH = '/messages/batches';
const VERSION = { 'anthropic-version': '2023-06-01' };
const PAGE = 100;
/** Batches that are looked through for one of ours. */
const PAGES_MAX = 50;
/** Batches that may be ours, of which more are not waited for. */
const MAYBE_MAX = 20;
/** Statuses for failures of a line that have none. */
const STATUSES: ReadonlyMap<string, number> = new Map([
  ['invalid_request_error', 400],
  ['authentication_error', 401],
  ['billing_error', 402],
  ['permission_error', 403],
  ['not_found_error', 404],
  ['request_too_large', 413],
  ['rate_limit_error', 429],
  ['timeout_error', 504],
  ['overloaded_error', 529],
]);
const BEFORE = Buffer.from('{"requests":[');
const AFTER = Buffer.from(']}');

/**
 * Anthropic's message batches. They carry no name of ours: the names of their lines do, which are readable at a batch's end.
 * Until then one whose begin was not answered is any that came after those that were there before, of as many lines.
 */
export const dialect: BatchesDialect = {
  name: 'anthropic-batches',
  bytesMax: 100 * 1_048_576,
  beginsWithLines: true,
  takes: (path) => path === '/messages',

  line: (number, { pieces }, name) =>
    Buffer.concat([
      Buffer.from(`{"custom_id":"${name}_${number}","params":`),
      ...pieces,
      Buffer.from('},\n'),
    ]),

  /** The newest batch that is there: ours will be newer. */
  async upload(calls) {
    const [newest] = objectsOf((await calls.send(looked(`${PATH}?limit=1`))).data);
    return newest === undefined ? '' : `${idOf(newest.id)} ${textOf(newest.created_at)}`;
  },

  async find(calls, { file, count }) {
    const [markId, markedAt = ''] = file.split(' ');
    const found: string[] = [];
    let after = '';
    for (let page = 0; page < PAGES_MAX; page += 1) {
      const path = `${PATH}?limit=${PAGE}${after === '' ? '' : `&after_id=${encodeURIComponent(after)}`}`;
      const { data, has_more } = await calls.send(looked(path));
      // The newest come first.
      const batches = objectsOf(data);
      for (const batch of batches) {
        const isOlder = batch.id === markId || Date.parse(textOf(batch.created_at)) < Date.parse(markedAt);
        if (isOlder) return found.slice(-MAYBE_MAX);
        const lines = linesOf(batch);
        if (lines === count || lines === 0) found.push(idOf(batch.id));
      }
      const last = batches.at(-1);
      if (last === undefined || has_more !== true) break;
      after = idOf(last.id);
    }
    // The first of them began next to what was there before.
    return found.slice(-MAYBE_MAX);
  },

  async create(calls, { lines }) {
    // Without the comma and the end of the last line.
    const pieces = [BEFORE, lines.subarray(0, Math.max(0, lines.byteLength - 2)), AFTER];
    const byteLength = pieces.reduce((sum, piece) => sum + piece.byteLength, 0);
    return idOf((await calls.send(posted(PATH, pieces, byteLength))).id);
  },

  async look(calls, id) {
    const { processing_status, results_url } = await calls.send(looked(pathOf(id)));
    if (processing_status !== 'ended') return null;
    // The address that it names is not called: its path is known.
    return textOf(results_url) === '' ? [] : [looked(`${pathOf(id)}/results`)];
  },

  async cancel(calls, id) {
    const { processing_status } = await calls.send(looked(pathOf(id)));
    if (processing_status === 'in_progress') await calls.send(posted(`${pathOf(id)}/cancel`, [], 0));
  },

  answer(text, name) {
    const { line, result } = resultOf(text, name);
    return typeof line === 'number' ? answerOf(line, result) : null;
  },

  owns(text, name) {
    const { line } = resultOf(text, name);
    return line === undefined ? null : line !== null;
  },
};

function linesOf({ request_counts }: JsonObject): number {
  return Object.values(objectOf(request_counts))
    .filter((count) => typeof count === 'number')
    .reduce((sum, count) => sum + count, 0);
}

/** The number of a line, null for another batch's, undefined for what is none. */
function resultOf(text: string, name: string): { line: number | null | undefined; result: JsonObject } {
  const value = spelledJsonOf(text);
  const { custom_id, result } = objectOf(value);
  if (!isObject(value) || typeof custom_id !== 'string' || !isObject(result))
    return { line: undefined, result: {} };
  const isOurs = custom_id.startsWith(`${name}_`);
  return { line: isOurs ? lineNumber(custom_id.slice(name.length + 1)) : null, result };
}

/** Null for a line that was cancelled or expired: it was not run. */
function answerOf(line: number, { type, message, error }: JsonObject): BatchAnswer | null {
  if (type === 'succeeded' && isObject(message)) return { line, status: 200, body: writeJson(message) };
  if (type !== 'errored') return null;
  const status = STATUSES.get(textOf(objectOf(objectOf(error).error).type)) ?? 500;
  return { line, status, body: writeJson(error ?? null) };
}

function pathOf(id: string): string {
  return `${PATH}/${encodeURIComponent(id)}`;
}

function looked(path: string): UpstreamBody {
  return { ...lookAtPath(path), headers: VERSION };
}

function posted(path: string, pieces: readonly Uint8Array[], byteLength: number): UpstreamBody {
  return { path, contentType: JSON_TYPE, accept: JSON_TYPE, headers: VERSION, pieces, byteLength };
}
