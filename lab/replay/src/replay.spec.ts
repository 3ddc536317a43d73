import { startUpstreamDouble, type UpstreamDouble } from '@gateway/testing';
import type { Exchange } from './exchange.js';
import { startGateway, type Gateway } from './gateway.js';
import { replayExchange } from './recordings.js';

let upstream: UpstreamDouble;
let gateway: Gateway;
beforeAll(async () => {
  upstream = await startUpstreamDouble();
  gateway = await startGateway(upstream.url);
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

function exchange(
  host: string,
  path: string,
  request: object,
  answer: { status?: number; type?: string; body: string },
): Exchange {
  const { status = 200, type = 'application/json', body } = answer;
  return {
    name: path,
    host,
    request: { method: 'POST', path, json: { ...request } },
    response: { status, headers: { 'content-type': type }, body: Buffer.from(body) },
  };
}

const chat = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'sim',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12, cost: 0.3 },
};
const messages = [{ role: 'user', content: 'Hello' }];
const gemini = [
  { candidates: [{ content: { role: 'model', parts: [{ text: 'Grüß ' }] } }] },
  {
    candidates: [{ content: { role: 'model', parts: [{ text: 'Gott' }] }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 3, totalTokenCount: 8 },
  },
];
const contents = [{ role: 'user', parts: [{ text: 'Hello' }] }];

describe('a replay', () => {
  it.each([
    [
      'chat',
      exchange(
        'api.groq.com',
        '/openai/v1/chat/completions',
        { model: 'sim', messages },
        { body: JSON.stringify(chat) },
      ),
    ],
    [
      'gemini',
      exchange(
        'generativelanguage.googleapis.com',
        '/v1beta/models/sim:streamGenerateContent?alt=sse',
        { contents },
        {
          type: 'text/event-stream',
          body: gemini.map((chunk) => `data: ${JSON.stringify(chunk)}\r\n\r\n`).join(''),
        },
      ),
    ],
    [
      'a refusal',
      exchange(
        'api.cohere.com',
        '/v2/chat',
        { model: 'sim', messages },
        { status: 401, body: '{"message":"invalid api token"}' },
      ),
    ],
  ])('holds what %s answers, through every caller’s format and every cut', async (name, recorded) => {
    const verdict = await replayExchange(recorded, name.length, upstream, gateway);
    expect(verdict).toEqual({ kind: 'held', name: recorded.request.path });
  });

  it('names what it cannot send', async () => {
    const recorded = exchange('api.openai.com', '/v1/vector_stores', {}, { body: '{}' });
    expect(await replayExchange(recorded, 8, upstream, gateway)).toMatchObject({ kind: 'not sent' });
  });

  it('fails an answer that the gateway does not understand', async () => {
    const body = JSON.stringify({ ...chat, choices: [] });
    const recorded = exchange(
      'api.groq.com',
      '/openai/v1/chat/completions',
      { model: 'sim', messages },
      { body },
    );
    expect(await replayExchange(recorded, 9, upstream, gateway)).toMatchObject({ kind: 'failed' });
  });
});
