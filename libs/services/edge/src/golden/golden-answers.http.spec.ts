import { readFileSync } from 'node:fs';
import { goldenAnswer, goldenAnswers, GOLDEN_VERSIONS } from '@gateway/testing';
import {
  keyScope,
  startEdge,
  testModel,
  testPrincipal,
  type EdgeUnderTest,
  type Json,
} from '../edge.fixture.js';

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

/** Untyped as JSON.parse answers it: what it holds is asserted. */
type Document = ReturnType<JSON['parse']>;

const document: Document = JSON.parse(readFileSync('docs/openapi.json', 'utf8'));
/** Headers of HTTP, of its security and of what stands between: they belong to no operation. */
const OF_HTTP =
  /^(?:access-control-.*|cache-control|connection|content-(?:length|type|security-policy)|cross-origin-.*|date|keep-alive|referrer-policy|strict-transport-security|transfer-encoding|vary|x-(?:accel-buffering|content-type-options|frame-options))$/;
/** No version is deprecated today. */
const NEVER_SERVED = ['deprecation', 'link', 'sunset'];
/** Names of the headers that were served, by what they were served with: an endpoint and the class of its status. */
const served = new Map<string, Set<string>>();

function classOf(status: number): string {
  return status < 300 ? '200' : `${Math.floor(status / 100)}XX`;
}

function note(path: string, { status, headers }: Response): void {
  const name = `${path} ${classOf(status)}`;
  const names = [...headers.keys()].filter((header) => !OF_HTTP.test(header));
  served.set(name, new Set([...(served.get(name) ?? []), ...names]));
}

function written(exchange: string): string[] {
  const [path, status] = exchange.split(' ');
  return Object.keys(document.paths[path].post.responses[status].headers).map((name) => name.toLowerCase());
}

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
    note(path, answer);
    const answered = await goldenAnswer(answer);
    const kept = golden.of(name, answered);
    // Members may be added, so the files hold the least that is answered.
    expect(kept).toBeDefined();
    expect(answered).toMatchObject(kept ?? {});
  });
});

describe('R6 the headers of the recorded answers and docs/openapi.json', () => {
  it('agree: what is served is written, and what is written is served', async () => {
    const path = '/v1/chat/completions';
    const body = { model: 'simulator/chat', messages: hello };
    const limits = [keyScope('key_headers', { rpm: 3 })];
    const own = edge.addKey(testPrincipal('key_headers', { limits, responseCache: { ttlMs: 60_000 } }));
    const exchanges: [more: Json, key: string][] = [
      [{}, own],
      [{}, own],
      [{ top_k: 4, invented: 1 }, own],
      [{}, own],
      [{}, 'rsk_none'],
    ];
    for (const [more, of] of exchanges) {
      const answer = await edge.post({ ...body, ...more }, { path, key: of });
      note(path, answer);
      await answer.text();
    }
    const neverWritten = [...served].flatMap(([exchange, names]) =>
      [...names].filter((name) => !written(exchange).includes(name)).map((name) => `${exchange}: ${name}`),
    );
    expect(neverWritten).toEqual([]);
    const all = new Set([...served.values()].flatMap((names) => [...names]));
    const neverServed = new Set([...served.keys()].flatMap(written).filter((name) => !all.has(name)));
    expect([...neverServed].sort()).toEqual(NEVER_SERVED);
    // Answers of responses are not given again.
    expect(written('/v1/responses 200')).not.toContain('x-cache');
  });
});
