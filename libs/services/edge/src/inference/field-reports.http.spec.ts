import type { Route } from '@gateway/contracts';
import { catalogueModel, startUpstreamDouble, type UpstreamDouble } from '@gateway/testing';
import { startEdge, testPrincipal, type EdgeUnderTest, type Json } from '../edge.fixture.js';

const BIG = '{"id":1234567890123456789,"b":1,"10":2,"rate":1.0}';
const CHOICE = {
  type: 'object',
  anyOf: [
    { type: 'object', properties: { content: { type: 'string' } } },
    { type: 'object', properties: { source_url: { type: 'string' } } },
  ],
};
const user = { role: 'user', content: 'x' };
const completion = (message: object, choice: object = {}): Json => ({
  ...{ id: 'c1', object: 'chat.completion', created: 1, model: 'm' },
  choices: [
    { index: 0, message: { role: 'assistant', content: null, ...message }, finish_reason: 'stop', ...choice },
  ],
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
});
const message = (content: object[]): Json => ({
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content },
  ...{ stop_reason: 'tool_use', stop_sequence: null, usage: { input_tokens: 3, output_tokens: 2 } },
});

let provider: UpstreamDouble;
let edge: EdgeUnderTest;
let key: string;
beforeAll(async () => {
  provider = await startUpstreamDouble();
  const { url } = provider;
  edge = await startEdge({
    upstreams: async () => ({ openai: url, anthropic: url, google: url, vllm: url }),
  });
  const route = (slug: string, dialect: string): Partial<Route> => ({
    ...{ provider: slug, upstreamModel: 'm', dialect },
    price: { prompt_usd_per_1m: '1', completion_usd_per_1m: '2' },
  });
  for (const [id, slug, dialect] of [
    ['t/chat', 'openai', 'chat'],
    ['t/responses', 'openai', 'responses'],
    ['t/claude', 'anthropic', 'messages'],
    ['t/gemini', 'google', 'gemini'],
    ['t/vllm', 'vllm', 'chat'],
  ])
    edge.serveModels(catalogueModel(id, [route(slug, dialect)]));
  key = edge.addKey(testPrincipal('key_reports', { routingPolicy: { max_retries: 0 } }));
});
afterAll(async () => {
  await edge.close();
  await provider.close();
});

/** Returns the answer and what the provider got. */
async function ask(
  path: string,
  body: Json,
  answer: string,
): Promise<{ status: number; text: string; sent: string }> {
  provider.seen.length = 0;
  provider.answer = () => ({ headers: { 'content-type': 'application/json' }, body: answer });
  const response = await edge.post(body, { path: `/v1/${path}`, key });
  const text = await response.text();
  return { status: response.status, text, sent: provider.seen.at(-1)?.body.toString() ?? '' };
}

describe('what people reported of such gateways, through the front door', () => {
  it('F1 arguments of a chat history reach Claude with every digit, and its own answer keeps them', async () => {
    const call = { id: 'call_1', type: 'function', function: { name: 'look', arguments: BIG } };
    const messages = [
      user,
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call_1', content: BIG },
    ];
    const answer = JSON.stringify(
      message([{ type: 'tool_use', id: 'toolu_1', name: 'look', input: 4711 }]),
    ).replace('4711', BIG);
    const chat = await ask('chat/completions', { model: 't/claude', messages, max_tokens: 9 }, answer);
    expect(chat.sent).toContain(`"input":${BIG}`);
    expect(chat.text).toContain(JSON.stringify(BIG));
    const own = await ask('messages', { model: 't/claude', messages: [user], max_tokens: 9 }, answer);
    expect(own.text).toContain(`"input":${BIG}`);
    const gemini = await ask('chat/completions', { model: 't/gemini', messages, max_tokens: 9 }, '{}');
    expect(gemini.sent).toContain(`"args":${BIG}`);
  });

  it.each(['chat/completions', 'messages', 'responses'])(
    'F2 two parallel calls with one id are two by %s',
    async (path) => {
      const tool_calls = ['A', 'B'].map((city) => ({
        ...{ id: 'call_1', type: 'function' },
        function: { name: 'look', arguments: JSON.stringify({ city }) },
      }));
      const body = path === 'responses' ? { input: 'x', store: false } : { messages: [user], max_tokens: 9 };
      const answer = JSON.stringify(completion({ tool_calls }, { finish_reason: 'tool_calls' }));
      const { text } = await ask(path, { model: 't/chat', ...body }, answer);
      const ids = [...text.matchAll(/"(?:call_id|id)":"((?:toolu_|call_)[^"]+)"/g)].map(([, id]) => id);
      expect(new Set(ids).size).toBe(2);
      for (const city of ['A', 'B']) expect(text.replaceAll('\\', '')).toContain(`{"city":"${city}"}`);
    },
  );

  it('F3 a tool whose schema is a choice reaches Claude and Gemini as one object', async () => {
    const tools = [{ type: 'function', function: { name: 'attach', parameters: CHOICE } }];
    for (const [model, answer] of [
      ['t/claude', JSON.stringify(message([]))],
      ['t/gemini', '{}'],
    ]) {
      const { sent } = await ask(
        'chat/completions',
        { model, messages: [user], tools, max_tokens: 9 },
        answer,
      );
      expect(sent).not.toContain('anyOf');
      for (const name of ['"content":{"type":"string"}', '"source_url":{"type":"string"}'])
        expect(sent).toContain(name);
    }
  });

  it('F5 a probe of one token asks a responses model for 16', async () => {
    for (const [path, member] of [
      ['messages', 'max_tokens'],
      ['chat/completions', 'max_completion_tokens'],
    ]) {
      const { sent } = await ask(path, { model: 't/responses', messages: [user], [member]: 1 }, '{}');
      expect(JSON.parse(sent)).toMatchObject({ max_output_tokens: 16 });
    }
  });

  it('F6 the cache key, its retention and the verbosity of responses reach a chat model', async () => {
    const hints = { prompt_cache_key: 'sess-1', prompt_cache_retention: '24h' };
    const body = { model: 't/chat', input: 'x', store: false, ...hints, text: { verbosity: 'low' } };
    const { sent } = await ask('responses', body, JSON.stringify(completion({ content: 'y' })));
    expect(JSON.parse(sent)).toMatchObject({ ...hints, verbosity: 'low' });
  });

  it('F7 a text among the parts is 422 with its place, and nothing is sent', async () => {
    const input = [{ role: 'user', content: ['hello'] }];
    const { status, text, sent } = await ask('responses', { model: 't/chat', input }, '{}');
    expect([status, sent]).toEqual([422, '']);
    expect(text).toContain('["input",0,"content",0]');
  });

  it('F8 the stop sequence that matched at a vLLM is told', async () => {
    const body = { model: 't/vllm', messages: [user], max_tokens: 9, stop_sequences: ['END'] };
    for (const member of ['stop_reason', 'matched_stop']) {
      const { text } = await ask(
        'messages',
        body,
        JSON.stringify(completion({ content: 'y' }, { [member]: 'END' })),
      );
      expect(JSON.parse(text)).toMatchObject({ stop_reason: 'stop_sequence', stop_sequence: 'END' });
    }
    const { text } = await ask(
      'messages',
      body,
      JSON.stringify(completion({ content: 'y' }, { stop_reason: 2 })),
    );
    expect(JSON.parse(text)).toMatchObject({ stop_reason: 'end_turn', stop_sequence: null });
  });

  it('F9 earlier reasoning goes back to a vLLM', async () => {
    const call = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } };
    const messages = [
      user,
      { role: 'assistant', content: null, reasoning_content: 'thought-4711', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call_1', content: 'z' },
    ];
    const { sent } = await ask(
      'chat/completions',
      { model: 't/vllm', messages },
      JSON.stringify(completion({ content: 'y' })),
    );
    expect(sent).toMatch(/"(?:reasoning_content|reasoning)":"thought-4711"/);
  });
});
