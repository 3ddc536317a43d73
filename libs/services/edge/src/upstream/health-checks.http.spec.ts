import { PROVIDERS } from '@gateway/providers';
import { eventually, startUpstreamDouble, type ScriptedAnswer, type UpstreamDouble } from '@gateway/testing';
import { ProviderDirectory } from '../config/provider-directory.js';
import { hello, startEdge, testModel, type EdgeUnderTest, type Json } from '../edge.fixture.js';
import { HealthChecks } from './health-checks.js';

const SERVED: ScriptedAnswer = {
  json: {
    ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'gpt' },
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 },
  },
};

let health: ScriptedAnswer;
let server: UpstreamDouble;
let edge: EdgeUnderTest;
beforeAll(async () => {
  health = { status: 200, body: 'well' };
  server = await startUpstreamDouble(({ path }) => (path.startsWith('/health') ? health : SERVED));
  const provider = PROVIDERS.find(({ slug }) => slug === 'openai')!;
  const access = {
    baseUrl: `${server.url}/v1`,
    credential: { kind: 'api_key' as const, key: 'sk-ours' },
    added: { headers: { 'x-team': 'platform' }, query: {} },
  };
  const healthUrl = `${server.url}/health?deep=1`;
  edge = await startEdge({
    upstreams: () => Promise.resolve({ openai: { provider, access, healthUrl } }),
  });
  const own = { provider: 'openai', upstreamModel: 'gpt' };
  edge.serveModels(
    testModel('acme/alone', [own]),
    testModel('acme/two', [own, { provider: 'simulated', upstreamModel: 'sim-chat' }]),
  );
});
afterAll(async () => {
  await edge?.close();
  await server?.close();
});

const post = (model: string): Promise<Response> => edge.post(hello(model));
const state = (): string | undefined => edge.app.app.get(HealthChecks).states.get('openai');
/** Asks without waiting for the ten seconds between two looks. */
const ask = (): Promise<void> => {
  const [checked] = edge.app.app.get(ProviderDirectory).health;
  return edge.app.app.get(HealthChecks).check(checked);
};

describe('a provider with a health path', () => {
  it('serves while it says that it is well, and is asked without its key', async () => {
    await eventually(() => state() === 'ok');
    expect((await post('acme/alone')).status).toBe(200);
    const [{ headers }] = server.seen.filter(({ path }) => path.startsWith('/health'));
    expect([headers['x-team'], headers.authorization]).toEqual(['platform', undefined]);
  });

  it.each<[string, ScriptedAnswer]>([
    ['says that it is not well', { status: 503, body: 'down' }],
    ['ends the connection', { fault: 'reset' }],
  ])(
    'leaves the plans at the third time it %s, and is back with the first good answer',
    async (_, answer) => {
      health = answer;
      await ask();
      await ask();
      expect([(await post('acme/alone')).status, state()]).toEqual([200, 'ok']);
      await ask();
      expect(state()).toBe('failing');
      const refused = await post('acme/alone');
      const { error } = (await refused.json()) as { error: Json };
      expect([refused.status, error.code, refused.headers.get('x-should-retry')]).toEqual([
        503,
        'provider_not_available',
        'true',
      ]);
      expect(error.message).toContain('its health check fails');
      const other = await post('acme/two');
      expect([other.status, (await edge.record(other)).provider]).toEqual([200, 'simulated']);
      health = { status: 204 };
      await ask();
      expect([(await post('acme/alone')).status, state()]).toEqual([200, 'ok']);
    },
  );
});
