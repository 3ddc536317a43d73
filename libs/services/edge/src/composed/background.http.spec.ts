import { Inference, TOPIC, type InferenceCall } from '@gateway/contracts';
import { eventually, keyPrincipal } from '@gateway/testing';
import { startEdge, testModel, testPrincipal, type EdgeUnderTest, type Json } from '../edge.fixture.js';

const PATH = '/v1/responses';
const FLAG = { supports_background_response: true };

describe('responses in the background', () => {
  let edge: EdgeUnderTest;
  let inference: Inference;

  beforeAll(async () => {
    edge = await startEdge({
      models: [
        testModel('acme/later', [{ provider: 'simulated', upstreamModel: 'sim-chat' }], FLAG),
        testModel(
          'acme/native',
          [{ provider: 'simulated', upstreamModel: 'sim-chat', dialect: 'responses' }],
          FLAG,
        ),
        testModel('acme/hangs', [{ provider: 'simulated', upstreamModel: 'sim-chat:hang=1' }], FLAG),
        testModel('acme/fails', [{ provider: 'simulated', upstreamModel: 'sim-error-400' }], FLAG),
        testModel('acme/breaks', [{ provider: 'simulated', upstreamModel: 'sim-chat:cut=3' }], FLAG),
      ],
    });
    inference = edge.app.app.get(Inference);
  });
  afterAll(() => edge.close());
  beforeEach(() => edge.sim.reset());

  const ask = async (
    body: Json,
    key?: string,
    headers = {},
  ): Promise<{ status: number; id: string; body: Json }> => {
    const asked = { model: 'acme/later', input: 'Hello', background: true, ...body };
    const answer = await edge.post(asked, { path: PATH, headers, ...(key === undefined ? {} : { key }) });
    return {
      status: answer.status,
      id: answer.headers.get('x-request-id') ?? '',
      body: (await answer.json()) as Json,
    };
  };
  /** Returns the call with which the workers service runs the newest background response. */
  const callOf = (): InferenceCall => {
    const { id, key_id, account_id, request_id, body } = edge.background.begun.at(-1) ?? fail();
    return {
      ...{ key_id, account_id, request_id, unit: 0, body, is_batch: false },
      ...{ recorded_path: PATH, endpoint: PATH, background: { response_id: id } },
    };
  };
  const fail = (): never => {
    throw new Error('nothing was begun');
  };
  const eventsOf = (id: unknown): Json[] =>
    (edge.background.said.get(String(id)) ?? []).map(({ event }) => event);

  it('RESP-04 is answered at once as queued, with every setting, and nothing is called', async () => {
    const { status, body } = await ask({ instructions: 'Be brief', metadata: { a: 'b' } });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id: expect.stringMatching(/^resp_/) as string,
      object: 'response',
      status: 'queued',
      background: true,
      store: true,
      model: 'acme/later',
      instructions: 'Be brief',
      metadata: { a: 'b' },
      output: [],
      usage: null,
    });
    expect(edge.background.begun.at(-1)).toMatchObject({
      id: body.id,
      key_id: 'key_test',
      input: [{ role: 'user' }],
      response: body,
    });
    expect(edge.upstream()).toHaveLength(0);
  });

  it('EDGE-08 is begun once per Idempotency-Key; 409 conflict for another body', async () => {
    const before = edge.background.begun.length;
    const named = { 'idempotency-key': 'later-1' };
    const first = await ask({}, undefined, named);
    expect(await ask({}, undefined, named)).toMatchObject({ status: 200, body: first.body });
    expect(edge.background.begun).toHaveLength(before + 1);
    const other = await ask({ input: 'Other' }, undefined, named);
    expect(other).toMatchObject({ status: 409, body: { error: { code: 'conflict' } } });
    await edge.record(other.id, TOPIC.rejections);
    const waited = await ask({ background: false }, undefined, named);
    expect(waited.body).toMatchObject({ status: 'completed' });
  });

  it('EDGE-08 a repeat that streams follows the response that the first one began', async () => {
    const asked = { model: 'acme/later', input: 'Hello', background: true, stream: true };
    const options = { path: PATH, headers: { 'idempotency-key': 'later-2' } };
    const begun = edge.background.begun.length;
    const said = async (): Promise<string> => {
      const answer = await edge.post(asked, options);
      return (await answer.text()).replaceAll(': keep-alive\n\n', '');
    };
    // Neither is answered before there is something to say.
    const first = said();
    await eventually(() => edge.background.begun.length > begun);
    const again = said();
    expect((await inference.infer(callOf())).status).toBe(200);
    const [one, two] = await Promise.all([first, again]);
    expect(one).toContain('response.completed');
    expect(two).toBe(one);
    expect(edge.background.begun).toHaveLength(begun + 1);
  });

  it('EDGE-08 a begin that was refused or not taken gives its Idempotency-Key back', async () => {
    const named = { 'idempotency-key': 'later-3' };
    expect((await ask({ previous_response_id: 'resp_none' }, undefined, named)).status).toBe(404);
    edge.background.faults = 1;
    expect((await ask({}, undefined, named)).status).toBe(503);
    expect((await ask({}, undefined, named)).status).toBe(200);
  });

  it.each(['acme/later', 'acme/native'])(
    'RESP-04 runs on %s: numbered events, its own id, one cost',
    async (model) => {
      const { id: requestId, body } = await ask({ model });
      expect(await inference.infer(callOf())).toMatchObject({ status: 200 });
      const events = eventsOf(body.id);
      expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_event, at) => at));
      expect(events[0]).toMatchObject({
        type: 'response.in_progress',
        response: { id: body.id, background: true },
      });
      expect(events.at(-1)).toMatchObject({
        type: 'response.completed',
        response: { id: body.id, status: 'completed', background: true, store: true },
      });
      expect(edge.background.ended.get(String(body.id))?.response).toMatchObject({
        id: body.id,
        status: 'completed',
        background: true,
        output: [{ type: 'message' }],
      });
      expect(await edge.record(requestId)).toMatchObject({ endpoint: PATH, unit: 0, outcome: 'served' });
      expect(edge.responses.kept.some(({ id }) => id === body.id)).toBe(false);
    },
  );

  it('RESP-04 400 for a model without the flag, 422 with store: false, with memory too; all are recorded rejections', async () => {
    const lacking = await ask({ model: 'simulator/chat' });
    expect(lacking).toMatchObject({
      status: 400,
      body: { error: { code: 'model_capability_not_supported', param: 'background' } },
    });
    const unstored = await ask({ store: false });
    expect(unstored).toMatchObject({ status: 422, body: { error: { code: 'validation_error' } } });
    edge.stored.memoryTexts = ['likes tea'];
    const remembered = await ask({ store: false, memory: { end_user_id: 'someone' } });
    expect(remembered).toMatchObject({ status: 422, body: { error: { code: 'validation_error' } } });
    for (const { id } of [lacking, unstored, remembered]) await edge.record(id, TOPIC.rejections);
  });

  it('LIM-01 429 and 404 are answered at once, and what is begun counts only when it runs', async () => {
    const limits = [{ ...testPrincipal('key_few').limits[0], rpm: 1 }];
    const key = edge.addKey(testPrincipal('key_few', { limits }));
    expect((await ask({}, key)).status).toBe(200);
    expect((await ask({}, key)).status).toBe(200);
    expect((await inference.infer(callOf())).status).toBe(200);
    expect(await ask({}, key)).toMatchObject({
      status: 429,
      body: { error: { code: 'rate_limit_exceeded' } },
    });
    expect(await ask({ previous_response_id: 'resp_none' })).toMatchObject({
      status: 404,
      body: { error: { code: 'resource_not_found' } },
    });
  });

  it('goes on from an earlier response, which its run is given too', async () => {
    const first = await edge.post({ model: 'acme/later', input: 'My name is Ada' }, { path: PATH });
    const { id, output } = (await first.json()) as { id: string; output: { id: string }[] };
    await eventually(() => edge.responses.kept.some((one) => one.id === id));
    const input = [
      { role: 'user', content: 'Before' },
      { type: 'item_reference', id: output[0].id },
      { role: 'user', content: 'Go on' },
    ];
    const { status, body } = await ask({ previous_response_id: id, input });
    expect([status, body.previous_response_id]).toEqual([200, id]);
    expect(edge.background.begun.at(-1)?.input.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'user',
    ]);
    expect((await inference.infer(callOf())).status).toBe(200);
    expect(edge.upstream().at(-1)?.body).toContain('My name is Ada');
    expect(edge.background.ended.get(String(body.id))?.response).toMatchObject({ previous_response_id: id });
  });

  it('streams the events of its run to whoever asked for a stream', async () => {
    const before = edge.background.begun.length;
    const asked = { model: 'acme/later', input: 'Hello', background: true, stream: true };
    const answering = edge.post(asked, { path: PATH });
    await eventually(() => edge.background.begun.length > before);
    await inference.infer(callOf());
    const answer = await answering;
    expect(answer.headers.get('content-type')).toContain('text/event-stream');
    const text = await answer.text();
    expect(text).toMatch(/^event: response.in_progress\n/);
    expect(text).toMatch(/event: response.completed\n[^\n]*\n\ndata: \[DONE\]\n\n$/);
  });

  it('is left by its run where it was cancelled: the upstream is closed', async () => {
    const { body, id: requestId } = await ask({ model: 'acme/hangs' });
    const running = inference.infer(callOf());
    await eventually(() => edge.upstream().length === 1);
    edge.background.runs.set(String(body.id), null);
    expect((await running).status).toBe(200);
    expect(await edge.record(requestId)).toMatchObject({ outcome: 'cancelled' });
    expect(edge.background.ended.has(String(body.id))).toBe(false);
  });

  it('ends failed where the upstream broke off in the middle, and answers an error where it never began', async () => {
    const broken = await ask({ model: 'acme/breaks' });
    expect((await inference.infer(callOf())).status).toBe(200);
    expect(edge.background.ended.get(String(broken.body.id))?.response).toMatchObject({
      id: broken.body.id,
      status: 'failed',
    });
    expect(eventsOf(broken.body.id).at(-1)).toMatchObject({ type: 'response.failed' });
    const refused = await ask({ model: 'acme/fails' });
    expect(await inference.infer(callOf())).toMatchObject({ unit_ended: true, body: { error: {} } });
    expect(edge.background.ended.has(String(refused.body.id))).toBe(false);
  });

  it('keeps its end though the store is away for a while', async () => {
    const { body } = await ask({});
    const call = callOf();
    const running = inference.infer(call);
    await eventually(() => edge.background.runs.has(String(body.id)));
    edge.background.faults = 2;
    expect((await running).status).toBe(200);
    expect(edge.background.ended.get(String(body.id))?.response).toMatchObject({ status: 'completed' });
  });

  it('answers characters of all alphabets in events longer than a write', async () => {
    const { body } = await ask({ input: `Say ${'ж'.repeat(50_000)}` });
    expect((await inference.infer(callOf())).status).toBe(200);
    expect(JSON.stringify(edge.background.ended.get(String(body.id)))).not.toContain('\ufffd');
  });

  it('runs nothing for a key that was suspended since', async () => {
    edge.addKey(keyPrincipal({ ...testPrincipal('key_gone'), status: 'suspended' }));
    await ask({});
    const answer = await inference.infer({ ...callOf(), key_id: 'key_gone', request_id: 'req_gone' });
    expect(answer).toMatchObject({ status: 403, unit_ended: false });
  });
});
