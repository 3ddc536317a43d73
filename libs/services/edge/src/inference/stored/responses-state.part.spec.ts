import { testModel, testPrincipal, type Json } from '../../edge.fixture.js';
import { tenantOf } from '../../tenant.fixture.js';
import { started } from './stored.fixture.js';

const edge = tenantOf(started, 'responses_state');

const ask = async (body: Json, key?: string): Promise<{ status: number; body: Json }> => {
  const answer = await edge.post(body, { path: '/v1/responses', ...(key === undefined ? {} : { key }) });
  return { status: answer.status, body: (await answer.json()) as Json };
};
/** Reads at once: whoever has the answer can continue from it. */
const kept = (id: unknown): Json => {
  const found = edge.responses.kept.find((one) => one.id === id);
  if (!found) throw new Error(`no response ${String(id)} is kept`);
  return found as unknown as Json;
};
const inputOf = (at: number): Json[] => {
  const { input, messages } = JSON.parse(edge.upstream()[at].body) as { input?: Json[]; messages?: Json[] };
  return input ?? messages ?? [];
};

describe('responses that go on from earlier ones', () => {
  beforeAll(async () => {
    edge.serveModels(
      testModel('simulator/native', [
        { provider: 'openai', upstreamModel: 'sim-chat', dialect: 'responses', price: '5' },
        { provider: 'simulated', upstreamModel: 'sim-chat', dialect: 'responses', price: '1' },
      ]),
      testModel('simulator/cut', [{ provider: 'simulated', upstreamModel: 'sim-chat:cut=4' }]),
      testModel('simulator/native-cut', [
        { provider: 'simulated', upstreamModel: 'sim-chat:cut=4', dialect: 'responses' },
      ]),
      testModel('simulator/openai', [
        { provider: 'openai', upstreamModel: 'sim-chat-reasoning', dialect: 'responses' },
      ]),
    );
  });
  beforeEach(() => edge.sim.reset());

  it.each(['simulator/chat', 'simulator/claude', 'simulator/native'])(
    'RESP-05 continues a chain of three on %s, each with all that was said before (bug 36)',
    async (model) => {
      const first = await ask({ model, input: 'My name is Ada' });
      kept(first.body.id);
      const second = await ask({ model, input: 'And yours?', previous_response_id: first.body.id });
      expect(second.body).toMatchObject({ status: 'completed', previous_response_id: first.body.id });
      kept(second.body.id);
      const third = await ask({ model, input: 'Bye', previous_response_id: second.body.id });
      expect(third.status).toBe(200);
      expect(inputOf(2).map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant', 'user']);
      expect(edge.upstream()[2].body).toContain('My name is Ada');
      expect(edge.upstream()[2].body).not.toContain('previous_response_id');
    },
  );

  it('RESP-03 keeps what the provider kept, its own counts included', async () => {
    const { body } = await ask({ model: 'simulator/native', input: 'Hello' });
    const { response } = kept(body.id) as { response: { usage: Json; model: string } };
    expect(response.usage).toEqual({
      input_tokens: expect.any(Number) as number,
      input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
      output_tokens: expect.any(Number) as number,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: expect.any(Number) as number,
    });
    expect(body.usage).toMatchObject({ byok_used: false });
  });

  it('RESP-05 keeps a streamed response too, before its last byte', async () => {
    const answer = await edge.post(
      { model: 'simulator/chat', input: 'Hello', stream: true },
      { path: '/v1/responses' },
    );
    const id = /"id":"(resp_[^"]+)"/.exec(await answer.text())?.[1];
    expect(kept(id)).toMatchObject({ key_id: edge.keyId, response: { status: 'completed' } });
  });

  it.each(['simulator/cut', 'simulator/native-cut'])(
    'RESP-03 keeps what a stream of %s said before it failed, and how',
    async (model) => {
      const begun = kept((await ask({ model: 'simulator/chat', input: 'Hi' })).body.id);
      edge.responses.kept.push({ ...begun, id: 'resp_0', conversation_id: 'conv_1' } as never);
      const body = { model, input: 'Hello', stream: true, conversation: 'conv_1' };
      const answer = await edge.post(body, { path: '/v1/responses' });
      const text = await answer.text();
      expect(text).toContain('event: response.failed');
      const found = kept(/"id":"(resp_[^"]+)"/.exec(text)?.[1]);
      // The conversation goes on as it was.
      expect(found).toMatchObject({
        conversation_id: null,
        response: { status: 'failed', error: { code: expect.any(String) as string } },
      });
    },
  );

  it.each(['simulator/chat', 'simulator/claude', 'simulator/native'])(
    'RESP-05 goes on on %s from an answer that was cut within a call, without that call and the thought of it',
    async (model) => {
      const first = await ask({ model, input: 'My name is Ada' });
      const begun = kept(first.body.id);
      const call = { type: 'function_call', name: 'f', arguments: '{"a": "b' };
      const output = [
        ...((begun.response as Json).output as Json[]),
        { type: 'function_call', id: 'fc_0', call_id: 'c0', name: 'f', arguments: '{}', status: 'completed' },
        { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Call it' }] },
        { ...call, id: 'fc_1', call_id: 'c1', status: 'incomplete' },
        { ...call, type: 'custom_tool_call', id: 'ct_1', call_id: 'c2', input: '', status: 'incomplete' },
      ];
      const response = { ...(begun.response as Json), output, status: 'incomplete' };
      const id = `resp_cut_${model.slice(10)}`;
      edge.responses.kept.push({ ...begun, id, response } as never);
      const input = [
        { type: 'function_call_output', call_id: 'c0', output: 'yes' },
        { role: 'user', content: 'Go on' },
      ];
      const { status } = await ask({ model, input, previous_response_id: id });
      expect(status).toBe(200);
      const { body } = edge.upstream()[1];
      expect([body.includes('Ada'), body.includes('c0'), body.includes('Go on')]).toEqual([true, true, true]);
      expect(body).not.toMatch(/c1|c2|Call it/);
    },
  );

  it('RESP-05 keeps nothing where store is false', async () => {
    const before = edge.responses.kept.length;
    const { body } = await ask({ model: 'simulator/chat', input: 'Hello', store: false });
    const later = await ask({ model: 'simulator/chat', input: 'Hello' });
    kept(later.body.id);
    expect(edge.responses.kept.length).toBe(before + 1);
    expect((await ask({ model: 'simulator/chat', input: 'On', previous_response_id: body.id })).status).toBe(
      404,
    );
  });

  it.each(['resp_unknown', 'another key’s'])('ERR-32 404 resource_not_found for %s', async (which) => {
    const key = edge.addKey(testPrincipal('key_other'));
    const { body } = await ask({ model: 'simulator/chat', input: 'Secret' }, key);
    kept(body.id);
    const previous_response_id = which === 'resp_unknown' ? which : body.id;
    const refused = await ask({ model: 'simulator/chat', input: 'Go on', previous_response_id });
    expect(refused).toMatchObject({
      status: 404,
      body: { error: { code: 'resource_not_found', param: 'previous_response_id' } },
    });
    expect(edge.upstream()).toHaveLength(1);
  });

  it('RESP-05 stays with the provider that thought, though another one is cheaper', async () => {
    const first = await ask({ model: 'simulator/openai', input: 'Think' });
    kept(first.body.id);
    await ask({ model: 'simulator/native', input: 'On', previous_response_id: first.body.id });
    expect(edge.upstream().map(({ headers }) => headers.authorization)).toEqual([
      'Bearer sim-key-of-openai',
      'Bearer sim-key-of-openai',
    ]);
    expect(inputOf(1).map(({ type }) => type)).toContain('reasoning');
  });

  it('RESP-05 leaves a provider’s reasoning out where it cannot serve any more', async () => {
    const first = await ask({ model: 'simulator/openai', input: 'Think' });
    kept(first.body.id);
    const { status } = await ask({
      model: 'simulator/chat',
      input: 'On',
      previous_response_id: first.body.id,
    });
    expect([status, inputOf(1).map(({ role }) => role)]).toEqual([200, ['user', 'assistant', 'user']]);
  });

  it('answers while the store is away, and keeps the response once it is back', async () => {
    edge.responses.faults.push(new Error('away'), new Error('away'));
    const { status, body } = await ask({ model: 'simulator/chat', input: 'Hello' });
    expect(status).toBe(200);
    expect(kept(body.id)).toMatchObject({ id: body.id });
  });

  it.each(['simulator/chat', 'simulator/native'])(
    'RESP-05 puts the items that a request refers to in their places on %s, and keeps them so',
    async (model) => {
      const first = await ask({ model, input: 'My name is Ada' });
      kept(first.body.id);
      const [{ id }] = first.body.output as { id: string }[];
      const input = [
        { role: 'user', content: 'Before' },
        { type: 'item_reference', id },
        { role: 'user', content: 'And after?' },
      ];
      const second = await ask({ model, input });
      expect(second.status).toBe(200);
      expect(inputOf(1).map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
      expect(edge.upstream()[1].body).not.toContain('item_reference');
      const { input: remembered } = kept(second.body.id);
      expect((remembered as Json[]).map(({ role }) => role)).toEqual(['user', 'assistant', 'user']);
    },
  );

  it('ERR-32 404 for an item that the key does not have, another key’s too', async () => {
    const key = edge.addKey(testPrincipal('key_items'));
    const { body } = await ask({ model: 'simulator/chat', input: 'Secret' }, key);
    kept(body.id);
    const [{ id }] = body.output as { id: string }[];
    for (const one of [id, 'msg_none']) {
      const refused = await ask({
        model: 'simulator/native',
        input: [
          { role: 'user', content: 'On' },
          { type: 'item_reference', id: one },
        ],
      });
      expect(refused).toMatchObject({
        status: 404,
        body: { error: { code: 'resource_not_found', param: 'input.1.id' } },
      });
    }
    expect(edge.upstream()).toHaveLength(1);
  });

  it('RESP-04 400 for background: true on a model without the flag', async () => {
    expect(await ask({ model: 'simulator/chat', input: 'Hello', background: true })).toMatchObject({
      status: 400,
      body: { error: { code: 'model_capability_not_supported', param: 'background' } },
    });
  });

  it('RESP-02 501 model_capability_not_supported where the model does not serve the endpoint', async () => {
    edge.serveModels(
      testModel('simulator/mute', [{ provider: 'simulated', upstreamModel: 'sim-chat' }], {
        supports_responses_api: false,
      }),
    );
    expect(await ask({ model: 'simulator/mute', input: 'Hello' })).toMatchObject({
      status: 501,
      body: { error: { code: 'model_capability_not_supported' } },
    });
  });
});
