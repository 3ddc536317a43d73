import { applyMigrations } from '@gateway/database';
import {
  keyPrincipal,
  modelAccess,
  sessionPrincipal,
  testDatabase,
  type TestDatabase,
} from '@gateway/testing';
import { startCatalogue, type CatalogueApp } from '../catalogue-app.fixture.js';
import { SCHEMA, SCHEMA_DIR } from '../postgres/catalogue-database.js';

interface Wire {
  id: string;
  name: string;
  pricing: Record<string, unknown>;
  output_modalities: string[];
  [member: string]: unknown;
}

const VERSION_9 = { 'x-service-version': '2026-09' };
const MONEY = /^\d{1,9}(\.\d{1,12})?$/;

let database: TestDatabase;
let app: CatalogueApp;
let key: string;

beforeAll(async () => {
  database = await testDatabase({
    schemaDir: SCHEMA_DIR,
    migrate: (url) => applyMigrations({ url, schemaDir: SCHEMA_DIR, schema: SCHEMA }),
  });
  app = await startCatalogue({ CATALOGUE_DATABASE_URL: database.url, SIMULATED_PROVIDER: 'true' });
  key = app.credentialOf(keyPrincipal());
});
afterAll(async () => {
  await app.close();
  await database.drop();
});

async function search(
  query: string,
  credential = key,
): Promise<{ ids: string[]; body: ReturnType<JSON['parse']> }> {
  const { status, body } = await app.get(`/v1/models/search?${query}`, credential);
  if (status !== 200) throw new Error(JSON.stringify(body));
  return { ids: body.data.map(({ id }: Wire) => id), body };
}

describe('GET /v1/models/search', () => {
  it('MOD-34 MOD-47 finds models by words of name, id or description, the model of that name first', async () => {
    expect((await search('q=simulator/chat')).ids[0]).toBe('simulator/chat');
    expect((await search('q=gpt-4o')).ids[0]).toBe('openai/gpt-4o');
    const { ids } = await search('q=embedding&limit=200');
    expect(ids.length).toBeGreaterThan(3);
    expect((await search('q=EMBEDDING%20%20model&limit=200')).ids.length).toBeGreaterThan(3);
    expect((await search('q=no-such-thing-at-all')).ids).toEqual([]);
    expect((await search('limit=200')).body.total).toBeGreaterThan(60);
  });

  it('MOD-35 MOD-47 capability= is repeatable and every one has to hold, beside the other filters', async () => {
    const { body } = await search('capability=tools&capability=thinking&type=text&limit=200');
    expect(body.total).toBeGreaterThan(5);
    for (const model of body.data)
      expect([model.supports_tools, model.supports_thinking, model.model_type]).toEqual([true, true, 'text']);
    const narrow = await search('brand=simulator&provider=simulated&free=false&min_context=1&limit=200');
    expect(narrow.ids.length).toBeGreaterThan(0);
    expect(narrow.ids.every((id) => id.startsWith('simulator/'))).toBe(true);
    const large = await search('min_context=1000000&limit=200');
    for (const model of large.body.data) expect(model.context_length).toBeGreaterThanOrEqual(1_000_000);
    const dated = await search('retires_before=2027-04-02&limit=200');
    expect(dated.ids).toContain('openai/gpt-5.1');
    for (const model of dated.body.data) expect(model.retires_at < '2027-04-02').toBe(true);
    expect((await search('retires_before=2027-04-01&limit=200')).ids).not.toContain('openai/gpt-5.1');
    const paged = await search('limit=2&offset=1');
    expect(paged.ids).toEqual((await search('limit=3')).ids.slice(1));
    expect(paged.body).toMatchObject({ limit: 2, offset: 1 });
  });

  it('MOD-36 MOD-48 answers facets of everything that matches, not of the page alone', async () => {
    const { body } = await search('type=text&limit=1');
    expect(Object.keys(body.facets)).toEqual([
      'brand',
      'model_type',
      'capability',
      'input_modality',
      'output_modality',
      'provider',
    ]);
    expect(body.facets.model_type).toEqual([{ value: 'text', count: body.total }]);
    const counted = (name: string): number =>
      body.facets[name].reduce((sum: number, { count }: { count: number }) => sum + count, 0);
    expect(counted('brand')).toBe(body.total);
    for (const name of ['capability', 'provider', 'input_modality']) {
      const counts = body.facets[name].map(({ count }: { count: number }) => count);
      expect(counts.length).toBeGreaterThan(0);
      expect(counts).toEqual([...counts].sort((a, b) => b - a));
    }
  });

  it('MOD-37 sort=price orders by price where exactly one output modality of three is given', async () => {
    const { body } = await search('sort=price&output_modality=text&limit=200');
    const sums = (body.data as Wire[]).map(({ pricing }) =>
      pricing.prompt_usd_per_1m === null && pricing.completion_usd_per_1m === null
        ? Infinity
        : // In nano: sums of decimals in binary differ in their last digits.
          Math.round(1e9 * (Number(pricing.prompt_usd_per_1m) + Number(pricing.completion_usd_per_1m))),
    );
    expect(sums.length).toBeGreaterThan(50);
    expect(sums).toEqual([...sums].sort((a, b) => a - b));
    const images = await search('sort=price&output_modality=image');
    expect((images.body.data as Wire[]).every((model) => model.output_modalities.includes('image'))).toBe(
      true,
    );
  });

  it('issue 41 sort orders by name and by context in both directions, over all pages, those without a context last', async () => {
    const valuesOf = async (sort: string, field: 'name' | 'context_length'): Promise<unknown[]> => {
      const parts = await Promise.all(
        [0, 200].map((offset) => search(`sort=${sort}&limit=200&offset=${offset}`)),
      );
      return parts.flatMap(({ body }) => (body.data as Wire[]).map((model) => model[field]));
    };
    const names = (await valuesOf('name', 'name')).map((name) => String(name).toLowerCase());
    expect(names.length).toBeGreaterThan(200);
    expect(names).toEqual([...names].sort((a, b) => (a < b ? -1 : 1)));
    const backwards = await valuesOf('-name', 'name');
    expect(backwards.map((name) => String(name).toLowerCase())).toEqual(names.toReversed());
    const up = (await valuesOf('context_length', 'context_length')) as (number | null)[];
    const down = (await valuesOf('-context_length', 'context_length')) as (number | null)[];
    const known = up.filter((context) => context !== null);
    expect(known).toEqual([...known].sort((a, b) => a - b));
    expect([up.slice(0, known.length), down.slice(0, known.length)]).toEqual([known, known.toReversed()]);
  });

  it.each([
    'sort=price',
    'sort=price&output_modality=audio',
    'sort=price&output_modality=text&output_modality=image',
  ])('MOD-38 400 bad_request for %s', async (query) => {
    const { status, body } = await app.get(`/v1/models/search?${query}`, key);
    expect([status, body.error.code]).toEqual([400, 'bad_request']);
  });

  it.each([
    'sort=colour',
    'limit=0',
    'limit=201',
    'offset=-1',
    'capability=magic',
    'input_modality=smell',
    'output_modality=text&output_modality=smell',
    'min_context=many',
    'retires_before=soon',
    'colour=red',
  ])('422 validation_error for ?%s', async (query) => {
    const { status, body } = await app.get(`/v1/models/search?${query}`, key);
    expect([status, body.error.code]).toEqual([422, 'validation_error']);
    expect(JSON.stringify(body.error.details)).toContain(query.split('=')[0]);
  });

  it('shows a key only what it may call', async () => {
    const only = app.credentialOf(keyPrincipal({ access: [modelAccess('key', ['simulator/chat'], null)] }));
    expect((await search('limit=200', only)).ids).toEqual(['simulator/chat']);
  });
});

describe('providers of a model', () => {
  const entryKeys =
    'provider name pricing price_window windows context_length max_output_tokens regions zero_retention is_available uptime_30m latency_p50_ms throughput_p50'.split(
      ' ',
    );

  it('MOD-39 MOD-49 lists every provider by slug, each with its own price', async () => {
    for (const path of ['simulator/dual', 'simulator%2Fdual', 'dual']) {
      const { status, body } = await app.get(`/v1/models/${path}/providers`, key);
      expect(status).toBe(200);
      expect(body).toMatchObject({ total: 2, limit: 50, offset: 0 });
      expect(body.data.map(({ provider }: Wire) => provider)).toEqual(['simulated', 'simulated-messages']);
      for (const entry of body.data) {
        expect(Object.keys(entry)).toEqual(entryKeys);
        expect(entry.pricing.prompt_usd_per_1m).toMatch(MONEY);
        expect(entry.zero_retention).toBe(true);
      }
      const [one, two] = body.data.map(({ pricing }: Wire) => pricing.prompt_usd_per_1m);
      expect(one).not.toBe(two);
    }
  });

  it('403 model_excluded and 404 model_not_found as for the model itself', async () => {
    const blocked = app.credentialOf(
      keyPrincipal({ access: [modelAccess('key', null, ['simulator/dual'])] }),
    );
    expect((await app.get('/v1/models/simulator/dual/providers', blocked)).body.error.code).toBe(
      'model_excluded',
    );
    expect((await app.get('/v1/models/simulator/none/providers', key)).body.error.code).toBe(
      'model_not_found',
    );
  });

  it('MOD-44 MOD-45 lists the providers a key can be pinned to, and what each still serves', async () => {
    const { body } = await app.get('/v1/providers/pinnable?limit=200', key);
    const slugs: string[] = body.data.map(({ provider }: Wire) => provider);
    expect(slugs).toEqual([...slugs].sort());
    expect(slugs).toEqual(expect.arrayContaining(['anthropic', 'openai', 'simulated']));
    expect(body.data[slugs.indexOf('openai')]).toEqual({ provider: 'openai', name: 'OpenAI' });
    const served = await app.get('/v1/providers/simulated-messages/models', key);
    expect(served.body.data.map(({ id }: Wire) => id)).toEqual([
      'simulator/claude',
      'simulator/claude-reasoning',
      'simulator/dual',
    ]);
    expect((await app.get('/v1/providers/nobody/models', key)).body.error.code).toBe('not_found');
  });

  it('MOD-46 says nowhere which provider is the default one', async () => {
    for (const path of ['/v1/models', '/v1/models/simulator/dual', '/v1/public/models/simulator/dual'])
      expect(JSON.stringify((await app.get(path, key)).body)).not.toMatch(/"(default_)?provider"/);
    const { body } = await app.get('/v1/models/simulator/dual/providers', key);
    expect(JSON.stringify(body)).not.toContain('default');
  });
});

describe('pricing', () => {
  it('MOD-19 MOD-50 has every dimension, null where it is not billed', async () => {
    const { body } = await app.get('/v1/models/simulator/chat', key);
    expect(Object.keys(body.pricing)).toEqual(
      expect.arrayContaining(
        (
          'effective_date discount_pct tool_pricing price_matrix request_usd cache_write_input_usd_per_1m ' +
          'cache_write_1h_input_usd_per_1m long_context_threshold_tokens long_context_prompt_usd_per_1m ' +
          'long_context_completion_usd_per_1m batch_prompt_usd_per_1m batch_completion_usd_per_1m ' +
          'flex_prompt_usd_per_1m flex_completion_usd_per_1m audio_input_usd_per_1m audio_output_usd_per_1m ' +
          'image_input_usd_per_1m image_output_usd_per_1m image_usd_per_unit video_usd_per_second ' +
          'audio_usd_per_minute characters_usd_per_1m search_usd_per_1k'
        ).split(' '),
      ),
    );
    expect(body.pricing.effective_date).toMatch(/^\d{4}-\d{2}-\d{2}$/);
  });

  it('MOD-22 MOD-23 MOD-24 MOD-25 shows an account its discount under 2026-09 alone', async () => {
    const discount = { pct: '50', models: null, providers: ['simulated-messages'] };
    const saver = app.credentialOf(keyPrincipal({ discount }));
    const older = await app.get('/v1/models/simulator/dual', saver);
    expect(older.body.pricing).not.toHaveProperty('discounted');
    const later = await app.get('/v1/models/simulator/dual', saver, VERSION_9);
    const { body: entries } = await app.get('/v1/models/simulator/dual/providers', saver, VERSION_9);
    const [plain, cut] = entries.data.map(({ pricing }: Wire) => pricing);
    expect(plain).not.toHaveProperty('discounted');
    expect(cut.discount_pct).toBe('50');
    expect(Number(cut.discounted.prompt_usd_per_1m)).toBe(Number(cut.prompt_usd_per_1m) / 2);
    const best = Math.min(
      Number(plain.prompt_usd_per_1m) + Number(plain.completion_usd_per_1m),
      Number(cut.discounted.prompt_usd_per_1m) + Number(cut.discounted.completion_usd_per_1m),
    );
    const shown = later.body.pricing.discounted;
    expect(Number(shown.prompt_usd_per_1m) + Number(shown.completion_usd_per_1m)).toBe(best);
    for (const rate of Object.values(shown)) if (typeof rate === 'string') expect(rate).toMatch(MONEY);
    const other = await app.get('/v1/models/simulator/chat', saver, VERSION_9);
    expect(other.body.pricing).not.toHaveProperty('discounted');
    const searched = await app.get('/v1/models/search?q=simulator/dual', saver, VERSION_9);
    expect(searched.body.data[0].pricing.discounted).toEqual(shown);
  });
});

describe('the public catalogue', () => {
  it('MOD-40 answers without a key what /v1/models answers with one', async () => {
    const everything = (await app.get('/v1/models', key)).body;
    const open = await app.get('/v1/public/models');
    expect([open.status, open.body]).toEqual([200, everything]);
    expect((await app.get('/v1/public/models/simulator%2Fchat')).body.id).toBe('simulator/chat');
    expect((await app.get('/v1/public/models/simulator/dual/providers')).body.total).toBe(2);
    expect((await app.get('/v1/public/models/search?q=simulator/chat')).body.data[0].id).toBe(
      'simulator/chat',
    );
    expect((await app.get('/v1/public/models/simulator/none')).status).toBe(404);
  });

  it('MOD-41 shows list prices, whoever asks', async () => {
    const discount = { pct: '50', models: null, providers: null };
    for (const credential of [keyPrincipal({ discount }), sessionPrincipal({ discount })]) {
      const { body } = await app.get('/v1/public/models', app.credentialOf(credential), VERSION_9);
      expect(body.some(({ pricing }: Wire) => 'discounted' in pricing)).toBe(false);
    }
    expect((await app.get('/v1/public/models', 'rsk_of_nobody')).status).toBe(200);
  });

  it('MOD-43 names brands and providers, each with a drawn logo', async () => {
    const { body } = await app.get('/v1/public/brands');
    expect(body.brands.map(({ slug }: Wire) => slug)).toEqual(
      expect.arrayContaining(['openai', 'simulator']),
    );
    for (const entry of [...body.brands, ...body.providers]) {
      expect(Object.keys(entry)).toEqual(['slug', 'name', 'logo']);
      const [type, drawn] = entry.logo.split(',');
      expect(type).toBe('data:image/svg+xml;base64');
      expect(Buffer.from(drawn, 'base64').toString()).toMatch(
        /^<svg .*<text [^<>]*>[^<>&]{1,2}<\/text><\/svg>$/,
      );
    }
  });

  it('MOD-52 carries ETag and Cache-Control, and 304 to the current ETag', async () => {
    const first = await app.get('/v1/public/models');
    const etag = first.headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[\w-]{43}"$/);
    expect(first.headers.get('cache-control')).toBe('public, max-age=60');
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const again = await app.get('/v1/public/models', undefined, { 'if-none-match': known });
      expect([known, again.status, again.body, again.headers.get('etag')]).toEqual([known, 304, null, etag]);
    }
    const other = await app.get('/v1/public/models?free=true', undefined, { 'if-none-match': etag });
    expect(other.status).toBe(200);
  });
});
