import { testModel, type Json } from '../../edge.fixture.js';
import { tenantOf } from '../../tenant.fixture.js';
import { first, second, started } from './upstreams.fixture.js';

const edge = tenantOf(started, 'anthropic_flags');

const OWN = 'anthropic/claude-own';
const CLOUD = 'anthropic/claude-cloud';
const OTHER = 'openai/gpt-other';
const path = '/v1/messages';
const KNOWN = 'effort-2025-11-24';
const NOVEL = 'novel-feature-2027-02-03';
const flagged = { 'anthropic-beta': `${KNOWN},${NOVEL}` };
const MESSAGE = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude',
  content: [{ type: 'text', text: 'Hello' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 7, output_tokens: 3 },
};
const CHAT = {
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
};

let words = 0;
/** A request with words of its own, by which it is found at the provider. */
function asking(model: string, more: Json = {}): { body: Json; said: string } {
  const said = `flags ${(words += 1)}.`;
  return { said, body: { model, max_tokens: 50, messages: [{ role: 'user', content: said }], ...more } };
}

describe('parts of a messages request that are newer than this release', () => {
  beforeAll(() => {
    first.answer = ({ path: at }) => ({ json: at.includes('rawPredict') ? MESSAGE : CHAT });
    second.answer = () => ({ json: MESSAGE });
    edge.serveModels(
      testModel(OWN, [{ provider: 'anthropic', upstreamModel: 'claude', dialect: 'messages' }]),
      testModel(CLOUD, [{ provider: 'google-vertex', upstreamModel: 'claude', dialect: 'messages' }]),
      testModel(OTHER, [{ provider: 'openai', upstreamModel: 'gpt', dialect: 'chat' }]),
    );
  });

  it('MSG-05 reach Anthropic as they are: flags and members', async () => {
    const { body, said } = asking(OWN, { novel: { a: '2.50' } });
    const answer = await edge.post(body, { path, headers: flagged });
    expect([answer.status, answer.headers.get('x-service-ignored-params')]).toEqual([200, null]);
    const sent = second.seen.find((request) => request.body.toString().includes(said));
    expect(sent?.headers['anthropic-beta']).toBe(`${KNOWN},${NOVEL}`);
    expect(JSON.parse(String(sent?.body))).toMatchObject({ novel: { a: '2.50' } });
  });

  it.each([CLOUD, OTHER])('MSG-05 are left out and named where %s serves', async (model) => {
    const { body, said } = asking(model, { novel: 1 });
    const answer = await edge.post(body, { path, headers: flagged });
    const named = answer.headers.get('x-service-ignored-params')?.split(', ').sort();
    expect([answer.status, named]).toEqual([200, [`anthropic-beta: ${NOVEL}`, 'novel']]);
    const sent = first.seen.find((request) => request.body.toString().includes(said));
    expect(String(sent?.headers['anthropic-beta'])).not.toContain('novel');
    expect(JSON.parse(String(sent?.body))).not.toHaveProperty('novel');
  });

  it.each([false, true])(
    'a new counter is kept by its name and billed at nothing, stream %s',
    async (stream) => {
      const usage = { ...MESSAGE.usage, server_tool_use: { novel_requests: 2 } };
      const { content, ...message } = MESSAGE;
      const events: Json[] = [
        { type: 'message_start', message: { ...message, content: [], usage: MESSAGE.usage } },
        { type: 'content_block_start', index: 0, content_block: content[0] },
        { type: 'content_block_stop', index: 0 },
        { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage },
        { type: 'message_stop' },
      ];
      const frames = events.map(
        (event) => `event: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`,
      );
      second.answer = () =>
        stream
          ? { headers: { 'content-type': 'text/event-stream' }, body: frames.join('') }
          : { json: { ...MESSAGE, usage } };
      const answer = await edge.post(asking(OWN, { stream }).body, { path, headers: flagged });
      expect(await answer.text()).toContain('novel_requests');
      second.answer = () => ({ json: MESSAGE });
      expect(await edge.record(answer)).toMatchObject({
        usage: {
          prompt_tokens: 7,
          completion_tokens: 3,
          unpriced_counters: { 'server_tool_use.novel_requests': 2 },
        },
        usage_estimated: false,
      });
      // What may be lost by it is to be seen before an invoice tells.
      expect(await (await fetch(`${edge.url}/metrics`)).text()).toMatch(
        /gateway_unpriced_usage_total\{(?=[^}]*provider="anthropic")[^}]*counter="server_tool_use\.novel_requests"/,
      );
    },
  );

  it('a malformed flag is named and sent to nobody, and a thread is 400', async () => {
    const { body, said } = asking(OWN);
    const answer = await edge.post(body, { path, headers: { 'anthropic-beta': 'two words' } });
    expect([answer.status, answer.headers.get('x-service-ignored-params')]).toEqual([
      200,
      'anthropic-beta: two?words',
    ]);
    const sent = second.seen.find((request) => request.body.toString().includes(said));
    expect(sent?.headers).not.toHaveProperty('anthropic-beta');
    const threads = { 'anthropic-beta': 'message-threads-2026-10-01' };
    const refused = await edge.post(asking(OWN).body, { path, headers: threads });
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({
      error: { details: { error_code: 'thread_unsupported_request' } },
    });
  });

  it('400 naming the member with the id of an object at Anthropic, which may be another tenant’s', async () => {
    const novel = { from: [{ id: 'thing_01AbCdEfGhIjKlMnOp' }] };
    const { body, said } = asking(OWN, { novel });
    const refused = await edge.post(body, { path });
    expect(refused.status).toBe(400);
    expect(JSON.stringify(await refused.json())).toContain('novel');
    expect(second.seen.some((request) => request.body.toString().includes(said))).toBe(false);
    // Elsewhere it is sent to nobody.
    expect((await edge.post(asking(OTHER, { novel }).body, { path })).status).toBe(200);
  });
});
