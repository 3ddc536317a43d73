import { testModel, type Json } from '../../edge.fixture.js';
import { tenantOf } from '../../tenant.fixture.js';
import { first, started } from './upstreams.fixture.js';

const edge = tenantOf(started, 'vertex_claude');

const MODEL = 'anthropic/claude-somewhere';
const PATH = '/v1/publishers/anthropic/models/claude-somewhere@20260101';
const USAGE = { input_tokens: 7, output_tokens: 3 };
const MESSAGE = { id: 'msg_vrtx_1', type: 'message', role: 'assistant', model: 'claude-somewhere' };
const EVENTS: Json[] = [
  { type: 'vertex_event', usage: { input_tokens: 1 } },
  {
    type: 'message_start',
    message: { ...MESSAGE, content: [], usage: { input_tokens: 7, output_tokens: 1 } },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: USAGE },
  { type: 'vertex_event' },
  { type: 'message_stop' },
];
const STREAM = EVENTS.map((event) => `event: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`);
const WHOLE = {
  ...MESSAGE,
  content: [{ type: 'text', text: 'Hello' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: USAGE,
};

/** Claude at Google: what it is asked stands in the path, and the body names a version of Google's own. */
describe('Claude on Vertex AI', () => {
  beforeAll(() => {
    first.answer = ({ path }) =>
      path.endsWith(':streamRawPredict')
        ? { headers: { 'content-type': 'text/event-stream; charset=utf-8' }, body: STREAM.join('') }
        : { json: WHOLE };
    const route = {
      provider: 'google-vertex',
      upstreamModel: 'claude-somewhere@20260101',
      dialect: 'messages',
    };
    edge.serveModels(testModel(MODEL, [route]));
  });

  it.each([
    ['chat/completions', false],
    ['chat/completions', true],
    ['messages', false],
    ['messages', true],
    ['responses', true],
  ])('answers %s, stream %s, with what it said and counted', async (endpoint, stream) => {
    const words = `Hi from ${endpoint} ${stream}`;
    const text = { messages: [{ role: 'user', content: words }], max_tokens: 100 };
    const input = { input: words, max_output_tokens: 100, store: false };
    const body = { model: MODEL, stream, ...(endpoint === 'responses' ? input : text) };
    const answer = await edge.post(body, { path: `/v1/${endpoint}` });
    const answered = await answer.text();
    expect([answer.status, answered]).toEqual([200, expect.stringContaining('Hello')]);
    expect(answered).not.toContain('vertex_event');
    expect(await edge.record(answer)).toMatchObject({
      model: MODEL,
      outcome: 'served',
      usage: { prompt_tokens: 7, completion_tokens: 3 },
      usage_estimated: false,
    });
    const sent = first.seen.find((request) => request.body.toString().includes(words));
    expect(sent?.path).toBe(`${PATH}:${stream ? 'streamRawPredict' : 'rawPredict'}`);
    expect(sent?.headers).not.toHaveProperty('anthropic-version');
    const asked = JSON.parse(String(sent?.body)) as Json;
    expect(asked).toMatchObject({ anthropic_version: 'vertex-2023-10-16', max_tokens: 100 });
    expect(asked).not.toHaveProperty('model');
  });
});
