import type { AdminModelRecord, ProviderRecord } from '@gateway/contracts';
import { applyMigrations } from '@gateway/database';
import { sessionPrincipal, testDatabase, type TestDatabase } from '@gateway/testing';
import { StoredCredentials } from '../availability/stored-credentials.js';
import { startCatalogue, type CatalogueApp } from '../catalogue-app.fixture.js';
import { CatalogueDatabase, SCHEMA, SCHEMA_DIR } from '../postgres/catalogue-database.js';

let database: TestDatabase;
let app: CatalogueApp;
let admin: string;

beforeAll(async () => {
  database = await testDatabase({
    schemaDir: SCHEMA_DIR,
    migrate: (url) => applyMigrations({ url, schemaDir: SCHEMA_DIR, schema: SCHEMA }),
  });
  await start();
});
afterAll(async () => {
  await app.close();
  await database.drop();
});

async function start(): Promise<void> {
  app = await startCatalogue({ CATALOGUE_DATABASE_URL: database.url, SIMULATED_PROVIDER: 'true' });
  admin = app.credentialOf(sessionPrincipal({ isSuperAdmin: true }));
}

const route = (more: object = {}): object => ({
  ...{ provider: 'simulated', upstream_model: 'sim-chat', dialect: 'chat' },
  price: { pricing_unit: 'per_1m_tokens', prompt_usd_per_1m: '1', completion_usd_per_1m: '1' },
  ...more,
});
const model = (id: string, more: object = {}): object => ({
  ...{
    id,
    name: `The model ${id}`,
    model_type: 'text',
    context_length: 1_000,
    supports: ['completions_api'],
  },
  ...{ input_modalities: ['text'], output_modalities: ['text'], routes: [route()] },
  ...more,
});
const load = (body: object) => app.send('POST', '/v1/admin/catalogue/import', admin, body);
const read = async (id: string): Promise<AdminModelRecord> =>
  (await app.get(`/v1/admin/models/${id}`, admin)).body as AdminModelRecord;
const statusOf = async (id: string): Promise<unknown> => (await read(id)).availability;
const isEdited = async (id: string): Promise<unknown> => {
  const { pool } = app.app.get(CatalogueDatabase);
  const { rows } = await pool.query<{ is_edited: boolean }>('SELECT is_edited FROM model WHERE id = $1', [
    id,
  ]);
  return rows.map((row) => row.is_edited);
};
/** A model of the release in the form of a load. */
async function asLoaded(id: string): Promise<Record<string, unknown>> {
  const { routes, ...record } = await read(id);
  const flags = Object.entries(record).filter(
    ([name, value]) => name.startsWith('supports_') && value === true,
  );
  const { pool } = app.app.get(CatalogueDatabase);
  const { rows } = await pool.query(
    'SELECT supports, reasoning, released, description FROM model WHERE id = $1',
    [id],
  );
  expect(flags.length).toBeGreaterThan(0);
  return {
    ...{ id, name: record.name, model_type: record.model_type, context_length: record.context_length },
    ...{ max_output_tokens: record.max_output_tokens, description: rows[0].description },
    ...{ input_modalities: record.input_modalities, output_modalities: record.output_modalities },
    ...{ supports: rows[0].supports, reasoning: rows[0].reasoning },
    released: rows[0].released === null ? null : new Date(rows[0].released).toISOString().slice(0, 10),
    routes: routes.map((route) => {
      const {
        regions: _regions,
        zero_retention: _zero,
        has_credential: _has,
        price_layer: _layer,
        ...one
      } = route;
      return one;
    }),
  };
}

describe('POST /v1/admin/catalogue/import without replace', () => {
  it('MOD-54 issue 37 sets what it names, and leaves the rest as it is', async () => {
    const before = (await app.get('/v1/admin/models?limit=1', admin)).body.total as number;
    const { status, body } = await load({ models: [model('acme/new')] });
    expect([status, body.added, body.removed, body.refused]).toEqual([200, ['acme/new'], [], null]);
    expect((await app.get('/v1/admin/models?limit=1', admin)).body.total).toBe(before + 1);
    expect((await load({ models: [] })).status).toBe(422);
  });

  it('issue 37 a model that is loaded as the release has it goes on following the release', async () => {
    const [same, dearer] = await Promise.all(['simulator/chat', 'simulator/claude'].map(asLoaded));
    const [first] = dearer.routes as { price: object }[];
    dearer.routes = [{ ...first, price: { ...first.price, prompt_usd_per_1m: '77' } }];
    const { status, body } = await load({ models: [same, dearer] });
    expect([status, body.unchanged, body.changed]).toEqual([
      200,
      1,
      [{ id: 'simulator/claude', fields: ['routes'] }],
    ]);
    expect([await isEdited('simulator/chat'), await isEdited('simulator/claude')]).toEqual([[false], [true]]);
    // Written back as it was, it follows again.
    const back: Record<string, unknown> = { ...dearer, routes: [first] };
    delete back.id;
    expect((await app.send('PUT', '/v1/admin/models/simulator/claude', admin, back)).status).toBe(200);
    expect(await isEdited('simulator/claude')).toEqual([false]);
  });

  it('issue 37 a row that an earlier release froze though it is equal follows again with the next data', async () => {
    const { pool } = app.app.get(CatalogueDatabase);
    await pool.query(`UPDATE model SET is_edited = true WHERE id IN ('simulator/chat', 'simulator/dual')`);
    await pool.query(`UPDATE model SET name = 'Ours' WHERE id = 'simulator/dual'`);
    await pool.query(`UPDATE seed SET digest = 'of another release'`);
    await app.close();
    await start();
    expect([await isEdited('simulator/chat'), await isEdited('simulator/dual')]).toEqual([[false], [true]]);
    expect((await read('simulator/dual')).name).toBe('Ours');
  });
});

describe('GET /v1/admin/models', () => {
  it('issue 37 says of each model whether it can be called, and what it needs', async () => {
    await app.app.get(StoredCredentials).report('e1', { providers: ['simulated'], unserved: [] });
    await load({
      models: [
        model('acme/ready', {
          routes: [route(), route({ provider: 'simulated-messages', dialect: 'messages' })],
        }),
        model('acme/needy', { routes: [route({ provider: 'openai' }), route({ provider: 'groq' })] }),
        model('acme/gone', { routes: [route({ retires_at: '2026-01-01' })] }),
        model('acme/off'),
      ],
    });
    await app.send('DELETE', '/v1/admin/models/acme/off', admin);
    expect(await statusOf('acme/ready')).toEqual({ status: 'ready', providers: ['simulated-messages'] });
    expect(await statusOf('acme/needy')).toEqual({
      status: 'needs_credential',
      providers: ['groq', 'openai'],
    });
    expect(await statusOf('acme/gone')).toEqual({ status: 'retired', providers: [] });
    expect(await statusOf('acme/off')).toEqual({ status: 'disabled', providers: [] });
    expect((await read('acme/ready')).routes).toMatchObject([
      {
        provider: 'simulated',
        has_credential: true,
        price: { prompt_usd_per_1m: '1' },
        source: 'administrator',
      },
      { provider: 'simulated-messages', has_credential: false },
    ]);
    const providers = (await app.get('/v1/admin/providers', admin)).body.data as ProviderRecord[];
    const withKey = providers.filter(({ has_credential: hasCredential }) => hasCredential === true);
    expect(withKey.map(({ slug }) => slug)).toEqual(['simulated']);
    expect(providers.find(({ slug }) => slug === 'openai')).toMatchObject({ has_credential: false });
    for (const [query, ids] of [
      ['availability=retired&q=acme', ['acme/gone']],
      ['availability=needs_credential&q=acme&provider=groq', ['acme/needy']],
      ['q=the+acme&limit=1&offset=1', ['acme/needy']],
    ] as const) {
      const { body } = await app.get(`/v1/admin/models?${query}`, admin);
      expect([query, (body.data as AdminModelRecord[]).map(({ id }) => id)]).toEqual([query, ids]);
    }
  });

  it('issue 37 404 for a model that never was, 403 for others than super admins', async () => {
    expect((await app.get('/v1/admin/models/acme/none', admin)).status).toBe(404);
    expect((await app.get('/v1/admin/models', app.credentialOf(sessionPrincipal()))).status).toBe(403);
    expect((await app.get('/v1/admin/models?availability=maybe', admin)).status).toBe(422);
  });
});
