import { jest } from '@jest/globals';
import OpenAI from 'openai';
import { eventually } from '@gateway/testing';
import { startEdge, testModel, type EdgeUnderTest, type Json } from '../edge.fixture.js';

describe('POST /v1/responses/compact', () => {
  let edge: EdgeUnderTest;
  let openai: OpenAI;
  beforeAll(async () => {
    edge = await startEdge({
      models: [
        testModel('acme/cuts', [{ provider: 'simulated', upstreamModel: 'sim-chat:finish=length' }]),
        testModel('acme/native', [
          { provider: 'simulated', upstreamModel: 'sim-chat', dialect: 'responses' },
        ]),
      ],
    });
    openai = new OpenAI({ apiKey: edge.key, baseURL: `${edge.url}/v1`, maxRetries: 0 });
  });
  afterAll(() => edge.close());
  beforeEach(() => edge.sim.reset());

  const history = [
    { type: 'message', role: 'user', content: 'My name is Ada' },
    { type: 'message', role: 'assistant', content: 'Hello Ada' },
  ] as const;

  it.each(['simulator/chat', 'simulator/claude', 'acme/native'])(
    'RESP-05 openai compacts a conversation of %s and goes on from it',
    async (model) => {
      const compacted = await openai.responses.compact({ model, input: [...history] });
      expect(compacted).toMatchObject({
        object: 'response.compaction',
        output: [
          {
            id: expect.stringMatching(/^msg_/) as string,
            type: 'message',
            status: 'completed',
            role: 'user',
            content: [{ type: 'input_text', text: 'My name is Ada' }],
          },
          { type: 'compaction' },
        ],
        usage: { output_tokens: expect.any(Number) as number },
      });
      expect(edge.upstream()[0].body).toContain('Hello Ada');
      const on = await openai.responses.create({
        model,
        input: [...(compacted.output as never[]), { role: 'user', content: 'Go on' }],
      });
      expect(on.status).toBe('completed');
      expect(edge.upstream()[1].body).toContain('Summary of the conversation so far');
    },
  );

  it('is one unit of its path, with its cost', async () => {
    const asked = { model: 'simulator/chat', input: [...history] };
    const answer = await edge.post(asked, { path: '/v1/responses/compact' });
    expect(await edge.record(answer)).toMatchObject({
      endpoint: '/v1/responses/compact',
      outcome: 'served',
      unit: 0,
    });
  });

  it('goes on from a response that is kept, and 404 from one that is not', async () => {
    const first = await openai.responses.create({ model: 'simulator/chat', input: 'My name is Eve' });
    await eventually(() => edge.responses.kept.some(({ id }) => id === first.id));
    const compacted = await openai.responses.compact({
      model: 'simulator/chat',
      previous_response_id: first.id,
    });
    expect(JSON.stringify(compacted.output)).toContain('My name is Eve');
    const gone = { model: 'simulator/chat', previous_response_id: 'resp_none' } as const;
    await expect(openai.responses.compact(gone)).rejects.toMatchObject({
      status: 404,
      code: 'resource_not_found',
    });
  });

  it('404 for names that nothing is kept under, which are not looked for', async () => {
    const recall = jest.spyOn(edge.responses, 'recall');
    const items = jest.spyOn(edge.responses, 'items');
    const model = 'simulator/chat';
    for (const [path, asked] of [
      ['/v1/responses/compact', { previous_response_id: '\0' }],
      ['/v1/responses', { input: 'x', previous_response_id: 'resp_\0' }],
      ['/v1/responses', { input: 'x', conversation: 'conv_\0' }],
      ['/v1/responses', { input: 'x', previous_response_id: 'resp_\ud800' }],
      ['/v1/responses', { input: [{ type: 'item_reference', id: 'msg_\0' }] }],
      ['/v1/responses', { input: [{ type: 'item_reference', id: 'm'.repeat(257) }] }],
    ] as const) {
      const answer = await edge.post({ model, ...asked }, { path });
      const { error } = (await answer.json()) as { error: { code: string } };
      expect([answer.status, error.code]).toEqual([404, 'resource_not_found']);
    }
    expect(recall).not.toHaveBeenCalled();
    expect(items.mock.calls.every(([, ids]) => ids.length === 0)).toBe(true);
  });

  it('422 for nothing to compact, 404 for an unknown model, 502 for a summary that was cut off', async () => {
    const refused = async (body: Json): Promise<unknown[]> => {
      const answer = await edge.post(body, { path: '/v1/responses/compact' });
      const { error } = (await answer.json()) as { error: { code: string } };
      return [answer.status, error.code];
    };
    expect(await refused({ model: 'simulator/chat' })).toEqual([422, 'validation_error']);
    expect(await refused({ model: 'no/model', input: 'Hello' })).toEqual([404, 'model_not_found']);
    expect(await refused({ model: 'acme/cuts', input: 'Hello' })).toEqual([502, 'upstream_error']);
  });
});
