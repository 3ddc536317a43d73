import type { AdminModelRecord, Principal, ProviderKeyGrant } from '@gateway/contracts';
import { applyMigrations } from '@gateway/database';
import { keyPrincipal, sessionPrincipal, testDatabase, type TestDatabase } from '@gateway/testing';
import { FLEET_TOKEN, startCatalogue, type CatalogueApp } from '../catalogue-app.fixture.js';
import { CatalogueDatabase, SCHEMA, SCHEMA_DIR } from '../postgres/catalogue-database.js';
import { readSeed } from '../seed/read-seed.js';
import { StoredCredentials } from './stored-credentials.js';

let database: TestDatabase;
let app: CatalogueApp;

beforeAll(async () => {
  database = await testDatabase({
    schemaDir: SCHEMA_DIR,
    migrate: (url) => applyMigrations({ url, schemaDir: SCHEMA_DIR, schema: SCHEMA }),
  });
  app = await startCatalogue({ CATALOGUE_DATABASE_URL: database.url, SIMULATED_PROVIDER: 'true' });
});
afterAll(async () => {
  await app.close();
  await database.drop();
});

interface Listed {
  id: string;
  is_available: boolean;
}

const report = async (
  providers: unknown,
  edge: unknown = 'e1',
  token = FLEET_TOKEN,
  unserved?: unknown,
): Promise<number> =>
  (
    await fetch(`${app.url}/internal/catalogue/credentials`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-fleet-token': token },
      body: JSON.stringify({ edge, providers, unserved }),
    })
  ).status;
const listed = async (path: string, caller: Principal | null = keyPrincipal()): Promise<Listed[]> => {
  const credential = caller === null ? undefined : app.credentialOf(caller);
  const { status, body } = await app.get(path, credential);
  expect([path, status]).toEqual([path, 200]);
  return (Array.isArray(body) ? body : (body as { data: unknown }).data) as Listed[];
};
const brands = (models: readonly Listed[]): string[] =>
  [...new Set(models.map(({ id }) => id.slice(0, id.indexOf('/'))))].sort();
const grant = (provider: string, allowedModels: string[] | null = null): ProviderKeyGrant => ({
  ...{ id: 'pk_1', provider, version: 1, allowedModels, allowPlatformFallback: true },
});

describe('which models can be called', () => {
  it('MOD-34 issue 37 everything is listed as long as no edge has said which credentials it has', async () => {
    const all = await listed('/v1/models');
    expect(brands(all)).toEqual(expect.arrayContaining(['openai', 'simulator']));
    expect(all.every((one) => one.is_available)).toBe(true);
  });

  it('issue 37 without a real credential the simulated models alone are listed, in each shape', async () => {
    expect(await report(['simulated', 'simulated-messages'])).toBe(204);
    expect(brands(await listed('/v1/models'))).toEqual(['simulator']);
    expect(brands(await listed('/openai/v1/models'))).toEqual(['simulator']);
    expect(await listed('/v1/providers/openai/models')).toEqual([]);
    const pinnable = (await listed('/v1/providers/pinnable')) as unknown as { provider: string }[];
    expect(pinnable.map(({ provider }) => provider)).toEqual(['simulated', 'simulated-messages']);
  });

  it('issue 37 with one real credential its models and no others are listed, and simulated ones go out of every list', async () => {
    expect(await report(['simulated', 'simulated-messages', 'deepseek'])).toBe(204);
    const models = await listed('/v1/models');
    expect(models.length).toBeGreaterThan(0);
    expect(models).toEqual(await listed('/v1/models?provider=deepseek'));
    for (const path of ['/v1/public/models', '/v1/models/search?limit=200&q=simulator', '/v1/models'])
      expect(brands(await listed(path, path.includes('public') ? null : keyPrincipal()))).not.toContain(
        'simulator',
      );
    // A model that is named is still there.
    const { status, body } = await app.get('/v1/models/simulator/chat', app.credentialOf(keyPrincipal()));
    expect([status, body.is_available]).toEqual([200, true]);
  });

  it('issue 37 search, public and single reads have every model, say which can be called, and filter by it', async () => {
    const search = await listed('/v1/models/search?limit=200&brand=openai');
    expect(search.length).toBeGreaterThan(0);
    expect(search.every((one) => !one.is_available)).toBe(true);
    expect(await listed('/v1/models/search?brand=openai&available=true')).toEqual([]);
    const [{ id }] = search;
    expect((await app.get(`/v1/models/${id}`, app.credentialOf(keyPrincipal()))).body.is_available).toBe(
      false,
    );
    const all = await listed('/v1/public/models', null);
    const [can, cannot] = [true, false].map((is) => all.filter((one) => one.is_available === is));
    expect([can.length, cannot.length].every((count) => count > 0)).toBe(true);
    expect(await listed('/v1/public/models?available=true', null)).toEqual(can);
    expect(await listed('/v1/public/models?available=false', null)).toEqual(cannot);
    const offers = await listed(`/v1/models/${can[0].id}/providers`);
    expect(offers.some((offer) => offer.is_available)).toBe(true);
    expect(await listed(`/v1/models/${can[0].id}/providers?available=true`)).toEqual(
      offers.filter((offer) => offer.is_available),
    );
  });

  it('issue 37 a provider key of the account makes the models callable that it may serve, for its key and its people', async () => {
    const every = keyPrincipal({ providerKeys: [grant('openai')] });
    const some = keyPrincipal({ providerKeys: [grant('openai', ['openai/gpt-5.4'])] });
    const models = await listed('/v1/models', every);
    expect(models.some(({ id }) => id.startsWith('openai/'))).toBe(true);
    const few = (await listed('/v1/models', some)).filter(({ id }) => id.startsWith('openai/'));
    expect(few.map(({ id }) => id)).toEqual(['openai/gpt-5.4']);
    expect(await listed('/v1/models', sessionPrincipal({ keyedProviders: ['openai'] }))).toEqual(models);
    const pinned = keyPrincipal({ fixedProvider: 'openai' });
    expect(await listed('/v1/models', pinned)).toEqual([]);
    expect(
      (await listed('/v1/models', { ...pinned, providerKeys: [grant('openai')] })).length,
    ).toBeGreaterThan(0);
  });

  it('issue 37 several edges are one fleet: what any has counts, and what one has withdrawn or not repeated for a minute does not', async () => {
    expect(await report(['simulated', 'mistral'], 'e2')).toBe(204);
    expect(brands(await listed('/v1/models'))).toEqual(expect.arrayContaining(['deepseek', 'mistral']));
    expect(await report(null, 'e1')).toBe(204);
    expect(brands(await listed('/v1/models'))).not.toContain('deepseek');
    const { pool } = app.app.get(CatalogueDatabase);
    await pool.query(`UPDATE platform_credentials SET reported_at = reported_at - interval '61 s'`);
    await app.app.get(StoredCredentials).refresh();
    // No other edge knows better.
    expect(brands(await listed('/v1/models'))).toContain('mistral');
    expect(await report(['simulated', 'deepseek'], 'e3')).toBe(204);
    expect(brands(await listed('/v1/models'))).not.toContain('mistral');
  });

  it('issue 37 a model whose routes no edge serves is in no list of what can be called, whatever credential there is', async () => {
    const [route] = readSeed({ simulated: false })
      .models.flatMap(({ id, routes }) =>
        routes.map(({ provider, upstream_model }) => ({ id, provider, upstream_model })),
      )
      .filter(({ provider, id }) => provider === 'azure' && id.startsWith('openai/'));
    const name = `${route.id} ${route.provider} ${route.upstream_model}`;
    const ids = async (path: string): Promise<string[]> => (await listed(path)).map(({ id }) => id);
    const paths = ['/v1/models', '/openai/v1/models', '/v1/providers/azure/models'];
    const isListed = async (): Promise<boolean[]> =>
      Promise.all(paths.map(async (path) => (await ids(path)).includes(route.id)));
    expect(await report(null, 'e2')).toBe(204);
    expect(await report(['azure'], 'e3')).toBe(204);
    expect(await isListed()).toEqual([true, true, true]);
    expect(await report(['azure'], 'e3', FLEET_TOKEN, [name])).toBe(204);
    expect(await isListed()).toEqual([false, false, false]);
    const { body } = await app.get(`/v1/models/${route.id}`, app.credentialOf(keyPrincipal()));
    expect(body.is_available).toBe(false);
    const admin = app.credentialOf(sessionPrincipal({ isSuperAdmin: true }));
    const { availability, routes } = (await app.get(`/v1/admin/models/${route.id}`, admin))
      .body as AdminModelRecord;
    expect([availability.status, routes.some((one) => one.has_credential)]).toEqual([
      'needs_credential',
      false,
    ]);
    // Another edge may have a credential that serves it.
    expect(await report(['azure'], 'e4')).toBe(204);
    expect(await isListed()).toEqual([true, true, true]);
    expect(await report(null, 'e4')).toBe(204);
    expect(await report(['simulated', 'deepseek'], 'e3')).toBe(204);
    for (const unserved of ['x', [1], ['a'], Array<string>(2_001).fill('a b c')])
      expect(await report(['azure'], 'e5', FLEET_TOKEN, unserved)).toBe(422);
  });

  it('issue 37 a report that is none is 422, and one without the fleet’s token 404', async () => {
    for (const providers of ['openai', [1], ['a', 'a'], [''], Array<string>(2_001).fill('a')])
      expect(await report(providers)).toBe(422);
    expect(await report([], 'a b')).toBe(422);
    expect(await report([], 'e1', 'another')).toBe(404);
  });
});

describe.each([
  ['on', ['deepseek', 'simulated'], true],
  ['off', ['simulated'], false],
] as const)('SIMULATED_MODELS=%s', (setting, providers, isThere) => {
  it(`issue 37 ${isThere ? 'lists them beside real ones' : 'never lists them'}`, async () => {
    const other = await startCatalogue({
      ...{ CATALOGUE_DATABASE_URL: database.url, SIMULATED_PROVIDER: 'true', SIMULATED_MODELS: setting },
    });
    try {
      await other.app.get(StoredCredentials).report('e3', { providers, unserved: [] });
      const { body } = await other.get('/v1/models', other.credentialOf(keyPrincipal()));
      expect(brands(body as Listed[]).includes('simulator')).toBe(isThere);
    } finally {
      await other.close();
    }
  });
});
