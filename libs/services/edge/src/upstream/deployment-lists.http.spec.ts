import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RouteHealth } from '@gateway/contracts';
import {
  eventually,
  startUpstreamDouble,
  type RouteHealthDouble,
  type ScriptedAnswer,
  type UpstreamDouble,
} from '@gateway/testing';
import { PlatformPools } from '../config/platform-pools.js';
import { enabledProviders } from '../config/edge.config.js';
import {
  hello,
  startEdge,
  testModel,
  testPrincipal,
  type EdgeUnderTest,
  type Json,
} from '../edge.fixture.js';
import { DeploymentLists } from './deployment-lists.js';
import { PoolSync } from './pool-sync.js';
import { RouteOffer } from './route-offer.js';

const CHAT: ScriptedAnswer = {
  json: {
    ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'theirs' },
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 },
  },
};
const MESSAGE: ScriptedAnswer = {
  json: {
    ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'theirs', stop_reason: 'end_turn' },
    content: [{ type: 'text', text: 'Hi' }],
    usage: { input_tokens: 10, output_tokens: 10 },
  },
};
const LIST = '/openai/deployments?api-version=2023-03-15-preview';
const deployment = (id: string, model: string): Json => ({
  ...{ object: 'deployment', id, model, status: 'succeeded', owner: 'organization-owner' },
  scale_settings: { scale_type: 'standard' },
});
const listOf = (...data: Json[]): ScriptedAnswer => ({ json: { object: 'list', data } });
const OURS = listOf(deployment('their-gpt', 'gpt-5.4'), deployment('team-five', 'gpt-5.5'));

/** Answer to the list, by the key that asks. */
let lists: Record<string, ScriptedAnswer>;
let upstream: UpstreamDouble;
let edge: EdgeUnderTest;

/** An edge with a resource of Azure in its environment, as a gateway.yaml describes it. */
async function edgeWith(entry: string): Promise<EdgeUnderTest> {
  const folder = mkdtempSync(join(tmpdir(), 'deployments-'));
  const file = join(folder, 'gateway.yaml');
  writeFileSync(file, `providers: [{ slug: azure, ${entry} }]`);
  const azure = enabledProviders({
    ...{ GATEWAY_CONFIG: file, AZURE_OPENAI_API_KEY: 'own-key', AZURE_OPENAI_BASE_URL: upstream.url },
  }).get('azure')!;
  rmSync(folder, { recursive: true });
  const made = await startEdge({ upstreams: () => Promise.resolve({ azure }) });
  made.serveModels(
    ...['gpt-5.4', 'gpt-5.5', 'gpt-6'].map((name) =>
      testModel(`acme/${name}`, [{ provider: 'azure', upstreamModel: name, dialect: 'chat' }]),
    ),
    testModel('acme/claude', [{ provider: 'azure', upstreamModel: 'claude-sonnet-5', dialect: 'messages' }]),
    testModel('acme/two', [
      { provider: 'azure', upstreamModel: 'gpt-6', dialect: 'chat' },
      { provider: 'simulated', upstreamModel: 'sim-chat', price: '9' },
    ]),
  );
  return made;
}

beforeAll(async () => {
  lists = { 'own-key': OURS };
  upstream = await startUpstreamDouble(({ path, headers }) => {
    if (path === LIST) return lists[String(headers['api-key'])] ?? { status: 404 };
    return path.startsWith('/anthropic/') ? MESSAGE : CHAT;
  });
  edge = await edgeWith('deployments: { gpt-5.4: written-gpt }');
});
afterAll(async () => {
  await edge?.close();
  await upstream?.close();
});
beforeEach(() => {
  lists = { 'own-key': OURS };
  upstream.seen.length = 0;
});

const post = (model: string): Promise<Response> => edge.post(hello(model));
/** Keys and models with which the provider was called. */
const called = (): string[] =>
  upstream.seen
    .filter(({ path }) => path !== LIST)
    .map(({ headers, body }) => {
      const { model } = JSON.parse(String(body)) as { model: string };
      return `${String(headers['api-key'])} ${model}`;
    });
/** Asks each resource once more, without the ten minutes. */
const readAgain = async (): Promise<void> => {
  const lookups = edge.app.app.get(DeploymentLists);
  await Promise.all(
    edge.app.app
      .get(PlatformPools)
      .asked()
      .map((asked) => lookups.read(asked)),
  );
};

describe('the list of deployments of an Azure resource', () => {
  it('ROUTE-06 is read at the start, completes what is written, and names no deployment to callers', async () => {
    for (const model of ['acme/gpt-5.4', 'acme/gpt-5.5']) {
      const answer = await post(model);
      const text = (await answer.clone().text()) + JSON.stringify(await edge.record(answer));
      expect(answer.status).toBe(200);
      expect(text).not.toMatch(/written-gpt|team-five|their/);
    }
    expect(called()).toEqual(['own-key written-gpt', 'own-key team-five']);
  });

  it('ROUTE-06 leaves a model without a route where neither has it, and the next route serves', async () => {
    const refused = await post('acme/gpt-6');
    const { error } = (await refused.json()) as { error: Json };
    expect([refused.status, error.code, error.message, refused.headers.get('x-should-retry')]).toEqual([
      503,
      'provider_not_available',
      'No credential here serves acme/gpt-6.',
      'false',
    ]);
    const other = await post('acme/two');
    expect([other.status, (await edge.record(other)).provider, called()]).toEqual([200, 'simulated', []]);
  });

  it('ROUTE-06 says nothing of Claude where it names none, and is right of it where it names one', async () => {
    expect((await post('acme/claude')).status).toBe(200);
    lists['own-key'] = listOf(deployment('their-gpt', 'gpt-5.4'), deployment('writer', 'claude-haiku-5'));
    await readAgain();
    expect((await post('acme/claude')).status).toBe(503);
    lists['own-key'] = listOf(deployment('writer', 'claude-sonnet-5'));
    await readAgain();
    expect((await post('acme/claude')).status).toBe(200);
    expect(called()).toEqual(['own-key claude-sonnet-5', 'own-key writer']);
    lists['own-key'] = OURS;
    await readAgain();
  });

  it('ROUTE-06 is reported at once: the catalogue lists no model that the resource does not serve', async () => {
    const reports = edge.app.app.get<RouteHealthDouble>(RouteHealth);
    const reported = (): unknown => reports.credentials.at(-1)?.unserved[0];
    const azure = (): unknown => edge.app.app.get(RouteOffer).now();
    const unserved = ['acme/gpt-6 azure gpt-6', 'acme/two azure gpt-6'];
    expect(azure()).toMatchObject({ providers: expect.arrayContaining(['azure']), unserved });
    lists['own-key'] = listOf(deployment('six', 'gpt-6'));
    await readAgain();
    const others = ['acme/gpt-5.5 azure gpt-5.5'];
    expect(azure()).toMatchObject({ unserved: others });
    await eventually(() => reported() === others[0]);
    lists['own-key'] = { status: 404 };
    await readAgain();
    expect(azure()).toMatchObject({ unserved: [] });
    lists['own-key'] = OURS;
    await readAgain();
  });

  it.each<[string, ScriptedAnswer]>([
    ['is away', { status: 503, body: 'down' }],
    ['asks for fewer calls', { status: 429, body: '' }],
    ['ends the connection', { fault: 'reset' }],
    ['sends 10 MB', { body: Buffer.alloc(10_000_000, 0x20) }],
    ['sends no JSON', { body: '{"object":"list","data":[' }],
    ['sends something else', { json: { object: 'list', data: [{ id: 'gpt-6', object: 'model' }] } }],
    ['leads elsewhere', { status: 302, headers: { location: '/elsewhere' } }],
  ])('ROUTE-06 stays as it was while the resource %s', async (_what, answer) => {
    lists['own-key'] = answer;
    await readAgain();
    expect([(await post('acme/gpt-5.5')).status, (await post('acme/gpt-6')).status]).toEqual([200, 503]);
    expect(called()).toEqual(['own-key team-five']);
    expect(upstream.seen.map(({ path }) => path)).not.toContain('/elsewhere');
  });

  it.each([400, 401, 403, 404])(
    'ROUTE-06 is none where it may not be read (%i): models are called by their own names',
    async (status) => {
      lists['own-key'] = { status, json: { error: { code: String(status) } } };
      await readAgain();
      for (const model of ['acme/gpt-5.4', 'acme/gpt-5.5', 'acme/gpt-6'])
        expect((await post(model)).status).toBe(200);
      expect(called()).toEqual(['own-key written-gpt', 'own-key gpt-5.5', 'own-key gpt-6']);
      lists['own-key'] = OURS;
      await readAgain();
      expect((await post('acme/gpt-6')).status).toBe(503);
    },
  );

  it('ROUTE-06 is that of its own resource for each credential of a pool', async () => {
    lists['pool-key'] = listOf(deployment('pool-five', 'gpt-5.5'), deployment('pool-six', 'gpt-6'));
    const baseUrl = `${upstream.url}/openai/v1`;
    edge.pool.add('cred_pool', 'pool-key', { provider: 'azure', baseUrl });
    edge.pool.add('cred_blind', 'blind-key', { provider: 'azure', baseUrl });
    await edge.app.app.get(PoolSync).sync();
    await edge.app.app.get(DeploymentLists).readDue();
    for (const model of ['acme/gpt-5.5', 'acme/gpt-6'])
      for (let n = 0; n < 40; n += 1) expect((await post(model)).status).toBe(200);
    expect([...new Set(called())].sort()).toEqual([
      'blind-key gpt-5.5',
      'blind-key gpt-6',
      'own-key team-five',
      'pool-key pool-five',
      'pool-key pool-six',
    ]);
    // A second look does not ask again within ten minutes.
    upstream.seen.length = 0;
    await edge.app.app.get(DeploymentLists).readDue();
    await edge.app.app.get(PoolSync).sync();
    await edge.app.app.get(DeploymentLists).readDue();
    expect(upstream.seen).toEqual([]);
  });

  it('ROUTE-06 says nothing of the resource of a customer’s own key', async () => {
    edge.vault.credentials.set('pk_1', {
      ...{ kind: 'azure', key: 'customers-key', endpoint: upstream.url, apiVersion: 'v1' },
    });
    const grant = { id: 'pk_1', provider: 'azure', version: 1, allowedModels: null };
    const providerKeys = [{ ...grant, allowPlatformFallback: false }];
    const key = edge.addKey(testPrincipal('key_own', { accountId: 'acct_own', providerKeys }));
    for (const model of ['acme/gpt-5.4', 'acme/gpt-5.5', 'acme/gpt-6'])
      expect((await edge.post(hello(model), { key })).status).toBe(200);
    expect(called()).toEqual(['gpt-5.4', 'gpt-5.5', 'gpt-6'].map((model) => `customers-key ${model}`));
  });

  it('ROUTE-06 is not asked for where the operator has switched that off, and no start waits for a silent one', async () => {
    const blind = await edgeWith('discover_deployments: false');
    try {
      expect(upstream.seen).toEqual([]);
      expect((await blind.post(hello('acme/gpt-6'))).status).toBe(200);
    } finally {
      await blind.close();
    }
    lists['own-key'] = { fault: 'silence' };
    const hasty = await edgeWith('deployments: {}');
    try {
      expect((await hasty.post(hello('acme/gpt-6'))).status).toBe(200);
    } finally {
      await hasty.close();
    }
    await eventually(() => upstream.open() === 0);
  });
});
