import { jest } from '@jest/globals';
import {
  ApiError,
  BackgroundResponses,
  IdempotencyStore,
  type InferenceAnswer,
  type InferenceCall,
  type NewBackgroundResponse,
} from '@gateway/contracts';
import { Pressure } from '@gateway/platform';
import { eventually, InferenceDouble, testPostgres, type TestDatabase } from '@gateway/testing';
import { WorkersDatabase } from '../../postgres/workers-database.js';
import { anyMemory, MIGRATED, startWorkersApp, type WorkersApp } from '../../workers.fixture.js';

// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Json = Record<string, any>;

const SLOWLY = { timeoutMs: 30_000 };
const OVER: InferenceAnswer = { status: 200, body: {}, retry_after_seconds: null };

let database: TestDatabase;
let app: WorkersApp;
let inference: InferenceDouble;
let background: BackgroundResponses;
let key: string;
let letGo: () => void;
let released: Promise<void>;
let made = 0;

function newResponse(more: Partial<NewBackgroundResponse> = {}): NewBackgroundResponse {
  made += 1;
  const id = `resp_bg_${made}`;
  return {
    ...{ id, key_id: 'key_a', account_id: 'acct_key_a', request_id: `req_bg_${made}`, end_user_hash: null },
    ...{ previous_response_id: null, conversation_id: null, created_at: Math.floor(Date.now() / 1_000) },
    input: [{ type: 'message', role: 'user', content: 'Hello' }],
    body: { model: 'sim/chat', input: 'Hello', stream: true, store: false },
    response: { id, object: 'response', status: 'queued', background: true, output: [], error: null },
    ...more,
  };
}

const completed = (id: string): Json => ({
  ...{ id, object: 'response', status: 'completed', background: true },
  output: [{ type: 'message', id: `msg_${id}`, role: 'assistant', content: [] }],
});

/** An edge that says two events, waits until the test lets it go, and then says the end. */
async function edge({ key_id, background: asked }: InferenceCall): Promise<InferenceAnswer> {
  const id = asked?.response_id ?? '';
  const run = { key_id, response_id: id, run: `run_${inference.calls.length}` };
  const first = await background.take(run);
  if (first === null) return OVER;
  const event = (at: number, more: Json): { number: number; event: Json } => ({
    number: first + at,
    event: { sequence_number: first + at, ...more },
  });
  const begin = ['response.in_progress', 'response.output_text.delta'];
  const isCurrent = await background.append(
    run,
    begin.map((type, at) => event(at, { type })),
    null,
  );
  if (!isCurrent) return OVER;
  await released;
  const response = completed(id);
  await background.append(run, [event(2, { type: 'response.completed', response })], {
    response,
    credential: 'simulated',
  });
  return OVER;
}

beforeAll(async () => {
  database = await testPostgres();
  await MIGRATED.migrate(database.url);
  inference = new InferenceDouble();
  app = await startWorkersApp(database.url, { inference, config: { WORKERS_LEASE_MS: 1_000 } });
  background = app.app.get(BackgroundResponses);
  key = app.keyOf('key_a');
});
afterAll(async () => {
  letGo();
  await app.close();
  await database.drop();
});
beforeEach(() => {
  inference.answer = edge;
  inference.calls.splice(0);
  released = new Promise((resolve) => (letGo = resolve));
});

async function read(id: string, own = key): Promise<Json> {
  return (await app.call('GET', `/v1/responses/${id}`, own)).body as Json;
}
const reached = (id: string, status: string): Promise<boolean> =>
  eventually(async () => (await read(id)).status === status, SLOWLY);
const numbersOf = (text: string): number[] =>
  [...text.matchAll(/"sequence_number":(\d+)/g)].map(([, number]) => Number(number));

describe('a background response', () => {
  it('RESP-04 is queued, then in progress, then as the provider kept it; another key sees nothing', async () => {
    const response = newResponse();
    await background.begin(response);
    await reached(response.id, 'in_progress');
    const other = app.keyOf('key_other');
    expect((await app.call('GET', `/v1/responses/${response.id}`, other)).status).toBe(404);
    letGo();
    await reached(response.id, 'completed');
    expect(await read(response.id)).toEqual(completed(response.id));
    expect(inference.calls).toHaveLength(1);
    expect(inference.calls[0]).toMatchObject({
      ...{ request_id: response.request_id, unit: 0, endpoint: '/v1/responses', body: response.body },
      background: { response_id: response.id },
    });
  });

  it('EDGE-08 is begun with the answer to its Idempotency-Key, or neither where another request has the key', async () => {
    const store = app.app.get(IdempotencyStore);
    const none = new Date(0);
    const claim = { scope: 'key_a POST /v1/responses', key: 'k1', bodyDigest: 'd1', createdAt: new Date() };
    const [first, second] = [newResponse(), newResponse()];
    const [one, two] = [first, second].map(({ request_id: owner }) => ({ ...claim, owner }));
    await store.claim(one, none, none);
    for (const _again of [1, 2]) await background.begin(first, one);
    const answer = { status: 200, body: first.response };
    expect(await store.claim(two, none, none)).toEqual({ bodyDigest: 'd1', answer });
    await expect(background.begin(second, two)).rejects.toMatchObject({ code: 'conflict' });
    expect((await app.call('GET', `/v1/responses/${second.id}`, key)).status).toBe(404);
    letGo();
    await reached(first.id, 'completed');
  });

  it('RESP-04 waits for no other account, however many that one has under way', async () => {
    for (let n = 0; n < 201; n += 1)
      await background.begin(newResponse({ key_id: `key_many_${n % 3}`, account_id: 'acct_many' }));
    await eventually(() => inference.calls.length >= 100, SLOWLY);
    const response = newResponse();
    await background.begin(response);
    await reached(response.id, 'in_progress');
    expect(inference.calls.filter(({ account_id }) => account_id === 'acct_many')).toHaveLength(100);
    letGo();
    await reached(response.id, 'completed');
    await eventually(() => inference.calls.length >= 202, SLOWLY);
  }, 600_000);

  it('RESP-04 takes from an edge what the largest of bodies becomes on its way', async () => {
    const send = async (response: NewBackgroundResponse, token: string): Promise<number> => {
      const answer = await fetch(`${app.url}/internal/background-responses`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-fleet-token': token },
        body: JSON.stringify({ response }),
      });
      return answer.status;
    };
    const text = 'x'.repeat(17 * 1_048_576);
    const input = [{ type: 'message', role: 'user', content: text }];
    const large = newResponse({
      input,
      body: { model: 'sim/chat', input: text, stream: true, store: false },
    });
    expect(await send(large, 'fleet-token-of-the-spec')).toBe(200);
    letGo();
    await reached(large.id, 'completed');
    expect(await send(large, 'not-a-token')).not.toBe(200);
  });

  it('RESP-04 streams from any number on, while it runs and after', async () => {
    const response = newResponse();
    await background.begin(response);
    await reached(response.id, 'in_progress');
    const path = `/v1/responses/${response.id}?stream=true`;
    const [whole, rest] = [app.call('GET', path, key), app.call('GET', `${path}&starting_after=1`, key)];
    letGo();
    expect(numbersOf((await whole).text)).toEqual([0, 1, 2, 3, 4]);
    expect(numbersOf((await rest).text)).toEqual([2, 3, 4]);
    const after = await app.call('GET', `${path}&starting_after=3`, key);
    expect(numbersOf(after.text)).toEqual([4]);
    expect(after.text).toMatch(/data: \[DONE\]\n\n$/);
    expect(numbersOf((await app.call('GET', `${path}&starting_after=9`, key)).text)).toEqual([4]);
  });

  it('RESP-04 422 to stream after a number that no event can have', async () => {
    const response = newResponse();
    await background.begin(response);
    letGo();
    await reached(response.id, 'completed');
    const path = `/v1/responses/${response.id}?stream=true&starting_after=`;
    expect(numbersOf((await app.call('GET', `${path}2147483647`, key)).text)).toEqual([4]);
    for (const number of ['2147483648', '99999999999999999999']) {
      const { status, body } = await app.call('GET', path + number, key);
      expect([status, body.error.code, body.error.param]).toEqual([
        422,
        'validation_error',
        'starting_after',
      ]);
    }
  });

  it('RESP-04 is cancelled at once, and what its run says later is refused', async () => {
    const response = newResponse();
    await background.begin(response);
    await reached(response.id, 'in_progress');
    const cancelled = await app.call('POST', `/v1/responses/${response.id}/cancel`, key);
    expect(cancelled).toMatchObject({ status: 200, body: { id: response.id, status: 'cancelled' } });
    letGo();
    await eventually(async () => {
      const { rows } = await app.app.get(WorkersDatabase).pool.query('SELECT 1 FROM background_tasks');
      return rows.length === 0;
    }, SLOWLY);
    expect(await read(response.id)).toMatchObject({ status: 'cancelled' });
    const stream = await app.call('GET', `/v1/responses/${response.id}?stream=true`, key);
    expect(stream.text).toContain('event: response.cancelled\n');
    const again = await app.call('POST', `/v1/responses/${response.id}/cancel`, key);
    expect(again).toMatchObject({ status: 200, body: { status: 'cancelled' } });
  });

  it('RESP-04 runs once there is room for what was asked, and holds it until it has ended', async () => {
    const pressure = app.app.get(Pressure, { strict: false });
    const full = jest
      .spyOn(pressure, 'rejectionOfMore')
      .mockImplementation(() => new ApiError('service_unavailable'));
    const response = newResponse({ body: { model: 'sim/chat', input: 'x'.repeat(5_000), stream: true } });
    await background.begin(response);
    await eventually(() => full.mock.calls.length > 0, SLOWLY);
    expect(inference.calls).toEqual([]);
    full.mockRestore();
    await eventually(() => inference.calls.length === 1, SLOWLY);
    expect(inference.calls[0].body).toEqual(response.body);
    expect(pressure.bodyBytesInFlight).toBeGreaterThan(5_000);
    letGo();
    await reached(response.id, 'completed');
    await eventually(() => pressure.bodyBytesInFlight === 0, SLOWLY);
  });

  it('asks again after a rejection under the same number, for a failed unit under the next, and then gives up', async () => {
    const error = { code: 'upstream_error', message: 'It failed.', provider_code: 'provider_overloaded' };
    const answers: InferenceAnswer[] = [
      { status: 503, body: {}, retry_after_seconds: 0, unit_ended: false },
      ...[1, 2, 3].map(() => ({ status: 503, body: { error }, retry_after_seconds: 0, unit_ended: true })),
    ];
    inference.answer = () => answers.shift() ?? OVER;
    const response = newResponse();
    await background.begin(response);
    await reached(response.id, 'failed');
    expect((await read(response.id)).error).toEqual({ code: 'upstream_error', message: 'It failed.' });
    expect(inference.calls.map(({ unit }) => unit)).toEqual([0, 0, 1, 2]);
  });

  it('fails when its time is over, however long a limit tells it to wait', async () => {
    const response = newResponse();
    const error = { code: 'rate_limit_exceeded', message: 'later' };
    inference.answer = () => ({ status: 429, body: { error }, retry_after_seconds: 3_600 });
    await background.begin(response);
    await eventually(() => inference.calls.length > 0, SLOWLY);
    // Whoever works on it loses it, and the next one knows the new time.
    await app.app
      .get(WorkersDatabase)
      .pool.query(
        `UPDATE background_tasks SET expires_at = now() + interval '2 s', worker = NULL, leased_until = NULL WHERE id = $1`,
        [response.id],
      );
    await reached(response.id, 'failed');
    expect(await read(response.id)).toMatchObject({ error: { code: 'gateway_timeout' } });
  });

  it('fails with what a key may not have', async () => {
    const error = { code: 'spend_limit_exceeded', message: 'The cap is reached.' };
    inference.answer = () => ({ status: 402, body: { error }, retry_after_seconds: null, unit_ended: false });
    const response = newResponse();
    await background.begin(response);
    await reached(response.id, 'failed');
    expect((await read(response.id)).error).toMatchObject({ code: 'spend_limit_exceeded' });
  });

  it('is not gone on from before it has ended, and then is', async () => {
    const response = newResponse();
    await background.begin(response);
    const link = { response_id: response.id };
    await expect(app.responses.recall('key_a', link, anyMemory)).rejects.toMatchObject({ code: 'conflict' });
    letGo();
    await reached(response.id, 'completed');
    expect(await app.responses.recall('key_a', link, anyMemory)).toMatchObject({
      items: [{ role: 'user' }, { role: 'assistant' }],
      credential: 'simulated',
    });
  });

  it('adds its turn to its conversation when it has ended', async () => {
    const { body: conversation } = await app.call('POST', '/v1/conversations', key, {});
    const response = newResponse({ conversation_id: conversation.id as string });
    await background.begin(response);
    const items = async (): Promise<Json> =>
      (await app.call('GET', `/v1/conversations/${conversation.id}/items`, key)).body as Json;
    expect((await items()).data).toHaveLength(0);
    letGo();
    await reached(response.id, 'completed');
    await eventually(async () => (await items()).data.length === 2, SLOWLY);
  });

  it('deleted while it runs, it is gone, with its task and events', async () => {
    const response = newResponse();
    await background.begin(response);
    await reached(response.id, 'in_progress');
    expect(await app.call('DELETE', `/v1/responses/${response.id}`, key)).toMatchObject({ status: 200 });
    letGo();
    const { rows } = await app.app
      .get(WorkersDatabase)
      .pool.query('SELECT 1 FROM background_events WHERE id = $1', [response.id]);
    expect(rows).toEqual([]);
    expect((await app.call('GET', `/v1/responses/${response.id}`, key)).status).toBe(404);
  });

  it('begun twice is one, and a later run takes it over from an earlier one', async () => {
    inference.answer = () => new Promise(() => undefined);
    const response = newResponse();
    await background.begin(response);
    await background.begin(response);
    const { id } = response;
    const run = (name: string) => ({ key_id: 'key_a', response_id: id, run: name });
    expect(await background.take(run('one'))).toBe(2);
    const said = { number: 2, event: { type: 'response.in_progress', sequence_number: 2 } };
    expect(await background.append(run('one'), [said], null)).toBe(true);
    expect(await background.append(run('one'), [said], null)).toBe(true);
    expect(await background.take(run('two'))).toBe(3);
    expect(await background.append(run('one'), [{ ...said, number: 3 }], null)).toBe(false);
    await app.call('POST', `/v1/responses/${id}/cancel`, key);
    expect(await background.take(run('three'))).toBeNull();
  });

  it('409 past a hundred of one key that have not ended, however many are begun at once', async () => {
    inference.answer = () => new Promise(() => undefined);
    const many = app.keyOf('key_many');
    const made = (count: number): NewBackgroundResponse[] =>
      Array.from({ length: count }, () => newResponse({ key_id: 'key_many' }));
    const [first, last] = [made(97), made(8)];
    for (const response of first) await background.begin(response);
    // Every connection of the pool is there, so that none of them waits for one.
    const { pool } = app.app.get(WorkersDatabase);
    await Promise.all(Array.from({ length: 8 }, () => pool.query('SELECT 1')));
    const outcomes = await Promise.allSettled(last.map((response) => background.begin(response)));
    const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
    expect(refused).toEqual(Array(5).fill(expect.objectContaining({ code: 'conflict', status: 409 })));
    const reads = last.map(({ id }) => app.call('GET', `/v1/responses/${id}`, many));
    const kept = (await Promise.all(reads)).filter(({ status }) => status === 200);
    expect(kept).toHaveLength(3);
    for (const { id } of [...first, ...last]) await app.call('POST', `/v1/responses/${id}/cancel`, many);
  });
});
