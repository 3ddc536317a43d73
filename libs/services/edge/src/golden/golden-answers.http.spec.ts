import { goldenAnswer, goldenAnswers, GOLDEN_VERSIONS } from '@gateway/testing';
import { startEdge, testModel, testPrincipal, type EdgeUnderTest, type Json } from '../edge.fixture.js';

const hello = [{ role: 'user', content: 'Hello there' }];
const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const weather = { type: 'function', function: { name: 'get_weather', parameters } };

const CASES: Record<string, [path: string, body: Json]> = {
  chat: ['/v1/chat/completions', { model: 'simulator/chat', messages: hello }],
  'chat-stream': ['/v1/chat/completions', { model: 'simulator/chat', messages: hello, stream: true }],
  'chat-tools': ['/v1/chat/completions', { model: 'golden/tools', messages: hello, tools: [weather] }],
  'chat-over-messages': ['/v1/chat/completions', { model: 'simulator/claude', messages: hello }],
  'chat-unknown-model': ['/v1/chat/completions', { model: 'golden/none', messages: hello }],
  'chat-invalid': ['/v1/chat/completions', { model: 'simulator/chat', messages: 'Hello' }],
  'chat-upstream-failure': ['/v1/chat/completions', { model: 'golden/broken', messages: hello }],
  messages: ['/v1/messages', { model: 'simulator/claude', max_tokens: 64, messages: hello }],
  'messages-stream': [
    '/v1/messages',
    { model: 'simulator/claude', max_tokens: 64, messages: hello, stream: true },
  ],
  'messages-over-chat': ['/v1/messages', { model: 'simulator/chat', max_tokens: 64, messages: hello }],
  'messages-invalid': ['/v1/messages', { model: 'simulator/claude', messages: hello }],
  'count-tokens': ['/v1/messages/count_tokens', { model: 'simulator/claude', messages: hello }],
  responses: ['/v1/responses', { model: 'simulator/chat', input: 'Hello there', store: false }],
  'responses-stream': [
    '/v1/responses',
    { model: 'simulator/chat', input: 'Hello there', store: false, stream: true },
  ],
  'responses-over-messages': ['/v1/responses', { model: 'simulator/claude', input: 'Hello', store: false }],
  'responses-invalid': ['/v1/responses', { model: 'simulator/chat', input: 7 }],
  'input-tokens': ['/v1/responses/input_tokens', { model: 'simulator/chat', input: 'Hello there' }],
  embeddings: ['/v1/embeddings', { model: 'golden/embedding', input: ['a', 'b'], dimensions: 4 }],
  'embeddings-invalid': ['/v1/embeddings', { model: 'golden/embedding' }],
  moderations: ['/v1/moderations', { model: 'golden/moderation', input: 'Hello there' }],
  rerank: ['/v1/rerank', { model: 'golden/rerank', query: 'fox', documents: ['A door', 'A fox'] }],
};

let edge: EdgeUnderTest;
let key: string;
beforeAll(async () => {
  const route = (upstreamModel: string, dialect = 'chat'): Parameters<typeof testModel>[1] => [
    { provider: 'simulated', upstreamModel, dialect },
  ];
  edge = await startEdge({
    models: [
      testModel('golden/tools', route('sim-chat-tools')),
      testModel('golden/broken', route('sim-chat:error=500')),
      testModel('golden/embedding', route('sim-embedding', 'embeddings'), {
        model_type: 'embedding',
        supports_embeddings: true,
      }),
      testModel('golden/moderation', route('sim-moderation', 'moderations')),
      testModel('golden/rerank', route('sim-rerank', 'cohere-rerank'), { output_modalities: ['rerank'] }),
    ],
  });
  // How often is tried again depends on what was asked before.
  key = edge.addKey(testPrincipal('key_golden', { routingPolicy: { max_retries: 0 } }));
});
afterAll(() => edge.close());

describe.each(GOLDEN_VERSIONS)('the golden answers of %s', (version) => {
  const golden = goldenAnswers('libs/services/edge/src/golden', version);
  afterAll(() => golden.save());

  it.each(Object.entries(CASES))('VER-23 %s', async (name, [path, body]) => {
    const answer = await edge.post(body, { path, key, headers: { 'x-service-version': version } });
    const answered = await goldenAnswer(answer);
    const kept = golden.of(name, answered);
    // Members may be added, so the files hold the least that is answered.
    expect(kept).toBeDefined();
    expect(answered).toMatchObject(kept ?? {});
  });
});
