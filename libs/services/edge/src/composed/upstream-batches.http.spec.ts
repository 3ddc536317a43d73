import {
  objectName,
  ObjectStore,
  type GivenAnswer,
  type InferenceAnswer,
  type InferenceCall,
  type ObjectKey,
  type UpstreamBatch,
  type UpstreamBatchCall,
} from '@gateway/contracts';
import { keyPrincipal } from '@gateway/testing';
import { hello, startEdge, testModel, testPrincipal, type EdgeUnderTest } from '../edge.fixture.js';

const TOKEN = 'fleet-token-of-the-edge-under-test';
const BATCH = 'batch_01980000-0000-7000-8000-00000000000';

type Json = Record<string, unknown>;
type At = Extract<UpstreamBatch, { kind: 'at' }>;

describe('/internal/infer/batch', () => {
  let edge: EdgeUnderTest;
  let objects: ObjectStore;
  let batches = 0;

  beforeAll(async () => {
    edge = await startEdge({ upstreams: async ({ url }) => ({ groq: url }) });
    objects = edge.app.app.get(ObjectStore);
    const batched = (id: string, provider: string): ReturnType<typeof testModel> => {
      const model = testModel(id, [{ provider, upstreamModel: 'sim-chat' }], { supports_batching: true });
      model.routes[0].price.batch_prompt_usd_per_1m = '0.5';
      model.routes[0].price.batch_completion_usd_per_1m = '1';
      return model;
    };
    const alone = batched('simulator/alone', 'groq');
    const failing = batched('simulator/failing', 'simulated');
    failing.routes[0].upstreamModel = 'sim-chat:error=500';
    edge.serveModels(batched('simulator/batches', 'simulated'), alone, failing);
  });
  afterAll(() => edge.close());

  async function post<T>(path: string, body: unknown): Promise<{ status: number; body: T }> {
    const answer = await fetch(`${edge.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-fleet-token': TOKEN },
      body: JSON.stringify(body),
    });
    return { status: answer.status, body: (await answer.json()) as T };
  }

  async function put(key: ObjectKey, text: string): Promise<void> {
    const content = async function* (): AsyncGenerator<Uint8Array> {
      yield Buffer.from(text);
    };
    await objects.put(key, content(), { maxBytes: 1_000_000 });
  }

  async function lines(bodies: Json[]): Promise<UpstreamBatchCall> {
    batches += 1;
    const batch_id = `${BATCH}${batches}`;
    const input = objectName('batches', 'acct_test', `${batch_id}.jsonl`);
    const text = bodies
      .map((body, n) => JSON.stringify({ custom_id: `secret name ${n}`, body }))
      .join('\n\n');
    await put(input, text);
    const whose = { key_id: 'key_test', account_id: 'acct_test', request_id: `req_up_${batches}` };
    const first = { step: 'upload', lines: `${input}-lines`, state: null } as const;
    return { ...whose, endpoint: '/v1/chat/completions', batch_id, input, ...first };
  }

  const chat = (model = 'simulator/batches', more: Json = {}): Json => ({
    ...(JSON.parse(JSON.stringify(hello(model))) as Json),
    ...more,
  });

  async function step(
    call: UpstreamBatchCall,
    more: Partial<UpstreamBatchCall> = {},
  ): Promise<UpstreamBatch> {
    return (await post<UpstreamBatch>('/internal/infer/batch', { ...call, ...more })).body;
  }

  const lineOf = (
    { key_id, account_id, request_id, endpoint }: UpstreamBatchCall,
    more: Pick<InferenceCall, 'unit' | 'given'> & Partial<InferenceCall>,
  ): InferenceCall => ({
    ...{ key_id, account_id, request_id, endpoint, recorded_path: '/v1/batches' },
    ...{ body: chat(), is_batch: true, ...more },
  });

  async function textOf(key: string): Promise<string> {
    const found = await objects.get(key as ObjectKey);
    const chunks: Uint8Array[] = [];
    for await (const chunk of found?.content ?? []) chunks.push(chunk);
    return Buffer.concat(chunks).toString('utf8');
  }

  it('BAT-01 BAT-04 runs a batch at its provider: lines up, answers down, each priced as its own unit', async () => {
    const call = await lines([chat(), chat(), chat()]);
    const uploaded = (await step(call)) as At;
    expect(uploaded).toMatchObject({
      kind: 'at',
      state: { credential: 'simulated', path: '/chat/completions', id: null },
    });
    const begun = (await step(call, { step: 'create', state: uploaded.state })) as At;
    const look = { step: 'look', state: begun.state } as const;
    expect(await step(call, look)).toEqual(begun);
    expect(await step(call, look)).toEqual(begun);
    const ended = await step(call, look);
    expect(ended).toMatchObject({ kind: 'ended', results: expect.stringContaining(call.batch_id) });
    const answers = (await textOf(String((ended as { results: string }).results)))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { line: number; status: number; body: string });
    expect(answers.map(({ line, status }) => [line, status])).toEqual([
      [0, 200],
      [1, 200],
      [2, 200],
    ]);
    const [, { status, body }] = answers;
    const sent = edge.upstream().length;
    const given: GivenAnswer = { credential: 'simulated', status, body };
    const priced = await post<InferenceAnswer>('/internal/infer', lineOf(call, { unit: 1, given }));
    expect(priced.body).toMatchObject({ status: 200, unit_ended: true, body: { object: 'chat.completion' } });
    expect(edge.upstream().length).toBe(sent);
    expect(await edge.record(call.request_id)).toMatchObject({
      unit: 1,
      outcome: 'served',
      provider: 'simulated',
      priced_from: { tier: 'batch' },
    });
  });

  it('sends names of callers nowhere, and finds a batch that was begun', async () => {
    const call = await lines([chat()]);
    const { state } = (await step(call)) as At;
    const first = await step(call, { step: 'create', state });
    expect(await step(call, { step: 'find', state })).toEqual(first);
    const sent = edge.upstream().filter(({ path }) => path.endsWith('/files'));
    expect(sent.length).toBeGreaterThan(0);
    expect(JSON.stringify(sent)).not.toContain('secret name');
  });

  it('finds nothing where nothing was begun', async () => {
    const call = await lines([chat()]);
    const { state } = (await step(call)) as At;
    expect(await step(call, { step: 'find', state })).toEqual({ kind: 'none' });
  });

  it('cancels: what was answered until then comes back', async () => {
    const call = await lines([chat(), chat(), chat(), chat()]);
    const { state: uploaded } = (await step(call)) as At;
    const { state } = (await step(call, { step: 'create', state: uploaded })) as At;
    expect(await step(call, { step: 'cancel', state })).toMatchObject({ kind: 'at' });
    let seen = await step(call, { step: 'look', state });
    if (seen.kind === 'at') seen = await step(call, { step: 'look', state });
    const text = await textOf(String((seen as { results: string }).results));
    expect(text.trim().split('\n')).toHaveLength(2);
  });

  it('leaves to others what its route does not take, and lines that would be refused', async () => {
    expect(await step(await lines([chat('simulator/alone')]))).toEqual({ kind: 'none' });
    expect(await step(await lines([chat('no/model')]))).toEqual({ kind: 'none' });
    const mixed = await lines([chat('simulator/batches', { messages: 'wrong' }), chat()]);
    const { state: uploaded } = (await step(mixed)) as At;
    const { state } = (await step(mixed, { step: 'create', state: uploaded })) as At;
    let seen: UpstreamBatch = { kind: 'at', state };
    for (let looks = 0; looks < 5 && seen.kind === 'at'; looks += 1)
      seen = await step(mixed, { step: 'look', state });
    const text = await textOf(String((seen as { results: string }).results));
    expect((JSON.parse(text) as { line: number }).line).toBe(1);
  });

  it('ends a batch that its provider has forgotten, and says 503 where it cannot be asked', async () => {
    const call = await lines([chat()]);
    const state = {
      credential: 'simulated',
      file: 'f',
      path: '/chat/completions',
      sent: 'AQ==',
      id: 'gone-simulated-batch',
    };
    expect(await step(call, { step: 'look', state })).toEqual({ kind: 'ended', results: null });
    const away = await post('/internal/infer/batch', {
      ...call,
      step: 'look',
      state: { ...state, credential: 'nobody' },
    });
    expect(away.status).toBe(503);
    edge.sim.script(['error=500']);
    expect((await post('/internal/infer/batch', { ...call, step: 'look', state })).status).toBe(503);
  });

  it('a failure of a line is its own: recorded, not billed, not tried again', async () => {
    const call = await lines([chat('simulator/failing')]);
    const body = JSON.stringify({ error: { message: 'The server had an error.', type: 'server_error' } });
    const given = { credential: 'simulated', status: 500, body };
    const line = lineOf(call, { unit: 0, given, body: chat('simulator/failing') });
    const sent = edge.upstream().length;
    const answer = await post<InferenceAnswer>('/internal/infer', line);
    expect(answer.body).toMatchObject({ status: 502, unit_ended: true });
    expect(edge.upstream().length).toBe(sent);
    expect(await edge.record(call.request_id)).toMatchObject({ outcome: 'failed', cost_usd: null });
  });

  it('bills what was done also where the key is suspended and its money is gone by now', async () => {
    const late = { ...testPrincipal('key_late'), accountId: 'acct_late', creditLimitUsd: '0' };
    edge.addKey(keyPrincipal({ ...late, status: 'suspended' }));
    const call = await lines([chat()]);
    const usage = { prompt_tokens: 1_000_000, completion_tokens: 0, total_tokens: 1_000_000 };
    const choices = [{ index: 0, message: { role: 'assistant', content: '' }, finish_reason: 'stop' }];
    const done = { id: 'c1', object: 'chat.completion', created: 1, model: 'sim-chat', choices, usage };
    const given = { credential: 'simulated', status: 200, body: JSON.stringify(done) };
    const whose = { key_id: 'key_late', account_id: 'acct_late' };
    const line = lineOf(call, { unit: 3, given, ...whose });
    const answer = await post<InferenceAnswer>('/internal/infer', line);
    expect(answer.body).toMatchObject({ status: 200 });
    expect(await edge.record(call.request_id)).toMatchObject({ cost_usd: '0.5', unit: 3 });
  });

  it('refuses to price an answer of a route that is not there', async () => {
    const call = await lines([chat()]);
    const given = { credential: 'openai', status: 200, body: '{}' };
    const answer = await post<InferenceAnswer>('/internal/infer', lineOf(call, { unit: 0, given }));
    expect(answer.body).toMatchObject({
      unit_ended: false,
      body: { error: { code: 'provider_not_available' } },
    });
  });
});
