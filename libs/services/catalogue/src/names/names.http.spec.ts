import { applyMigrations } from '@gateway/database';
import { sessionPrincipal, testDatabase, type TestDatabase } from '@gateway/testing';
import { FLEET_TOKEN, startCatalogue, type CatalogueApp } from '../catalogue-app.fixture.js';
import { SCHEMA, SCHEMA_DIR } from '../postgres/catalogue-database.js';

describe('POST /internal/catalogue/unknown', () => {
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

  const ask = (body: object, headers: Record<string, string>): Promise<Response> =>
    fetch(`${app.url}/internal/catalogue/unknown`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });

  it('answers the names that neither the catalogue nor an adapter of the release has', async () => {
    const models = ['simulator/chat', 'chat', 'auto', 'simulator/nothing', 'nothing'];
    // No model of the catalogue is at this one, but customers may bring keys to it.
    const providers = ['simulated', 'openai', 'huggingface', 'acme'];
    // A list is compared with the listed id alone: a name without its brand is none there.
    const ids = ['simulator/chat', 'chat', 'simulator/nothing'];
    const answer = await ask({ models, ids, providers }, { 'x-fleet-token': FLEET_TOKEN });
    expect([answer.status, await answer.json()]).toEqual([
      200,
      {
        models: ['simulator/nothing', 'nothing'],
        ids: ['chat', 'simulator/nothing'],
        providers: ['acme'],
      },
    ]);
  });

  it('counts aliases of the organization that is asked for, and of the platform', async () => {
    const fleet = { 'x-fleet-token': FLEET_TOKEN };
    const admin = app.credentialOf(sessionPrincipal({ isSuperAdmin: true }));
    const memberships = [{ orgId: 'org_1', accountId: 'acct_1', role: 'owner' as const, teams: [] }];
    const owner = app.credentialOf(sessionPrincipal({ memberships }));
    const targets = [{ model: 'simulator/chat', weight: 1 }];
    await app.send('POST', '/v1/admin/aliases', admin, { name: 'house', targets });
    await app.send('POST', '/v1/aliases', owner, { org_id: 'org_1', name: 'ours', targets });
    const names = ['house', 'ours'];
    const asked = { models: names, ids: names, providers: [] };
    const unknown = async (more: object): Promise<unknown> =>
      (await ask({ ...asked, ...more }, fleet)).json();
    expect(await unknown({ org_id: 'org_1' })).toEqual({ models: [], ids: [], providers: [] });
    expect(await unknown({ org_id: 'org_2' })).toEqual({ models: ['ours'], ids: ['ours'], providers: [] });
    expect(await unknown({})).toEqual({ models: ['ours'], ids: ['ours'], providers: [] });
  });

  it('is for services alone, and bounded', async () => {
    expect((await ask({ models: [], ids: [], providers: [] }, {})).status).toBe(404);
    const models = Array<string>(501).fill('a/b');
    const long = await ask({ models, ids: [], providers: [] }, { 'x-fleet-token': FLEET_TOKEN });
    expect(long.status).toBe(422);
  });
});
