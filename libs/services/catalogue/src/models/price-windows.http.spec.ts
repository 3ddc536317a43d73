import { applyMigrations } from '@gateway/database';
import { keyPrincipal, sessionPrincipal, testDatabase, type TestDatabase } from '@gateway/testing';
import { startCatalogue, type CatalogueApp } from '../catalogue-app.fixture.js';
import { SCHEMA, SCHEMA_DIR } from '../postgres/catalogue-database.js';

let database: TestDatabase;
let app: CatalogueApp;
let key: string;
let admin: string;

beforeAll(async () => {
  database = await testDatabase({
    schemaDir: SCHEMA_DIR,
    migrate: (url) => applyMigrations({ url, schemaDir: SCHEMA_DIR, schema: SCHEMA }),
  });
  app = await startCatalogue({ CATALOGUE_DATABASE_URL: database.url, SIMULATED_PROVIDER: 'true' });
  key = app.credentialOf(keyPrincipal());
  admin = app.credentialOf(sessionPrincipal({ isSuperAdmin: true }));
});
afterAll(async () => {
  await app.close();
  await database.drop();
});

const YEAR_MS = 366 * 86_400_000;
const at = (ms: number): string => new Date(Date.now() + ms).toISOString();
const rates = (rate: string): object => ({ prompt_usd_per_1m: rate, completion_usd_per_1m: rate });
const windowed = (windows: unknown): object => ({
  ...{ name: 'By the hour', model_type: 'text', context_length: 1_000, supports: ['completions_api'] },
  ...{ input_modalities: ['text'], output_modalities: ['text'] },
  routes: [
    {
      ...{ provider: 'simulated', upstream_model: 'sim-chat', dialect: 'chat', effective_date: '2026-01-01' },
      price: { pricing_unit: 'per_1m_tokens', ...rates('1'), windows },
    },
    {
      ...{ provider: 'simulated-messages', upstream_model: 'sim-claude', dialect: 'messages' },
      ...{ effective_date: '2026-01-01', price: { pricing_unit: 'per_1m_tokens', ...rates('2') } },
    },
  ],
});
const put = async (windows: unknown): Promise<unknown[]> => {
  const { status, body } = await app.send('PUT', '/v1/admin/models/acme/hourly', admin, windowed(windows));
  return [status, body];
};

describe('prices by hour in reads', () => {
  it('issue 37 show the price that holds now, its window, and every other price with its times', async () => {
    const from = at(-YEAR_MS);
    const promotion = { name: 'promotion', from, until: at(YEAR_MS), prices: rates('0.0001') };
    const ended = { name: 'ended', until: from, prices: rates('5') };
    expect((await put([ended, promotion]))[0]).toBe(200);
    const { body } = await app.get('/v1/models/acme/hourly', key);
    expect(body).toMatchObject({
      pricing: { prompt_usd_per_1m: '0.0001', effective_date: from.slice(0, 10) },
      price_window: 'promotion',
      windows: [
        { name: 'standard', is_current: false, from: null, pricing: { prompt_usd_per_1m: '1' } },
        { name: 'ended', is_current: false, until: from, hours_utc: null },
        { name: 'promotion', is_current: true, from, pricing: { prompt_usd_per_1m: '0.0001' } },
      ],
    });
    expect(body.pricing).not.toHaveProperty('windows');
    const offers = (await app.get('/v1/models/acme/hourly/providers', key)).body.data;
    expect(offers).toMatchObject([
      { provider: 'simulated', price_window: 'promotion', pricing: { prompt_usd_per_1m: '0.0001' } },
      { provider: 'simulated-messages', price_window: null, windows: null },
    ]);
    const search = '/v1/models/search?sort=price&output_modality=text&free=false&brand=acme';
    expect((await app.get(search, key)).body.data).toMatchObject([{ price_window: 'promotion' }]);
    const history = (await app.get('/v1/models/acme/hourly/price-history', key)).body.data;
    expect(
      history.find(({ provider }: { provider: string }) => provider === 'simulated').windows,
    ).toMatchObject([{ name: 'standard' }, { name: 'ended' }, { name: 'promotion' }]);
  });

  it('issue 37 of a price whose windows do not hold are the cheapest route’s standard price', async () => {
    expect((await put([{ name: 'later', from: at(YEAR_MS), prices: rates('0.1') }]))[0]).toBe(200);
    const { body } = await app.get('/v1/models/acme/hourly', key);
    expect(body).toMatchObject({ price_window: null, pricing: { prompt_usd_per_1m: '1' } });
    expect(body.windows).toMatchObject([{ name: 'standard', is_current: true }, { name: 'later' }]);
    // A dear window makes another route the cheapest.
    expect((await put([{ name: 'peak', until: at(YEAR_MS), prices: rates('9') }]))[0]).toBe(200);
    expect((await app.get('/v1/models/acme/hourly', key)).body).toMatchObject({
      ...{ price_window: null, windows: null, pricing: { prompt_usd_per_1m: '2' } },
    });
  });

  it('issue 37 may be kept by caches until the next edge at most, where the ETag is another one', async () => {
    expect((await put([{ name: 'soon', from: at(20_000), prices: rates('0.1') }]))[0]).toBe(200);
    const { headers } = await app.get('/v1/public/models/acme/hourly');
    const [, seconds] = /max-age=(\d+)/.exec(headers.get('cache-control') ?? '') ?? [];
    expect(Number(seconds)).toBeLessThan(20);
  });

  it('issue 37 with a fault are 422 with its place', async () => {
    const faulty = { name: 'peak', hours_utc: ['1-2'], prices: rates('1') };
    expect(await put([faulty])).toMatchObject([
      422,
      {
        error: {
          code: 'validation_error',
          details: [{ loc: ['routes', 0, 'price', 'windows', 0, 'hours_utc', 0] }],
        },
      },
    ]);
  });
});
