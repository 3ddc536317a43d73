import { applyMigrations } from '@gateway/database';
import pg from 'pg';
import { keyPrincipal, sessionPrincipal, testDatabase, type TestDatabase } from '@gateway/testing';
import { startCatalogue, type CatalogueApp } from '../catalogue-app.fixture.js';
import { SCHEMA, SCHEMA_DIR } from '../postgres/catalogue-database.js';

let database: TestDatabase;
let app: CatalogueApp;
let admin: string;
let key: string;

const env = (): Record<string, string> => ({
  CATALOGUE_DATABASE_URL: database.url,
  SIMULATED_PROVIDER: 'true',
});

beforeAll(async () => {
  database = await testDatabase({
    schemaDir: SCHEMA_DIR,
    migrate: (url) => applyMigrations({ url, schemaDir: SCHEMA_DIR, schema: SCHEMA }),
  });
  await restart();
});
afterAll(async () => {
  await app.close();
  await database.drop();
});

async function restart(): Promise<void> {
  app = await startCatalogue(env());
  admin = app.credentialOf(sessionPrincipal({ isSuperAdmin: true }));
  key = app.credentialOf(keyPrincipal());
}

const model = (prompt: string, more: object = {}): Record<string, unknown> => ({
  name: 'Llama on our own machine',
  model_type: 'text',
  context_length: 131_072,
  input_modalities: ['text'],
  output_modalities: ['text'],
  supports: ['completions_api', 'tools'],
  routes: [
    {
      provider: 'simulated',
      upstream_model: 'sim-chat',
      dialect: 'chat',
      price: { pricing_unit: 'per_1m_tokens', prompt_usd_per_1m: prompt, completion_usd_per_1m: '1' },
      effective_date: '2026-11-01',
    },
  ],
  ...more,
});

const priced = (price: object): Record<string, unknown> => {
  const route = { provider: 'simulated', upstream_model: 'sim-chat', dialect: 'chat' };
  return model('1', { routes: [{ ...route, price: { completion_usd_per_1m: '1', ...price } }] });
};

const listed = async (slug: string): Promise<Record<string, unknown> | undefined> =>
  ((await app.get('/v1/admin/providers', admin)).body as { data: Record<string, unknown>[] }).data.find(
    (provider) => provider.slug === slug,
  );

const idsNow = async (): Promise<string[]> =>
  ((await app.get('/v1/models', key)).body as { id: string }[]).map(({ id }) => id);

describe('PUT and DELETE /v1/admin/models/{id}', () => {
  it('MOD-53 adds a model, replaces it, and keeps every price that it had', async () => {
    const added = await app.send('PUT', '/v1/admin/models/house/llama', admin, model('0.10'));
    expect([added.status, added.body.id, added.body.brand]).toEqual([200, 'house/llama', 'house']);
    expect((await app.get('/v1/models/house/llama', key)).body).toEqual(added.body);
    await app.send('PUT', '/v1/admin/models/house%2Fllama', admin, model('0.20'));
    const { body } = await app.get('/v1/models/house/llama', key);
    expect(body.pricing).toMatchObject({ prompt_usd_per_1m: '0.20', effective_date: '2026-11-01' });

    const history = await app.get('/v1/models/house/llama/price-history', key);
    expect(
      history.body.data.map((step: { provider: string; effective_date: string; pricing: object }) => [
        step.provider,
        step.effective_date,
        (step.pricing as { prompt_usd_per_1m: string }).prompt_usd_per_1m,
      ]),
    ).toEqual([
      ['simulated', '2026-11-01', '0.20'],
      ['simulated', '2026-11-01', '0.10'],
    ]);
  });

  it('issue 11 503 for writes that wait for another process; reads are answered meanwhile', async () => {
    const other = new pg.Client({ connectionString: database.url });
    await other.connect();
    await other.query("SELECT pg_advisory_lock(hashtext('gateway-catalogue-publish'))");
    const unknown = '/v1/admin/models/house/none';
    // More than there are connections.
    const waiting = Promise.all(Array.from({ length: 12 }, () => app.send('DELETE', unknown, admin)));
    let answered = 0;
    void waiting.then(() => (answered += 1));
    expect(await listed('simulated')).toBeDefined();
    expect(answered).toBe(0);
    for (const { status, headers } of await waiting)
      expect([status, Number(headers.get('retry-after')) > 0]).toEqual([503, true]);
    await other.end();
    expect((await app.send('DELETE', unknown, admin)).status).toBe(404);
  });

  it('MOD-53 takes a seeded model out, also past a restart, and back in; an unknown one is 404', async () => {
    expect((await app.send('DELETE', '/v1/admin/models/simulator/strict', admin)).status).toBe(204);
    expect(await idsNow()).not.toContain('simulator/strict');
    await app.close();
    await restart();
    expect(await idsNow()).toContain('house/llama');
    expect(await idsNow()).not.toContain('simulator/strict');
    expect((await app.send('DELETE', '/v1/admin/models/simulator/strict', admin)).status).toBe(404);
    await app.send('PUT', '/v1/admin/models/simulator/strict', admin, model('0.5'));
    expect(await idsNow()).toContain('simulator/strict');
  });

  it.each([
    [
      'an unknown provider',
      model('1', {
        routes: [
          { provider: 'nobody', upstream_model: 'x', dialect: 'chat', price: { completion_usd_per_1m: '1' } },
        ],
      }),
      ['routes', 0, 'provider'],
    ],
    ['a price that is none', model('1e3'), ['routes', 0, 'price', 'prompt_usd_per_1m']],
    [
      'a composite of unknown models',
      model('1', { routes: [], composite_models: ['a/b'] }),
      ['composite_models', 0],
    ],
    ['a misspelt rate', priced({ promt_usd_per_1m: '1' }), ['routes', 0, 'price', 'promt_usd_per_1m']],
    ['a matrix that is none', priced({ price_matrix: 'x' }), ['routes', 0, 'price', 'price_matrix']],
    ['a day that there is not', model('1', { released: '2026-02-31' }), ['released']],
    ['no route', model('1', { routes: [] }), ['routes']],
    ['a misspelt flag', model('1', { supports: ['completions_api', 'tool'] }), ['supports', 1]],
    ['an unknown modality', model('1', { output_modalities: ['texts'] }), ['output_modalities', 0]],
    ['an unknown field', model('1', { colour: 'red' }), ['colour']],
  ])('422 validation_error for %s', async (_what, body, loc) => {
    const answer = await app.send('PUT', '/v1/admin/models/house/bad', admin, body);
    expect([answer.status, answer.body.error.code]).toEqual([422, 'validation_error']);
    expect(answer.body.error.details.map((detail: { loc: unknown }) => detail.loc)).toContainEqual(loc);
    expect(await idsNow()).not.toContain('house/bad');
  });

  it('takes null for absence: a record that was read goes back as it was', async () => {
    const [route] = model('0.5').routes as object[];
    const nulls = { lacks: null, reasoning: null, released: null, description: null, composite_models: null };
    const dates = { source: null, source_date: null, effective_date: null, retires_at: null };
    const routes = [{ ...route, ...dates, context_length: null, max_output_tokens: null }];
    const body = model('0.5', { ...nulls, max_output_tokens: null, fixes_sampling: null, routes });
    const { status, body: record } = await app.send('PUT', '/v1/admin/models/house/nulls', admin, body);
    expect([status, record.max_output_tokens, record.retires_at]).toEqual([200, null, null]);
    const load = { models: [{ id: 'house/nulls', ...body }], providers: null, dry_run: true, force: null };
    const loaded = await app.send('POST', '/v1/admin/catalogue/import', admin, load);
    expect([loaded.status, loaded.body.unchanged, loaded.body.faults]).toEqual([200, 1, []]);
    expect((await app.send('DELETE', '/v1/admin/models/house/nulls', admin)).status).toBe(204);
  });

  it('MOD-15 lists a composite with its members', async () => {
    const composite_models = ['simulator/chat', 'house/llama'];
    await app.send(
      'PUT',
      '/v1/admin/models/house/panel',
      admin,
      model('1', { routes: [], composite_models }),
    );
    const { body } = await app.get('/v1/models/house/panel', key);
    expect(body).toMatchObject({ is_composite: true, composite_models, supports_completions_api: false });
    expect((await app.get('/v1/models/simulator/chat', key)).body).toMatchObject({
      is_composite: false,
      composite_models: [],
    });
  });

  it('is for super admins alone', async () => {
    for (const credential of [key, app.credentialOf(sessionPrincipal())])
      for (const [method, path] of [
        ['PUT', '/v1/admin/models/house/llama'],
        ['DELETE', '/v1/admin/providers/simulated'],
        ['POST', '/v1/admin/catalogue/import'],
      ] as const) {
        const { status, body } = await app.send(method, path, credential, {});
        expect([path, status, body.error.code]).toEqual([path, 403, 'forbidden']);
      }
  });
});

describe('PUT and DELETE /v1/admin/providers/{slug}', () => {
  it('MOD-53 takes a provider out with its routes, and back in', async () => {
    const served = async (): Promise<number> =>
      (await app.get('/v1/models/simulator/dual/providers', key)).body.total;
    expect(await served()).toBe(2);
    expect((await app.send('DELETE', '/v1/admin/providers/simulated-messages', admin)).status).toBe(204);
    expect(await listed('simulated-messages')).toMatchObject({ is_enabled: false, name: expect.any(String) });
    expect((await listed('simulated-messages'))?.routes).toBeGreaterThan(0);
    expect(await served()).toBe(1);
    expect(await idsNow()).not.toContain('simulator/claude');
    const put = { name: 'Simulated again', dialects: ['messages'], regions: ['eu'], zero_retention: false };
    const again = { ...put, is_enabled: null };
    const back = await app.send('PUT', '/v1/admin/providers/simulated-messages', admin, again);
    expect([back.status, back.body]).toEqual([200, { slug: 'simulated-messages', ...put, is_enabled: true }]);
    const { body } = await app.get('/v1/models/simulator/dual/providers', key);
    expect(body.data[1]).toMatchObject({ name: 'Simulated again', regions: ['eu'], zero_retention: false });
    const nulls = { name: 'Bare', dialects: null, regions: null, zero_retention: null };
    const bare = {
      slug: 'bare',
      name: 'Bare',
      dialects: [],
      regions: [],
      zero_retention: null,
      is_enabled: true,
    };
    expect((await app.send('PUT', '/v1/admin/providers/bare', admin, nulls)).body).toEqual(bare);
    expect((await app.send('DELETE', '/v1/admin/providers/nobody', admin)).status).toBe(404);
  });
});

describe('POST /v1/admin/catalogue/import', () => {
  const load = (body: object) =>
    app.send('POST', '/v1/admin/catalogue/import', admin, { replace: true, ...body });
  const one = (prompt: string): object => ({ id: 'house/llama', ...model(prompt) });

  it('MOD-54 a dry run answers the diff and changes nothing', async () => {
    const before = await idsNow();
    const { status, body } = await load({
      dry_run: true,
      models: [one('0.30'), { id: 'house/new', ...model('1') }],
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      dry_run: true,
      applied: false,
      added: ['house/new'],
      changed: [{ id: 'house/llama', fields: ['routes'] }],
      emptied_prices: [],
    });
    expect(body.removed).toEqual(expect.arrayContaining(['simulator/chat', 'openai/gpt-4o']));
    expect(body.refused).toMatch(/would drop \d+ of \d+ models/);
    expect(await idsNow()).toEqual(before);
    expect((await app.get('/v1/models/house/llama', key)).body.pricing.prompt_usd_per_1m).toBe('0.20');
  });

  it('MOD-54 409 conflict for a load that drops more than a tenth, and it is done where it is forced', async () => {
    const models = [one('0.30'), { id: 'house/other', ...model('0.9') }];
    const { status, body } = await load({ models });
    expect([status, body.error.code]).toEqual([409, 'conflict']);
    expect((await idsNow()).length).toBeGreaterThan(60);
    const forced = await load({ models, force: true });
    expect([forced.status, forced.body.applied]).toEqual([200, true]);
    expect(await idsNow()).toEqual(['house/llama', 'house/other']);
    const again = await load({ models });
    expect(again.body).toMatchObject({ applied: true, unchanged: 2, changed: [], added: [], removed: [] });
  });

  it('MOD-54 409 conflict for a load that empties a price, and 422 for a faulty model', async () => {
    const unpriced = {
      id: 'house/llama',
      ...model('1', {
        routes: [
          {
            provider: 'simulated',
            upstream_model: 'sim-chat',
            dialect: 'chat',
            price: { completion_usd_per_1m: '1' },
          },
        ],
      }),
    };
    const other = { id: 'house/other', ...model('0.9') };
    const refused = await load({ models: [unpriced, other] });
    expect([refused.status, refused.body.error.code]).toEqual([409, 'conflict']);
    expect(refused.body.error.message).toContain('prompt_usd_per_1m of house/llama at simulated');
    const faulty = await load({ models: [one('0.30'), { id: 'house/other', ...model('many') }] });
    expect([faulty.status, faulty.body.error.code]).toEqual([422, 'validation_error']);
    expect(faulty.body.error.details[0].loc).toEqual([
      'models',
      1,
      'routes',
      0,
      'price',
      'prompt_usd_per_1m',
    ]);
    expect((await app.get('/v1/models/house/llama', key)).body.pricing.prompt_usd_per_1m).toBe('0.30');
  });

  it('MOD-54 a forced load with faults is stored and not served, also one that names a model or a route twice', async () => {
    const routes = model('1').routes as object[];
    const odd = { id: 'house/odd', ...priced({ price_matrix: 'x' }) };
    const twin = { id: 'house/twin', ...model('1', { routes: [...routes, ...routes] }) };
    const models = [one('0.30'), one('0.30'), twin, odd];
    expect((await load({ models })).status).toBe(422);
    const { status, body } = await load({ models, force: true });
    expect([status, body.faults.map(({ model }: { model: string }) => model)]).toEqual([
      200,
      ['house/llama', 'house/twin', 'house/odd'],
    ]);
    expect(await idsNow()).toEqual([]);
  });
});
