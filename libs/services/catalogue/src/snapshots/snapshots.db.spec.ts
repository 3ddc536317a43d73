import { CatalogueReader, TOPIC, type CatalogueSnapshot } from '@gateway/contracts';
import { applyMigrations } from '@gateway/database';
import { SystemClock, SystemRandom } from '@gateway/platform';
import { eventually, testDatabase, type TestDatabase } from '@gateway/testing';
import { FLEET_TOKEN, startCatalogue, type CatalogueApp } from '../catalogue-app.fixture.js';
import { CatalogueDatabase, SCHEMA, SCHEMA_DIR } from '../postgres/catalogue-database.js';
import { readSeed } from '../seed/read-seed.js';
import type { Seed } from '../seed/seed-record.js';
import type { Release } from './catalogue-model.js';
import { publish } from './publish.js';
import { newestSnapshot, readSnapshot } from './snapshot.store.js';

const [clock, random] = [new SystemClock(), new SystemRandom()];
type Adapters = Release['adapters'];

const paths = new Set(['/chat/completions']);
const adapters: Adapters = new Map([
  ['simulated', ['chat']],
  ['simulated-messages', ['messages']],
]);
const FLEET = { 'x-fleet-token': FLEET_TOKEN };

let testing: TestDatabase;
let database: CatalogueDatabase;

beforeEach(async () => {
  testing = await testDatabase({
    schemaDir: SCHEMA_DIR,
    migrate: (url) => applyMigrations({ url, schemaDir: SCHEMA_DIR, schema: SCHEMA }),
  });
  database = new CatalogueDatabase({ url: testing.url, maxConnections: 6, statementTimeoutMs: 20_000 });
});
afterEach(async () => {
  await database.onApplicationShutdown();
  await testing.drop();
});

const seed = (): Seed => readSeed({ simulated: true });
const publishing = (of: Seed, by: Adapters = adapters): Promise<string | null> =>
  publish(database, { seedOf: () => Promise.resolve(of), adapters: by, paths, clock, random });

async function newest(): Promise<CatalogueSnapshot> {
  const name = await newestSnapshot(database.prisma);
  const snapshot = name === null ? null : await readSnapshot(database.prisma, name.id);
  if (snapshot === null) throw new Error('There is no snapshot.');
  return snapshot;
}

/** The same seed with another prompt price of simulator/chat. */
function repriced(usd: string): Seed {
  const changed = structuredClone(seed());
  const chat = changed.models.find(({ id }) => id === 'simulator/chat');
  if (chat === undefined) throw new Error('The seed lacks simulator/chat.');
  chat.routes[0].price.prompt_usd_per_1m = usd;
  chat.routes[0].effective_date = '2026-12-01';
  return { ...changed, digest: `with ${usd}` };
}

describe('publish', () => {
  it('makes one snapshot and one event of a seed, and nothing more of the same seed', async () => {
    const id = await publishing(seed());
    expect(id).toMatch(/^snap_[0-9a-f-]{36}$/);
    expect(await publishing(seed())).toBeNull();
    expect((await newest()).id).toBe(id);
    const events = await database.prisma.outbox.findMany();
    expect(events.map(({ topic, key }) => [topic, key])).toEqual([[TOPIC.catalogue, 'catalogue']]);
    expect(JSON.parse(events[0].value)).toMatchObject({
      specversion: '1.0',
      source: '/catalogue',
      id,
      data: { snapshot_id: id, created_at: (await newest()).created_at },
    });
  });

  it('publishes once when four processes start together', async () => {
    const published = await Promise.all([seed(), seed(), seed(), seed()].map((of) => publishing(of)));
    expect(published.filter((id) => id !== null)).toHaveLength(1);
    expect(await database.prisma.snapshot.count()).toBe(1);
  });

  it('a changed price makes a new snapshot; the old one and the old price stay as they were', async () => {
    const first = await publishing(seed());
    const second = await publishing(repriced('0.75'));
    const price = (snapshot: CatalogueSnapshot | null) =>
      snapshot?.models.find(({ record }) => record.id === 'simulator/chat')?.record.pricing;
    expect(price(await readSnapshot(database.prisma, first ?? ''))).toMatchObject({
      prompt_usd_per_1m: '0.5',
      effective_date: '2026-11-21',
    });
    expect((await newest()).id).toBe(second);
    expect(price(await newest())).toMatchObject({ prompt_usd_per_1m: '0.75', effective_date: '2026-12-01' });
    const kept = await database.prisma.price.findMany({
      where: { model_id: 'simulator/chat' },
      orderBy: { id: 'asc' },
    });
    expect(kept.map(({ record }) => (record as { prompt_usd_per_1m: string }).prompt_usd_per_1m)).toEqual([
      '0.5',
      '0.75',
    ]);
    expect(await database.prisma.price.count({ where: { model_id: 'simulator/free' } })).toBe(1);
  });

  it('an adapter that is added enables its models without a new seed', async () => {
    await publishing(seed());
    const before = (await newest()).models.length;
    await publishing(seed(), new Map([...adapters, ['openai', ['chat'] as const]]));
    expect((await newest()).models.length).toBeGreaterThan(before);
    expect((await newest()).providers.map(({ slug }) => slug)).toEqual([
      'openai',
      'simulated',
      'simulated-messages',
    ]);
  });

  it('leaves everything as it was when it fails in the middle', async () => {
    const first = await publishing(seed());
    const broken = repriced('0.75');
    broken.models.push(broken.models[0]);
    await expect(publishing(broken)).rejects.toThrow();
    expect((await newest()).id).toBe(first);
    expect((await database.prisma.seed.findFirst())?.digest).toBe(seed().digest);
    expect(await publishing(seed())).toBeNull();
  });

  it('a snapshot cannot be changed by who reads it', async () => {
    await publishing(seed());
    const { models } = await newest();
    expect(() => Object.assign(models[0].record.pricing, { prompt_usd_per_1m: '0' })).toThrow(TypeError);
  });
});

describe('the catalogue service', () => {
  let app: CatalogueApp;
  const env = (): Record<string, string> => ({
    CATALOGUE_DATABASE_URL: testing.url,
    CATALOGUE_POLL_MS: '100',
  });
  afterEach(() => app.close());

  it('offers simulated models only where the operator says so', async () => {
    app = await startCatalogue(env());
    const { models, providers } = app.app.get<CatalogueReader>(CatalogueReader).snapshot();
    expect(models.length).toBeGreaterThan(60);
    expect(models.filter(({ record }) => record.brand === 'simulator')).toEqual([]);
    expect(providers.filter(({ slug }) => slug.startsWith('simulated'))).toEqual([]);
  });

  it('sends the event of its first snapshot', async () => {
    app = await startCatalogue(env());
    await eventually(() => app.log.appended.length === 1);
    expect(app.log.appended[0].topic).toBe(TOPIC.catalogue);
    expect(app.log.appended[0].record.value).toContain((await newest()).id);
  });

  it('GET /internal/catalogue/snapshot answers the snapshot with its ETag, and 304 to it', async () => {
    app = await startCatalogue({ ...env(), SIMULATED_PROVIDER: 'true' });
    const first = await app.get('/internal/catalogue/snapshot', undefined, FLEET);
    expect([first.status, first.headers.get('etag')]).toEqual([200, `"${first.body.id}"`]);
    expect(first.body).toEqual(await newest());
    const again = await app.get('/internal/catalogue/snapshot', undefined, {
      ...FLEET,
      'if-none-match': first.headers.get('etag') ?? '',
    });
    expect([again.status, again.body]).toEqual([304, null]);
  });

  it('follows what another process publishes, notifies its listeners, and still answers the older snapshot', async () => {
    app = await startCatalogue({ ...env(), SIMULATED_PROVIDER: 'true' });
    const reader = app.app.get<CatalogueReader>(CatalogueReader);
    const before = reader.snapshot();
    const changes: string[] = [];
    const stopListening = reader.onChange(({ id }) => changes.push(id));
    const id = await publishing(repriced('0.75'));
    await eventually(() => reader.snapshot().id === id);
    expect(changes).toEqual([id]);
    stopListening();
    const old = await app.get(`/internal/catalogue/snapshots/${before.id}`, undefined, FLEET);
    expect(old.body).toEqual(before);
    expect((await app.get('/internal/catalogue/snapshots/snap_none', undefined, FLEET)).status).toBe(404);
  });

  it('starts again on the same database with the same snapshot', async () => {
    app = await startCatalogue(env());
    const { id } = app.app.get<CatalogueReader>(CatalogueReader).snapshot();
    await app.close();
    app = await startCatalogue(env());
    expect(app.app.get<CatalogueReader>(CatalogueReader).snapshot().id).toBe(id);
  });
});
