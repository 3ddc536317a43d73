import { jest } from '@jest/globals';
import { IdempotencyTable } from '@gateway/database';
import OpenAI, { toFile } from 'openai';
import { ApiError, TOPIC, type InferenceAnswer, type Subscription } from '@gateway/contracts';
import { eventually, InferenceDouble, served, testPostgres, type TestDatabase } from '@gateway/testing';
import { WorkersDatabase } from '../postgres/workers-database.js';
import { MIGRATED, startWorkersApp, type WorkersApp } from '../workers.fixture.js';

// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Json = Record<string, any>;

const SLOWLY = { timeoutMs: 60_000 };

let database: TestDatabase;
let app: WorkersApp;
let inference: InferenceDouble;
let openai: OpenAI;
let events: Json[];

beforeAll(async () => {
  database = await testPostgres();
  await MIGRATED.migrate(database.url);
  inference = new InferenceDouble();
  app = await startWorkersApp(database.url, { inference });
  openai = new OpenAI({ apiKey: app.keyOf('key_a'), baseURL: `${app.url}/v1`, maxRetries: 0 });
  events = [];
  const handler: Subscription['handler'] = async (batch) =>
    void events.push(...batch.map(({ value }) => (JSON.parse(value) as Json).data));
  await app.log.consume({ topics: [TOPIC.account], group: 'reader', maxBatch: 10, lingerMs: 0, handler });
});
afterAll(async () => {
  await app.close();
  await database.drop();
});
beforeEach(() => {
  Object.assign(inference, { answer: served, rejection: null, worthNano: 0n, noBudget: null });
  inference.calls.splice(0);
  inference.holds.splice(0);
});

function line(n: number, more: Json = {}): string {
  const body = { model: 'sim/chat', messages: [{ role: 'user', content: `say ${n}` }] };
  return JSON.stringify({ custom_id: `c-${n}`, method: 'POST', url: '/v1/chat/completions', body, ...more });
}

async function upload(lines: string[]): Promise<string> {
  const file = await toFile(Buffer.from(lines.join('\n')), 'in.jsonl');
  return (await openai.files.create({ file, purpose: 'batch' })).id;
}

async function begin(lines: string[], more: Json = {}): Promise<OpenAI.Batches.Batch> {
  const input_file_id = await upload(lines);
  const asked = { input_file_id, endpoint: '/v1/chat/completions', completion_window: '24h' } as const;
  return openai.batches.create({ ...asked, ...more });
}

const ENDED = ['completed', 'failed', 'expired', 'cancelled'];

async function end(id: string): Promise<OpenAI.Batches.Batch> {
  let batch = await openai.batches.retrieve(id);
  await eventually(async () => {
    batch = await openai.batches.retrieve(id);
    return ENDED.includes(batch.status);
  }, SLOWLY);
  return batch;
}

async function content(id: string | null | undefined): Promise<Json[]> {
  const text = await (await openai.files.content(String(id))).text();
  return text
    .split('\n')
    .filter((one) => one !== '')
    .map((one) => JSON.parse(one) as Json);
}

const eventOf = (id: string): Json | undefined => events.find(({ data }) => data.batch_id === id);

describe('/v1/batches', () => {
  it('BAT-01 BAT-05 the openai SDK runs a batch: results and errors in files, counts, usage, event', async () => {
    inference.answer = (call): InferenceAnswer =>
      call.unit === 1
        ? { status: 400, body: { error: { code: 'bad_request' } }, retry_after_seconds: null }
        : served(call);
    const made = await begin([line(0), line(1), '', line(2)], {
      metadata: { job: 'nightly', constructor: 'x' },
    });
    expect(made).toMatchObject({ object: 'batch', status: 'validating', completion_window: '24h' });
    const batch = await end(made.id);
    expect(batch).toMatchObject({
      status: 'completed',
      model: 'sim/chat',
      request_counts: { total: 3, completed: 2, failed: 1 },
      usage: { input_tokens: 12, output_tokens: 8, total_tokens: 20 },
      metadata: { job: 'nightly', constructor: 'x' },
      errors: null,
      failed_at: null,
      completed_at: expect.any(Number),
    });
    const output = await content(batch.output_file_id);
    expect(output.map(({ custom_id }) => custom_id)).toEqual(['c-0', 'c-2']);
    expect(output[0]).toMatchObject({
      id: expect.stringMatching(/^batch_req_/),
      response: { status_code: 200, body: { object: 'chat.completion' } },
      error: null,
    });
    expect(await content(batch.error_file_id)).toMatchObject([
      { custom_id: 'c-1', response: { status_code: 400, body: { error: { code: 'bad_request' } } } },
    ]);
    await eventually(() => eventOf(made.id) !== undefined, SLOWLY);
    expect(eventOf(made.id)).toMatchObject({
      type: 'batch.completed',
      data: {
        status: 'completed',
        model: 'sim/chat',
        provider: 'double',
        output_file_id: batch.output_file_id,
      },
    });
    expect((await openai.batches.list({ limit: 1 })).data).toEqual([batch]);
  });

  it('BAT-04 each line is a unit of the request that made the batch, at the batch tier', async () => {
    const { id } = await begin([line(0), line(1)]);
    await end(id);
    const units = inference.calls.map(({ unit }) => unit).sort();
    expect(units).toEqual([0, 1]);
    expect(new Set(inference.calls.map(({ request_id }) => request_id)).size).toBe(1);
    for (const call of inference.calls)
      expect(call).toMatchObject({ key_id: 'key_a', recorded_path: '/v1/batches', is_batch: true });
  });

  const heldFor = (request: string | undefined): bigint[] =>
    inference.holds.filter(({ request_id: of }) => of === request).map(({ nano }) => BigInt(nano));

  it('READ-57 holds the money of its lines that have not begun, and nothing once it has ended', async () => {
    inference.worthNano = 1_000n;
    const batch = await end((await begin(Array.from({ length: 40 }, (_, n) => line(n)))).id);
    expect(batch.request_counts).toEqual({ total: 40, completed: 40, failed: 0 });
    const [request] = inference.calls.map(({ request_id }) => request_id);
    const [first] = inference.holds.filter(({ request_id: of }) => of === request);
    // Of all lines, until eight begin at once here and hold their own.
    expect(first).toMatchObject({ key_id: 'key_a', model: 'sim/chat', nano: '40000', is_first: true });
    const held = heldFor(request);
    expect(held).toEqual([...held].sort((a, b) => Number(b - a)));
    expect(new Set(held)).toEqual(new Set([40_000n, 32_000n, 24_000n, 16_000n, 8_000n, 0n]));
  });

  it('fails where there is not the money for all of its lines, before any is run', async () => {
    inference.worthNano = 1_000n;
    inference.noBudget = new ApiError('spend_limit_exceeded', { message: 'The balance is insufficient.' });
    const { id } = await begin(Array.from({ length: 20 }, (_, n) => line(n)));
    const batch = await end(id);
    expect(batch).toMatchObject({
      status: 'failed',
      errors: {
        data: [{ code: 'spend_limit_exceeded', message: 'The balance is insufficient.', line: null }],
      },
    });
    expect(inference.calls).toEqual([]);
    await eventually(() => eventOf(id) !== undefined, SLOWLY);
    expect(eventOf(id)).toMatchObject({ type: 'batch.failed' });
  });

  it('gives what it holds to its own line that finds no room', async () => {
    inference.worthNano = 1_000n;
    const refused = { status: 402, body: {}, retry_after_seconds: 1, unit_ended: false };
    let rejections = 0;
    inference.answer = (call): InferenceAnswer => {
      const isHeld = BigInt(inference.holds.at(-1)?.nano ?? '0') > 0n;
      if (call.unit !== 5 || !isHeld) return served(call);
      rejections += 1;
      return refused;
    };
    const batch = await end((await begin(Array.from({ length: 40 }, (_, n) => line(n)))).id);
    expect(batch.request_counts).toEqual({ total: 40, completed: 40, failed: 0 });
    expect(rejections).toBeLessThanOrEqual(1);
  });

  it('waits where a limit is full, and tries again what may pass, as a unit of its own', async () => {
    const answers = [
      { status: 429, body: {}, retry_after_seconds: null },
      { status: 502, body: {}, retry_after_seconds: null },
    ];
    inference.answer = (call) => answers.shift() ?? served(call);
    const batch = await end((await begin([line(0)])).id);
    expect(batch.request_counts).toEqual({ total: 1, completed: 1, failed: 0 });
    expect(inference.calls.map(({ unit }) => unit)).toEqual([0, 0, 50_000]);
  });

  it('BAT-03 refuses a batch whose model takes none, or that nobody may call', async () => {
    inference.rejection = new ApiError('model_capability_not_supported');
    await expect(begin([line(0)])).rejects.toMatchObject({ status: 400 });
    inference.rejection = new ApiError('model_not_found', { message: 'The model a/b is unknown.' });
    await expect(begin([line(0)])).rejects.toMatchObject({
      status: 404,
      message: '404 Line 1: The model a/b is unknown.',
    });
    inference.rejection = new ApiError('insufficient_quota', { message: 'No credit.' });
    await expect(begin([line(0)])).rejects.toMatchObject({ message: '402 No credit.' });
  });

  it('BAT-05 EVT-27 a file with wrong lines fails the batch, and each is named', async () => {
    const url = { url: '/v1/embeddings' };
    const body = { model: 'another/one' };
    const lines = [line(0), 'no json', line(0), line(3, url), line(4, { body }), line(5, { custom_id: '' })];
    const { id } = await begin(lines);
    const batch = await end(id);
    expect(batch.status).toBe('failed');
    expect(batch.errors?.data?.map(({ code, line: at }) => [code, at])).toEqual([
      ['invalid_json_line', 2],
      ['duplicate_custom_id', 3],
      ['invalid_request', 4],
      ['mismatched_model', 5],
      ['missing_required_parameter', 6],
    ]);
    expect(inference.calls).toEqual([]);
    await eventually(() => eventOf(id) !== undefined, SLOWLY);
    expect(eventOf(id)).toMatchObject({
      type: 'batch.failed',
      data: { status: 'failed', output_file_id: null },
    });
  });

  it('BAT-05 EVT-28 a cancelled batch keeps what it has, names the rest, and fires no event', async () => {
    let answered = 0;
    let letGo = (): void => undefined;
    const held = new Promise<void>((resolve) => (letGo = resolve));
    inference.answer = async (call) => {
      if ((answered += 1) > 3) await held;
      return served(call);
    };
    const { id } = await begin(Array.from({ length: 40 }, (_, n) => line(n)));
    await eventually(() => answered > 3, SLOWLY);
    const cancelling = await openai.batches.cancel(id);
    expect(cancelling.status).toBe('cancelling');
    letGo();
    const batch = await end(id);
    expect(batch.status).toBe('cancelled');
    const [output, rest] = [await content(batch.output_file_id), await content(batch.error_file_id)];
    expect(output.length + rest.length).toBe(40);
    expect(output.length).toBeGreaterThanOrEqual(3);
    for (const one of rest) expect(one.error.code).toBe('batch_cancelled');
    expect(inference.calls).toHaveLength(output.length);
    await expect(openai.batches.cancel(id)).rejects.toMatchObject({ status: 409 });
    expect(eventOf(id)).toBeUndefined();
  });

  it('BAT-05 a batch that is cancelled while its file is checked counts the lines that it names', async () => {
    let letGo = (): void => undefined;
    const held = new Promise<void>((resolve) => (letGo = resolve));
    let isAsked = false;
    const worth = inference.worth.bind(inference);
    inference.worth = async (...call) => {
      isAsked = true;
      await held;
      return worth(...call);
    };
    try {
      const { id } = await begin([line(0), line(1), line(2)]);
      await eventually(() => isAsked, SLOWLY);
      expect((await openai.batches.cancel(id)).status).toBe('cancelling');
      letGo();
      const batch = await end(id);
      expect(batch).toMatchObject({
        status: 'cancelled',
        request_counts: { total: 3, completed: 0, failed: 3 },
        output_file_id: null,
      });
      expect(await content(batch.error_file_id)).toHaveLength(3);
    } finally {
      letGo();
      inference.worth = worth;
    }
  });

  it('BAT-05 a batch that is cancelled before its file is checked ends, however long a line of it is', async () => {
    let letGo = (): void => undefined;
    const held = new Promise<void>((resolve) => (letGo = resolve));
    let asked = 0;
    const worth = inference.worth.bind(inference);
    inference.worth = async (...call) => {
      asked += 1;
      await held;
      return worth(...call);
    };
    try {
      // As many as run at once.
      for (let at = 0; at < 4; at += 1) await begin([line(0)]);
      await eventually(() => asked === 4, SLOWLY);
      const { id } = await begin([line(0), 'x'.repeat(9 * 1_048_576), line(2)]);
      expect((await openai.batches.cancel(id)).status).toBe('cancelling');
      letGo();
      expect(await end(id)).toMatchObject({
        status: 'cancelled',
        request_counts: { completed: 0, failed: 2 },
      });
    } finally {
      letGo();
      inference.worth = worth;
    }
  });

  it.each([
    ['deeper than a body may be', `{"model":"sim/chat","messages":${'['.repeat(70)}${']'.repeat(70)}}`],
    [
      'so deep that it cannot be written again',
      `{"model":"sim/chat","a":${'['.repeat(9_999)}${']'.repeat(9_999)}}`,
    ],
    ['with a name that no body may have', '{"model":"sim/chat","messages":[],"a":{"__proto__":1}}'],
  ])('BAT-05 a line %s fails the batch, and is named', async (_, body) => {
    const custom = (id: string): string =>
      `{"custom_id":"${id}","method":"POST","url":"/v1/chat/completions","body":${body}}`;
    const { errors, status } = await end((await begin([line(0), custom('odd')])).id);
    expect([status, errors?.data]).toMatchObject([
      'failed',
      [{ code: 'invalid_json_line', line: 2, param: null }],
    ]);
    await expect(begin([custom('first')])).rejects.toMatchObject({ status: 422 });
  });

  it('BAT-01 409 past a hundred of one key that have not ended, however many are made at once', async () => {
    const { pool } = app.app.get(WorkersDatabase);
    await pool.query(
      `INSERT INTO batches (id, key_id, account_id, request_id, endpoint, model, provider, input_file_id, status, created_at,
         expires_at, worker, leased_until)
       SELECT 'batch_brim_' || n, 'key_a', 'acct_key_a', 'req_brim_' || n, '/v1/chat/completions', 'sim/chat', 'double',
         'file-none', 'in_progress', now(), now() + interval '1 hour', 'another', now() + interval '1 hour'
       FROM generate_series(1, 97) n`,
    );
    let letGo = (): void => undefined;
    const held = new Promise<void>((resolve) => (letGo = resolve));
    inference.answer = (call) => held.then(() => served(call));
    try {
      const input_file_id = await upload([line(0)]);
      const asked = { input_file_id, endpoint: '/v1/chat/completions', completion_window: '24h' } as const;
      const tries = Array.from({ length: 8 }, () => openai.batches.create(asked));
      const outcomes = await Promise.allSettled(tries);
      const refused = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
      expect(refused).toEqual(Array(5).fill(expect.objectContaining({ status: 409, code: 'conflict' })));
      letGo();
      const made = outcomes.flatMap((one) => (one.status === 'fulfilled' ? [one.value.id] : []));
      for (const id of made) expect(await end(id)).toMatchObject({ status: 'completed' });
    } finally {
      letGo();
      await pool.query("DELETE FROM batches WHERE id LIKE 'batch_brim_%'");
    }
  });

  it('EDGE-08 a repeat after the first died gets the batch that it made, and makes no second one', async () => {
    const own = app.keyOf('key_a');
    const input_file_id = await upload([line(0)]);
    const asked = { input_file_id, endpoint: '/v1/chat/completions', completion_window: '24h' };
    const make = () => app.call('POST', '/v1/batches', own, asked, { 'idempotency-key': 'batch-dead' });
    const table = app.app.get(IdempotencyTable);
    const complete = jest.spyOn(table, 'complete').mockRejectedValueOnce(new Error('killed'));
    expect((await make()).status).toBe(500);
    complete.mockRestore();
    const { pool } = app.app.get(WorkersDatabase);
    await pool.query(
      `UPDATE idempotency SET created_at = created_at - interval '3 min' WHERE key = 'batch-dead'`,
    );
    const again = await make();
    expect(again.status).toBe(200);
    const made = await pool.query('SELECT id FROM batches WHERE input_file_id = $1', [input_file_id]);
    expect(made.rows).toEqual([{ id: again.body.id }]);
  });

  it('EDGE-08 a batch is made once per Idempotency-Key: the same again, 409 conflict for another body', async () => {
    const own = app.keyOf('key_a');
    const asked = {
      input_file_id: await upload([line(0)]),
      endpoint: '/v1/chat/completions',
      completion_window: '24h',
    };
    const make = (body: object) =>
      app.call('POST', '/v1/batches', own, body, { 'idempotency-key': 'batch-1' });
    const first = await make(asked);
    expect(first.status).toBe(200);
    expect((await make(asked)).body).toEqual(first.body);
    const other = await make({ ...asked, metadata: { a: 'b' } });
    expect([other.status, other.body.error.code]).toEqual([409, 'conflict']);
    await end(first.body.id as string);
  });

  it('BAT-05 ERR-31 another key’s batch, an unknown one and an unknown file are 404', async () => {
    const { id } = await begin([line(0)]);
    await end(id);
    const thief = app.keyOf('key_thief');
    const read = await app.call('GET', `/v1/batches/${id}`, thief);
    expect([read.status, read.body.error.code]).toEqual([404, 'not_found']);
    expect((await app.call('POST', `/v1/batches/${id}/cancel`, thief)).status).toBe(404);
    expect((await app.call('GET', '/v1/batches', thief)).body.data).toEqual([]);
    const asked = { endpoint: '/v1/chat/completions', completion_window: '24h', input_file_id: 'file-no' };
    const made = await app.call('POST', '/v1/batches', thief, asked);
    expect([made.status, made.body.error.code]).toEqual([404, 'resource_not_found']);
    const wrong = await app.call('POST', '/v1/batches', thief, { ...asked, completion_window: '1h' });
    expect(wrong.status).toBe(422);
  });
});
