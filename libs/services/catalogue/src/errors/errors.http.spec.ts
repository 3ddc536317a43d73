import { VERSIONS } from '@gateway/api-version';
import { ERRORS, type AdminKeyPrincipal } from '@gateway/contracts';
import { applyMigrations } from '@gateway/database';
import { keyPrincipal, sessionPrincipal, testDatabase, type TestDatabase } from '@gateway/testing';
import { startCatalogue, type CatalogueApp } from '../catalogue-app.fixture.js';
import { SCHEMA, SCHEMA_DIR } from '../postgres/catalogue-database.js';
import { errorCatalogue } from './error-catalogue.js';

let database: TestDatabase;
let app: CatalogueApp;
let key: string;

beforeAll(async () => {
  database = await testDatabase({
    schemaDir: SCHEMA_DIR,
    migrate: (url) => applyMigrations({ url, schemaDir: SCHEMA_DIR, schema: SCHEMA }),
  });
  app = await startCatalogue({ CATALOGUE_DATABASE_URL: database.url });
  key = app.credentialOf(keyPrincipal());
});
afterAll(async () => {
  await app.close();
  await database.drop();
});

describe('GET /v1/errors', () => {
  it('ERR-64 ERR-66 AUTH-01 answers version, default, categories and codes', async () => {
    const { status, body } = await app.get('/v1/errors', key);
    expect(status).toBe(200);
    expect(Object.keys(body).sort()).toEqual(['categories', 'codes', 'default', 'version']);
    for (const category of Object.values<object>(body.categories))
      expect(category).toEqual({
        title: expect.any(String),
        fault: expect.any(String),
        retry: expect.any(String),
      });
    for (const entry of Object.values<{ category: string }>(body.codes)) {
      expect(entry).toMatchObject({
        status: expect.any(Number),
        fault: expect.stringMatching(/^(caller|account|service|mixed)$/),
        retryable: expect.any(Boolean),
        retry_after: expect.any(Boolean),
        action: expect.stringMatching(/\.$/),
        provider_codes: expect.any(Array),
      });
      expect(body.categories).toHaveProperty(entry.category);
    }
  });

  it('ERR-65 has an entry for every code that an ApiError can carry, with its status', async () => {
    const { codes } = (await app.get('/v1/errors', key)).body;
    expect(Object.keys(codes).sort()).toEqual(Object.keys(ERRORS).sort());
    for (const [code, entry] of Object.entries(ERRORS)) expect(codes[code].status).toBe(entry.status);
  });

  it('ERR-66 the status of a failure is the status of its entry', async () => {
    const { codes } = (await app.get('/v1/errors', key)).body;
    const failures = [
      await app.get('/v1/errors'),
      await app.get('/v1/errors', key, { 'x-service-version': 'x' }),
      await app.get('/v1/models/no/such', key),
      await app.get('/v1/nothing', key),
      await app.get('/v1/models?type=song', key),
      await app.get('/v1/errors', app.credentialOf(keyPrincipal({ status: 'suspended' }))),
    ];
    expect(failures.map(({ body }) => body.error.code)).toEqual([
      'unauthorized',
      'invalid_api_version',
      'model_not_found',
      'not_found',
      'validation_error',
      'forbidden',
    ]);
    for (const { status, body } of failures) expect(codes[body.error.code].status).toBe(status);
  });

  it('has another version when the table changes, and the same one when it does not', () => {
    const other = { ...ERRORS, conflict: { ...ERRORS.conflict, action: 'Read it again.' } };
    expect(errorCatalogue(other).version).not.toBe(errorCatalogue().version);
    expect(errorCatalogue().version).toBe(errorCatalogue({ ...ERRORS }).version);
  });
});

describe('GET /v1/api-versions', () => {
  it('VER-16 VER-17 VER-18 VER-29 VER-30 VER-31 VER-32 VER-33 AUTH-01 lists versions oldest first', async () => {
    const { status, body } = await app.get('/v1/api-versions', key);
    expect(status).toBe(200);
    expect(body).toEqual(VERSIONS);
    const labels = body.map(({ label }: { label: string }) => label);
    expect(labels).toEqual([...labels].sort());
    expect(body.at(-1).capabilities).toContain('video.poll_by_request_id');
    let known: string[] = [];
    for (const record of body) {
      expect(Object.keys(record).sort()).toEqual(
        'baseline capabilities deprecated_on label latest notes_url released status sunset_on'.split(' '),
      );
      expect(['ga', 'sunset']).toContain(record.status);
      expect(record.capabilities).toEqual(expect.arrayContaining(known));
      known = record.capabilities;
    }
    for (const mark of ['baseline', 'latest'])
      expect(body.filter((record: Record<string, unknown>) => record[mark] === true)).toHaveLength(1);
  });

  it('VER-34 accepts a session token', async () => {
    expect((await app.get('/v1/api-versions', app.credentialOf(sessionPrincipal()))).status).toBe(200);
  });
});

describe('who may call what', () => {
  const admin: AdminKeyPrincipal = {
    kind: 'admin_key',
    keyId: 'mak_1',
    createdBy: 'usr_1',
    expiresAtMs: null,
    orgId: 'org_1',
    accountId: 'acct_1',
    accountVersion: 1,
    scopes: ['keys:read'],
  };
  const publicReads = [
    '/v1/models',
    '/v1/models/:id',
    '/v1/models/:brand/:name',
    '/v1/models/:id/providers',
    '/v1/models/:brand/:name/providers',
    '/v1/models/search',
    '/v1/models/:id/price-history',
    '/v1/models/:brand/:name/price-history',
    '/v1/providers/pinnable',
    '/v1/providers/:provider/models',
    '/openai/v1/models',
    '/openai/v1/models/:id',
    '/openai/v1/models/:brand/:name',
    '/v1/errors',
    '/v1/api-versions',
  ];
  const adminRoutes = [
    '/v1/admin/providers',
    '/v1/admin/models',
    '/v1/admin/models/:id',
    '/v1/admin/models/:brand/:name',
    '/v1/admin/providers/:slug',
    '/v1/admin/models/:id/edits',
    '/v1/admin/models/:brand/:name/edits',
    '/v1/admin/catalogue/import',
    '/v1/admin/catalogue/feed',
    '/v1/admin/catalogue/sync',
    '/v1/admin/catalogue/pending',
    '/v1/admin/catalogue/pending/apply',
    '/v1/admin/catalogue/pending/dismiss',
    '/v1/admin/aliases',
    '/v1/admin/aliases/:id',
  ];
  /** Paths of an organization; the table of roles has who may call them. */
  const orgRoutes = ['/v1/aliases', '/v1/aliases/:id'];
  const internalReads = [
    '/internal/catalogue/snapshot',
    '/internal/catalogue/snapshots/:id',
    '/internal/catalogue/aliases',
  ];
  /** Paths of writes whose callers are shown beside them. */
  const internalWrites = [
    '/internal/catalogue/health',
    '/internal/catalogue/provider-states',
    '/internal/catalogue/credentials',
    '/internal/catalogue/unknown',
  ];

  it('the table names every endpoint of the service', () => {
    const own = app.routes.filter(({ access }) => access.public !== true).map(({ path }) => path);
    const named = [...publicReads, ...internalReads, ...internalWrites, ...adminRoutes, ...orgRoutes];
    expect([...new Set(own)].sort()).toEqual(named.sort());
  });

  const at = (path: string): string =>
    path
      .replace(':id', 'openai%2Fgpt-4o')
      .replace(':brand/:name', 'openai/gpt-4o')
      .replace(':provider', 'openai');

  it.each(publicReads)('AUTH-01 %s takes a key and a session, and refuses the rest', async (path) => {
    const statusOf = async (credential?: string, headers = {}): Promise<number> =>
      (await app.get(at(path), credential, headers)).status;
    expect(await statusOf(key)).toBe(200);
    expect(await statusOf(app.credentialOf(sessionPrincipal()))).toBe(200);
    expect(await statusOf(app.credentialOf(admin))).toBe(403);
    expect(await statusOf(app.credentialOf(keyPrincipal({ status: 'suspended' })))).toBe(403);
    expect(await statusOf(app.credentialOf(keyPrincipal({ expiresAtMs: 1 })))).toBe(401);
    expect(await statusOf('rsk_nonsense')).toBe(401);
    expect(await statusOf()).toBe(401);
    expect(await statusOf(undefined, { 'x-fleet-token': 'guess' })).toBe(401);
  });

  it.each(internalReads)('%s is there for the fleet alone', async (path) => {
    const credentials = [undefined, key, app.credentialOf(sessionPrincipal()), app.credentialOf(admin)];
    for (const credential of credentials) expect((await app.get(at(path), credential)).status).toBe(404);
  });
});
