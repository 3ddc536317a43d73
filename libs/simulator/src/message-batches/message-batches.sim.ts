import { answerTo } from '../answer.js';
import { CREATED_AT } from '../dialect.js';
import { anthropicError } from '../errors-anthropic.js';
import { errorOf } from '../faults.js';
import { objectOf, objectsOf, textOf, type JsonObject } from '../json.js';
import { messagesDialect } from '../messages.js';
import { JSON_TYPE } from '../reply.js';
import { readScript, ScriptFault } from '../script.js';
import type { SimAnswer, SimEndpoint } from '../sim-endpoint.js';

interface MessageBatch {
  readonly id: string;
  readonly createdAt: string;
  readonly requests: readonly JsonObject[];
  looks: number;
  status: 'in_progress' | 'canceling' | 'ended';
  isCancelled: boolean;
}

const KEPT_MAX = 64;
const LOOKS = 2;
const batches = new Map<string, MessageBatch>();
let count = 0;

/** Anthropic's message batches: at work at the first two looks, ended at the third. */
export const simulated: readonly SimEndpoint[] = [
  {
    path: '/messages/batches',
    answer: ({ json: body = {} }) => {
      const requests = objectsOf(body.requests);
      const ids = new Set(requests.map(({ custom_id }) => textOf(custom_id)));
      if (requests.length === 0) return invalid('requests: at least one is required');
      if (ids.size < requests.length) return invalid('requests: custom_id must be unique');
      if (![...ids].every((id) => /^[\w-]{1,64}$/.test(id)))
        return invalid("requests.0.custom_id: should match pattern '^[a-zA-Z0-9_-]{1,64}$'");
      return json(shown(add(requests)));
    },
  },
  {
    path: '/messages/batches',
    method: 'GET',
    answer: ({ path }) => {
      const { searchParams } = new URL(path, 'http://localhost');
      const all = [...batches.values()].reverse();
      const from = all.findIndex(({ id }) => id === searchParams.get('after_id')) + 1;
      const page = all.slice(from, from + Number(searchParams.get('limit') ?? 20));
      const has_more = from + page.length < all.length;
      const ends = { first_id: page.at(0)?.id ?? null, last_id: page.at(-1)?.id ?? null };
      return json({ data: page.map(shown), has_more, ...ends });
    },
  },
  {
    path: '-simulated-messages',
    method: 'GET',
    answer: ({ path }) => {
      const batch = batches.get(path.split('/').at(-1) ?? '');
      if (batch === undefined) return unknown();
      batch.looks += 1;
      if (batch.looks > LOOKS || batch.status === 'canceling') batch.status = 'ended';
      return json(shown(batch));
    },
  },
  {
    path: '-simulated-messages/cancel',
    answer: ({ path }) => {
      const batch = batches.get(path.split('/').at(-2) ?? '');
      if (batch === undefined) return unknown();
      if (batch.status === 'in_progress') [batch.status, batch.isCancelled] = ['canceling', true];
      return json(shown(batch));
    },
  },
  {
    path: '-simulated-messages/results',
    method: 'GET',
    answer: ({ path }) => {
      const batch = batches.get(path.split('/').at(-2) ?? '');
      if (batch?.status !== 'ended') return unknown();
      return { contentType: 'application/x-jsonl', body: resultLines(batch) };
    },
  },
];

function add(requests: readonly JsonObject[]): MessageBatch {
  count += 1;
  const id = `msgbatch_${count.toString(36).padStart(8, '0')}-simulated-messages`;
  const createdAt = new Date((CREATED_AT + count) * 1_000).toISOString();
  const batch: MessageBatch = {
    id,
    createdAt,
    requests,
    looks: 0,
    status: 'in_progress',
    isCancelled: false,
  };
  batches.set(id, batch);
  const [oldest] = batches.keys();
  if (batches.size > KEPT_MAX) batches.delete(oldest);
  return batch;
}

function shown({ id, createdAt, requests, status, isCancelled }: MessageBatch): object {
  const hasEnded = status === 'ended';
  const succeeded = hasEnded ? (isCancelled ? Math.ceil(requests.length / 2) : requests.length) : 0;
  const request_counts = {
    processing: hasEnded ? 0 : requests.length,
    ...{ succeeded, errored: 0, canceled: hasEnded ? requests.length - succeeded : 0, expired: 0 },
  };
  const results_url = hasEnded ? `https://results.invalid/v1/messages/batches/${id}/results` : null;
  const times = { created_at: createdAt, ended_at: hasEnded ? createdAt : null, expires_at: createdAt };
  return { id, type: 'message_batch', processing_status: status, request_counts, results_url, ...times };
}

/**
 * Returns the lines of a batch. One that was cancelled has answers for the first half of the lines, as if it had been
 * cancelled midway.
 */
function resultLines({ id: batchId, requests, isCancelled }: MessageBatch): string {
  const answered = isCancelled ? Math.ceil(requests.length / 2) : requests.length;
  const lines = requests.map(({ custom_id, params }, at) => {
    const id = `${batchId.slice(9, 17)}${String(at).padStart(4, '0')}`;
    const result = at < answered ? resultOf(objectOf(params), id) : { type: 'canceled' };
    return JSON.stringify({ custom_id, result });
  });
  return lines.map((line) => `${line}\n`).join('');
}

function resultOf(params: JsonObject, id: string): object {
  try {
    const script = readScript(textOf(params.model), undefined);
    const version = { 'anthropic-version': '2023-06-01' };
    const refused = errorOf(script, messagesDialect) ?? messagesDialect.check(params, version, script);
    if (refused !== undefined) return { type: 'errored', error: refused.body };
    const ask = messagesDialect.readAsk(params, script);
    const answer = answerTo(ask, script);
    return {
      type: 'succeeded',
      message: messagesDialect.plain({ id, createdAt: CREATED_AT, ask, answer, script }),
    };
  } catch (failure) {
    if (!(failure instanceof ScriptFault)) throw failure;
    return { type: 'errored', error: messagesDialect.refuse(400, failure.message).body };
  }
}

function json(value: object): SimAnswer {
  return { contentType: JSON_TYPE, body: JSON.stringify(value) };
}

function invalid(message: string): ReturnType<typeof anthropicError> {
  return anthropicError(400, 'invalid_request_error', message);
}

function unknown(): ReturnType<typeof anthropicError> {
  return anthropicError(404, 'not_found_error', 'No such batch.');
}
