import { applyMigrations } from '@gateway/database';
import {
  goldenAnswer,
  goldenAnswers,
  GOLDEN_VERSIONS,
  keyPrincipal,
  modelAccess,
  testDatabase,
  type TestDatabase,
} from '@gateway/testing';
import { startCatalogue, type CatalogueApp } from '../catalogue-app.fixture.js';
import { SCHEMA, SCHEMA_DIR } from '../postgres/catalogue-database.js';

const ANTHROPIC = { 'anthropic-version': '2023-06-01' };

/** Models of the built-in simulator alone: those of others come and go with every release. */
const CASES: Record<string, [path: string, headers?: Record<string, string>]> = {
  models: ['/v1/models?provider=simulated-messages'],
  'models-of-anthropic': ['/v1/models?provider=simulated-messages', ANTHROPIC],
  'models-of-openai': ['/openai/v1/models?provider=simulated-messages'],
  'models-invalid': ['/v1/models?type=song'],
  search: ['/v1/models/search?brand=simulator&capability=thinking&limit=1'],
  'search-by-price': ['/v1/models/search?brand=simulator&sort=price&output_modality=image&limit=1'],
  'search-nothing': ['/v1/models/search?q=no-such-thing-at-all'],
  'search-invalid': ['/v1/models/search?limit=0'],
  'search-without-order': ['/v1/models/search?sort=price'],
  model: ['/v1/models/simulator/chat'],
  'model-discounted': ['/v1/models/simulator/dual'],
  'model-of-openai': ['/openai/v1/models/simulator/chat'],
  'model-image': ['/v1/models/simulator/image'],
  'model-free': ['/v1/models/simulator/free'],
  'model-video': ['/v1/models/simulator/video'],
  'model-unknown': ['/v1/models/simulator/none'],
  'model-excluded': ['/v1/models/simulator/strict'],
  'model-providers': ['/v1/models/simulator/dual/providers'],
  'model-price-history': ['/v1/models/simulator/dual/price-history'],
  'provider-models': ['/v1/providers/simulated-messages/models?limit=1'],
  'provider-unknown': ['/v1/providers/nobody/models'],
  'public-models': ['/v1/public/models?provider=simulated-messages'],
  'public-search': ['/v1/public/models/search?brand=simulator&type=embedding'],
  'public-model': ['/v1/public/models/simulator/dual'],
  'public-providers': ['/v1/public/models/simulator/dual/providers'],
  'public-unknown': ['/v1/public/models/simulator/none'],
  'api-versions': ['/v1/api-versions'],
};

let database: TestDatabase;
let app: CatalogueApp;
let key: string;

beforeAll(async () => {
  database = await testDatabase({
    schemaDir: SCHEMA_DIR,
    migrate: (url) => applyMigrations({ url, schemaDir: SCHEMA_DIR, schema: SCHEMA }),
  });
  app = await startCatalogue({ CATALOGUE_DATABASE_URL: database.url, SIMULATED_PROVIDER: 'true' });
  key = app.credentialOf(
    keyPrincipal({
      discount: { pct: '50', models: ['simulator/dual'], providers: null },
      access: [modelAccess('key', null, ['simulator/strict'])],
    }),
  );
});
afterAll(async () => {
  await app.close();
  await database.drop();
});

describe.each(GOLDEN_VERSIONS)('the golden answers of the catalogue of %s', (version) => {
  const golden = goldenAnswers('libs/services/catalogue/src/golden', version);
  afterAll(() => golden.save());

  it.each(Object.entries(CASES))('VER-23 %s', async (name, [path, more = {}]) => {
    const isPublic = path.startsWith('/v1/public/');
    const headers = {
      'x-service-version': version,
      ...(isPublic ? {} : { authorization: `Bearer ${key}` }),
      ...more,
    };
    const answered = await goldenAnswer(await fetch(`${app.url}${path}`, { headers }));
    const kept = golden.of(name, answered);
    // Members may be added, so the files hold the least that is answered.
    expect(kept).toBeDefined();
    expect(answered).toMatchObject(kept ?? {});
  });

  it('MOD-24 MOD-25 hold the discount under 2026-09 alone', async () => {
    const headers = { authorization: `Bearer ${key}`, 'x-service-version': version };
    const { body } = await goldenAnswer(await fetch(`${app.url}/v1/models/simulator/dual`, { headers }));
    expect('discounted' in (body as { pricing: object }).pricing).toBe(version === '2026-09');
  });
});
