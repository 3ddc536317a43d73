import type { Json } from '../../edge.fixture.js';
import { tenantOf } from '../../tenant.fixture.js';
import { started } from './text.fixture.js';

const edge = tenantOf(started, 'count_input');

const count = async (path: string, body: Json): Promise<Json> => {
  const answer = await edge.post(body, { path });
  return { status: answer.status, ...((await answer.json()) as Json) };
};
const messages = [{ role: 'user', content: 'Hello there, how are you?' }];

describe.each(['/v1', '/openai/v1'])('counting input below %s', (base) => {
  beforeAll(() => edge.sim.reset());

  it('counts the input of messages without an output limit, and calls nobody', async () => {
    const body = { model: 'simulator/claude', messages };
    const few = await count(`${base}/messages/count_tokens`, body);
    expect(few).toEqual({ status: 200, input_tokens: expect.any(Number) as number });
    expect(few.input_tokens).toBeGreaterThan(3);
    const more = await count(`${base}/messages/count_tokens`, { ...body, system: 'x'.repeat(4_000) });
    expect(more.input_tokens).toBeGreaterThan((few.input_tokens as number) + 500);
    const thinking = { type: 'enabled', budget_tokens: 32_000 };
    expect(await count(`${base}/messages/count_tokens`, { ...body, max_tokens: 8, thinking })).toMatchObject({
      status: 400,
    });
    expect([edge.upstream(), edge.shipped(), edge.responses.kept]).toEqual([[], [], []]);
  });

  it('counts what Claude gets with tools where Claude is asked, and tools alone elsewhere', async () => {
    const path = `${base}/messages/count_tokens`;
    const tools = [{ name: 'look', input_schema: { type: 'object' } }];
    const added = async (model: string): Promise<number> => {
      const [bare, armed] = [{}, { tools }].map((more) => count(path, { model, messages, ...more }));
      return Number((await armed).input_tokens) - Number((await bare).input_tokens);
    };
    expect(await added('simulator/chat')).toBeLessThan(10);
    expect((await added('simulator/claude')) - (await added('simulator/chat'))).toBe(530);
  });

  it('RESP-05 counts the input of a response, of a model that the caller could call', async () => {
    const body = { model: 'simulator/chat', input: 'Hello there, how are you?' };
    const path = `${base}/responses/input_tokens`;
    expect(await count(path, body)).toEqual({
      status: 200,
      object: 'response.input_tokens',
      input_tokens: expect.any(Number) as number,
    });
    expect(await count(path, { ...body, model: 'simulator/none' })).toMatchObject({ status: 404 });
    expect(await count(path, { ...body, previous_response_id: 'resp_none' })).toMatchObject({ status: 404 });
    expect((await edge.post(body, { path, key: null })).status).toBe(401);
    expect((await edge.post('{', { path })).status).toBe(422);
    expect(edge.upstream()).toEqual([]);
  });

  it('CHAT-22 counts the template with the rest', async () => {
    const path = `${base}/messages/count_tokens`;
    const body = { model: 'simulator/claude', messages };
    const plain = await count(path, body);
    const system = [{ role: 'system' as const, content: 'y'.repeat(4_000) }];
    edge.stored.templates.set('long', {
      messages: system,
      variables: [],
      defaults: {},
      tools: null,
      response_format: null,
    });
    const composed = await count(path, { ...body, template: 'long' });
    expect(composed.status).toBe(200);
    expect(composed.input_tokens).toBeGreaterThan((plain.input_tokens as number) + 500);
  });
});
