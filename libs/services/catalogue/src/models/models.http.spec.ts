import {
  keyPrincipal,
  modelAccess,
  sessionPrincipal,
  testDatabase,
  type TestDatabase,
} from '@gateway/testing';
import { applyMigrations } from '@gateway/database';
import { startCatalogue, type CatalogueApp } from '../catalogue-app.fixture.js';
import { SCHEMA, SCHEMA_DIR } from '../postgres/catalogue-database.js';
import { FLAGS } from '../snapshots/supports-flags.js';

interface WireModel {
  id: string;
  name: string;
  brand: string;
  model_type: string;
  context_length: number;
  max_output_tokens: number | null;
  is_free: boolean;
  input_modalities: string[];
  output_modalities: string[];
  pricing: Record<string, unknown>;
  [flag: `supports_${string}`]: boolean;
}

const MONEY = /^\d{1,9}(\.\d{1,12})?$/;

let database: TestDatabase;
let app: CatalogueApp;
let key: string;
let all: WireModel[];

beforeAll(async () => {
  database = await testDatabase({
    schemaDir: SCHEMA_DIR,
    migrate: (url) => applyMigrations({ url, schemaDir: SCHEMA_DIR, schema: SCHEMA }),
  });
  app = await startCatalogue({ CATALOGUE_DATABASE_URL: database.url, SIMULATED_PROVIDER: 'true' });
  key = app.credentialOf(keyPrincipal());
  all = (await app.get('/v1/models', key)).body;
});
afterAll(async () => {
  await app.close();
  await database.drop();
});

const ids = async (query: string, credential = key): Promise<string[]> => {
  const { body } = await app.get(`/v1/models${query}`, credential);
  if (!Array.isArray(body)) throw new Error(JSON.stringify(body));
  return (body as WireModel[]).map(({ id }) => id);
};

describe('GET /v1/models', () => {
  it('MOD-27 AUTH-01 answers a bare array of records to an rsk_ key', () => {
    expect(Array.isArray(all)).toBe(true);
    expect(all.length).toBeGreaterThan(60);
  });

  it('C4 answers the list object of OpenAI’s SDKs where their language header comes, and the model in their shape', async () => {
    const headers = { 'x-stainless-lang': 'js' };
    const { body } = await app.get('/v1/models?type=embedding', key, headers);
    expect(body).toEqual((await app.get('/openai/v1/models?type=embedding', key)).body);
    expect((await app.get('/v1/models/simulator/chat', key, headers)).body).toEqual(
      (await app.get('/openai/v1/models/simulator/chat', key)).body,
    );
    // SDKs of Anthropic send both.
    const both = { ...headers, 'anthropic-version': '2023-06-01' };
    expect((await app.get('/v1/models?limit=1', key, both)).body).toMatchObject({ has_more: true });
  });

  it('answers the list of Anthropic’s SDKs where their version header comes, the bare array without', async () => {
    const headers = { authorization: `Bearer ${key}`, 'anthropic-version': '2023-06-01' };
    const response = await fetch(`${app.url}/v1/models`, { headers });
    const body = (await response.json()) as { data: Record<string, unknown>[] };
    const [first] = all;
    expect(body).toEqual({
      data: expect.any(Array),
      has_more: false,
      first_id: first.id,
      last_id: all.at(-1)?.id,
    });
    expect(body.data.map(({ id }) => id)).toEqual(all.map(({ id }) => id));
    expect(body.data[0]).toMatchObject({
      type: 'model',
      id: first.id,
      display_name: first.name,
      created_at: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T00:00:00\.000Z$/),
    });
  });

  it('MOD-01 MOD-02 MOD-03 MOD-04 MOD-05 MOD-06 MOD-08 gives each model once, with every named field in its type', () => {
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
    for (const model of all) {
      expect(model.id).toBe(`${model.brand}/${model.id.slice(model.brand.length + 1)}`);
      expect(model.id.split('/')).toHaveLength(2);
      expect(model.name.length).toBeGreaterThan(0);
      expect(['text', 'embedding', 'image', 'audio', 'tts', 'stt', 'video']).toContain(model.model_type);
      expect(Number.isInteger(model.context_length)).toBe(true);
      for (const modality of [...model.input_modalities, ...model.output_modalities])
        expect(typeof modality).toBe('string');
    }
    expect(all.filter(({ id }) => id === 'simulator/dual')).toHaveLength(1);
  });

  it('MOD-09 MOD-10 MOD-12 has every flag on every record, true only for what is served', () => {
    for (const model of all) {
      for (const flag of FLAGS) expect(typeof model[`supports_${flag}`]).toBe('boolean');
      if (model.supports_completions_api) expect(model.model_type).toBe('text');
      if (model.supports_background_response) expect(model.supports_responses_api).toBe(true);
      if (model.supports_responses_api) expect(model.model_type).toBe('text');
    }
    const chat = all.find(({ id }) => id === 'simulator/chat');
    expect([chat?.supports_batching, chat?.supports_background_response]).toEqual([true, true]);
    expect(chat?.supports_completions_api).toBe(true);
    expect(all.find(({ id }) => id === 'simulator/realtime')?.supports_realtime).toBe(true);
    for (const id of ['simulator/search', 'simulator/rerank', 'simulator/moderation'])
      expect(all.find((model) => model.id === id)?.supports_completions_api).toBe(false);
    expect(all.find(({ id }) => id === 'simulator/video')?.supports_video_generation).toBe(true);
    expect([chat?.supports_system_prompt, chat?.supports_tools, chat?.supports_thinking]).toEqual([
      true,
      true,
      false,
    ]);
    expect(all.some((model) => !model.supports_completions_api)).toBe(true);
  });

  it('MOD-11 every simulated model of an endpoint that batches run may be tried in one, and no other', () => {
    const simulated = all.filter(({ brand }) => brand === 'simulator');
    const batched = simulated.filter(({ supports_batching }) => supports_batching).map(({ id }) => id);
    for (const id of ['embedding', 'moderation', 'image', 'chat', 'claude', 'dual', 'free'])
      expect(batched).toContain(`simulator/${id}`);
    for (const id of ['search', 'rerank', 'video', 'realtime', 'speech', 'whisper', 'image-tools'])
      expect(batched).not.toContain(`simulator/${id}`);
  });

  it('MOD-16 MOD-17 MOD-18 MOD-21 EDGE-03 prices are decimal strings, and null where nothing is billed', () => {
    for (const { id, is_free: isFree, pricing } of all) {
      for (const [field, value] of Object.entries(pricing)) {
        if (!/usd/.test(field) || value === null) continue;
        expect([id, field, value]).toEqual([id, field, expect.stringMatching(MONEY)]);
        if (!isFree) expect([id, field, /^[0.]+$/.test(String(value))]).toEqual([id, field, false]);
      }
      for (const field of ['prompt', 'completion', 'cache_read_input'])
        expect(pricing).toHaveProperty(`${field}_usd_per_1m`);
      expect(pricing).toHaveProperty('input_usd_per_unit');
      expect(pricing).toHaveProperty('output_usd_per_unit');
      expect(pricing).not.toHaveProperty('discounted');
      expect(typeof pricing.pricing_unit).toBe('string');
      expect(pricing.effective_date).toMatch(/^\d{4}-\d{2}-\d{2}$/);
    }
    expect(all.find(({ id }) => id === 'simulator/chat')?.pricing).toMatchObject({
      pricing_unit: 'per_1m_tokens',
      prompt_usd_per_1m: '0.5',
      completion_usd_per_1m: '2',
      cache_write_input_usd_per_1m: null,
      image_usd_per_unit: null,
      tool_pricing: null,
      discount_pct: null,
    });
  });

  it('MOD-07 MOD-29 free=true lists exactly the free models, free=false the others', async () => {
    const free = await ids('?free=true');
    expect(free).toContain('simulator/free');
    for (const { id, is_free: isFree, pricing } of all) {
      expect([id, free.includes(id)]).toEqual([id, isFree]);
      if (isFree) expect([pricing.prompt_usd_per_1m, pricing.completion_usd_per_1m]).toEqual(['0', '0']);
    }
    expect([...free, ...(await ids('?free=false'))].sort()).toEqual(all.map(({ id }) => id).sort());
  });

  it.each(['text', 'embedding', 'image', 'audio', 'video', 'tts', 'stt'])(
    'MOD-30 type=%s lists only that type',
    async (type) => {
      const expected = all.filter((model) => model.model_type === type).map(({ id }) => id);
      expect(await ids(`?type=${type}`)).toEqual(expected);
    },
  );

  it.each(['type=song', 'free=maybe', 'provider=Not%20a%20slug', 'colour=red'])(
    '422 validation_error for ?%s',
    async (query) => {
      const { status, body } = await app.get(`/v1/models?${query}`, key);
      expect([status, body.error.code, body.error.details[0].loc]).toEqual([
        422,
        'validation_error',
        [query.split('=')[0]],
      ]);
    },
  );

  it('MOD-31 provider= lists only models that provider serves, and nothing for one that serves none', async () => {
    expect(await ids('?provider=simulated-messages')).toEqual([
      'simulator/claude',
      'simulator/claude-reasoning',
      'simulator/dual',
    ]);
    expect(await ids('?provider=nobody')).toEqual([]);
    expect((await ids('?provider=openai')).every((id) => id.startsWith('openai/'))).toBe(true);
  });

  it('MOD-27 answers the list that the SDKs of Anthropic read to whoever sends their version header', async () => {
    const { body } = await app.get('/v1/models', key, { 'anthropic-version': '2023-06-01' });
    const beta = await app.get('/v1/models?beta=true', key, { 'anthropic-version': '2023-06-01' });
    expect(beta.body).toEqual(body);
    const refused = await app.get('/v1/models?nothing=1', key, { 'anthropic-version': '2023-06-01' });
    expect([refused.status, refused.body]).toMatchObject([
      400,
      { type: 'error', error: { type: 'invalid_request_error' } },
    ]);
    expect((await app.get('/v1/models?nothing=1', key)).status).toBe(422);
    expect(body.data.map(({ id }: WireModel) => id)).toEqual(all.map(({ id }) => id));
    expect(body).toMatchObject({ has_more: false, first_id: all[0].id, last_id: all.at(-1)?.id });
    const claude = body.data.find(({ id }: WireModel) => id === 'simulator/claude');
    expect(claude).toEqual({
      type: 'model',
      id: 'simulator/claude',
      display_name: all.find(({ id }) => id === 'simulator/claude')?.name,
      created_at: expect.stringMatching(/^\d{4}-.*Z$/) as string,
      max_input_tokens: all.find(({ id }) => id === 'simulator/claude')?.context_length,
      max_tokens: all.find(({ id }) => id === 'simulator/claude')?.max_output_tokens,
      lifecycle: 'active',
      retires_at: null,
    });
  });

  it('MOD-27 pages the list as the SDKs of Anthropic do, forwards and backwards, and 422 of a model that is not in it', async () => {
    const listed = all.map(({ id }) => id);
    const page = async (query: string): Promise<[string[], boolean]> => {
      const { body } = await app.get(`/v1/models?${query}`, key, { 'anthropic-version': '2023-06-01' });
      return [body.data.map(({ id }: WireModel) => id), body.has_more];
    };
    expect(await page('limit=3')).toEqual([listed.slice(0, 3), true]);
    expect(await page(`limit=3&after_id=${listed[2]}`)).toEqual([listed.slice(3, 6), true]);
    expect(await page(`limit=1000&after_id=${listed[2]}`)).toEqual([listed.slice(3), false]);
    expect(await page(`limit=2&before_id=${listed[3]}`)).toEqual([listed.slice(1, 3), true]);
    expect(await page(`limit=3&before_id=${listed[3]}`)).toEqual([listed.slice(0, 3), false]);
    expect(await page(`after_id=${listed[0]}&before_id=${listed[3]}`)).toEqual([listed.slice(1, 3), false]);
    expect(await page(`after_id=${listed.at(-1)}`)).toEqual([[], false]);
    expect(await ids('?limit=2')).toEqual(listed.slice(0, 2));
    for (const query of ['limit=0', 'limit=1001', 'limit=x', 'after_id=', 'before_id=acme/none'])
      expect((await app.get(`/v1/models?${query}`, key)).status).toBe(422);
  });

  it('MOD-32 MOD-33 answers one model in the shape of Anthropic where their version header comes, 403 and 404 as ever', async () => {
    const headers = { 'anthropic-version': '2023-06-01' };
    const { body: list } = await app.get('/v1/models', key, headers);
    const claude = list.data.find(({ id }: WireModel) => id === 'simulator/claude');
    for (const path of ['simulator/claude', 'simulator%2Fclaude'])
      expect(await app.get(`/v1/models/${path}`, key, headers)).toMatchObject({ status: 200, body: claude });
    const { body } = await app.get('/v1/models/simulator/claude', key, headers);
    expect(body).toEqual(claude);
    const blocked = app.credentialOf(keyPrincipal({ access: [modelAccess('key', null, ['simulator/*'])] }));
    expect((await app.get('/v1/models/simulator/claude', blocked, headers)).status).toBe(403);
    expect((await app.get('/v1/models/simulator/nothing', key, headers)).status).toBe(404);
  });

  it('MOD-28 leaves out models outside an allow list or inside a block list, of any scope', async () => {
    const restricted = app.credentialOf(
      keyPrincipal({
        access: [
          modelAccess('key', ['simulator/*', 'openai/gpt-4o'], ['simulator/free']),
          modelAccess('org', ['simulator/*'], null),
          modelAccess('team', null, ['simulator/strict']),
        ],
      }),
    );
    const listed = await ids('', restricted);
    const simulated = all.map(({ id }) => id).filter((id) => id.startsWith('simulator/'));
    expect(listed).toEqual(simulated.filter((id) => !['simulator/free', 'simulator/strict'].includes(id)));
  });

  it('lists to a key that is pinned to a provider only what that provider serves', async () => {
    const pinned = app.credentialOf(keyPrincipal({ fixedProvider: 'simulated-messages' }));
    expect(await ids('', pinned)).toEqual(await ids('?provider=simulated-messages'));
  });

  it('lists every enabled model to a session', async () => {
    expect(await ids('', app.credentialOf(sessionPrincipal()))).toEqual(all.map(({ id }) => id));
  });

  it('lists text models of every dialect that has an adapter', () => {
    const listed = all.map(({ id }) => id);
    for (const id of [
      'openai/gpt-5-pro',
      'anthropic/claude-opus-4-8',
      'amazon/nova-pro',
      'google/gemini-2.5-pro',
    ])
      expect(listed).toContain(id);
  });

  it('prices a model of several providers by its cheapest one', () => {
    const oss = all.find(({ id }) => id === 'openai/gpt-oss-120b');
    expect(oss?.pricing.prompt_usd_per_1m).toMatch(MONEY);
    expect(all.find(({ id }) => id === 'simulator/dual')?.pricing.prompt_usd_per_1m).toBe('0.5');
  });

  it('401 without a credential, 403 for a key whose scopes lack models:read', async () => {
    expect((await app.get('/v1/models')).status).toBe(401);
    const scoped = app.credentialOf(keyPrincipal({ permissions: ['inference:write'] }));
    const { status, body } = await app.get('/v1/models', scoped);
    expect([status, body.error.code]).toEqual([403, 'forbidden']);
    expect(await ids('', app.credentialOf(keyPrincipal({ permissions: ['models:read'] })))).toHaveLength(
      all.length,
    );
  });

  it('VER-22 answers the same records under both versions', async () => {
    const later = await app.get('/v1/models', key, { 'x-service-version': '2026-09' });
    expect(later.headers.get('x-service-version')).toBe('2026-09');
    expect(later.body).toEqual(all);
  });
});

describe('GET /v1/models/{model_id}', () => {
  it('MOD-32 answers one record, whether the slash of the id is encoded or not', async () => {
    const expected = all.find(({ id }) => id === 'simulator/chat');
    for (const path of ['simulator/chat', 'simulator%2Fchat', 'simulator%2fchat', 'chat']) {
      const { status, body } = await app.get(`/v1/models/${path}`, key);
      expect([path, status, body]).toEqual([path, 200, expected]);
    }
  });

  it('MOD-33 403 model_excluded for a model on a block list', async () => {
    const blocked = app.credentialOf(
      keyPrincipal({
        access: [modelAccess('key', null, null), modelAccess('member', null, ['simulator/chat'])],
      }),
    );
    for (const path of ['simulator/chat', 'simulator%2Fchat', 'chat']) {
      const { status, body } = await app.get(`/v1/models/${path}`, blocked);
      expect([status, body.error.code]).toEqual([403, 'model_excluded']);
    }
  });

  it.each(['simulator/none', 'none', 'simulated/chat', 'a%2Fb%2Fc', 'constructor'])(
    'MOD-01 404 model_not_found for %s',
    async (path) => {
      const { status, body } = await app.get(`/v1/models/${path}`, key);
      expect([status, body.error.code]).toEqual([404, 'model_not_found']);
    },
  );

  it('404 model_not_found for a model that an allow list leaves out', async () => {
    const restricted = app.credentialOf(keyPrincipal({ access: [modelAccess('org', ['openai/*'], null)] }));
    const { status, body } = await app.get('/v1/models/simulator/chat', restricted);
    expect([status, body.error.code]).toEqual([404, 'model_not_found']);
  });

  it('404 not_found for a path deeper than an id, 422 never', async () => {
    const { status, body } = await app.get('/v1/models/a/b/c', key);
    expect([status, body.error.code]).toEqual([404, 'not_found']);
  });
});

describe('GET /openai/v1/models', () => {
  it('answers what OpenAI SDKs read, beside the record', async () => {
    const { status, body } = await app.get('/openai/v1/models', key);
    expect([status, body.object, body.data.length]).toEqual([200, 'list', all.length]);
    const chat = body.data.find(({ id }: WireModel) => id === 'simulator/chat');
    expect(chat).toEqual({
      ...all.find(({ id }) => id === 'simulator/chat'),
      object: 'model',
      created: Date.UTC(2026, 10, 21) / 1000,
      owned_by: 'simulator',
    });
    for (const path of ['simulator/chat', 'simulator%2Fchat'])
      expect((await app.get(`/openai/v1/models/${path}`, key)).body).toEqual(chat);
  });

  it('403 and 404 as under /v1', async () => {
    const blocked = app.credentialOf(keyPrincipal({ access: [modelAccess('key', null, ['simulator/*'])] }));
    expect((await app.get('/openai/v1/models/simulator/chat', blocked)).body.error.code).toBe(
      'model_excluded',
    );
    expect((await app.get('/openai/v1/models/no/such', blocked)).body.error.code).toBe('model_not_found');
  });
});
