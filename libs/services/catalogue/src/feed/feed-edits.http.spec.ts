import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type { AdminModelRecord, ImportedModelBody } from '@gateway/contracts';
import { applyMigrations } from '@gateway/database';
import { repository, sessionPrincipal, testDatabase, type TestDatabase } from '@gateway/testing';
import { startCatalogue, type CatalogueApp } from '../catalogue-app.fixture.js';
import { SCHEMA, SCHEMA_DIR } from '../postgres/catalogue-database.js';
import { readSeed } from '../seed/read-seed.js';
import { publicKeyText, sealEnvelope } from '../signed/envelope.js';
import { payloadOf } from './feed-payload.js';

/** Newer than the data of any release. */
const VERSION = 203_001_010_000;
const CONFIG = join(repository, 'dist/tools/config/src/main.js');
const PATCHED = 'openai/gpt-5.5';
const IMPORTED = 'openai/gpt-5.4';
const APPLIED = 'openai/gpt-5.4-mini';
const WRITTEN = 'openai/gpt-5.4-nano';
/** Models of which an operator has set the price at OpenAI, each by another way. */
const EDITED = [PATCHED, IMPORTED, APPLIED, WRITTEN];
const NEW = 'openai/gpt-99';
const OURS = '4.44';
/** Price that a gateway.yaml sets. */
let filePrice = OURS;

let folder: string;
let file: string;
let database: TestDatabase;
let app: CatalogueApp;
let admin: string;
const signer = generateKeyPairSync('ed25519').privateKey;

const modelsOf = (): ImportedModelBody[] =>
  structuredClone(
    (
      payloadOf(readSeed({ simulated: false }), {
        version: VERSION,
        createdAt: '2026-11-28T00:00:00Z',
      }) as { models: ImportedModelBody[] }
    ).models,
  );
const named = (models: ImportedModelBody[], id: string): ImportedModelBody => {
  const found = models.find((model) => model.id === id);
  if (found === undefined) throw new Error(`There is no ${id}.`);
  return found;
};

/** Writes a document that moves the price of each edited model, names it anew and adds one. */
function writeFeed(): void {
  const made = payloadOf(readSeed({ simulated: false }), {
    version: VERSION,
    createdAt: '2026-11-28T00:00:00Z',
  }) as { models: ImportedModelBody[] };
  for (const id of EDITED) {
    const model = named(made.models, id);
    model.name = `${id} by the feed`;
    for (const route of model.routes ?? [])
      if (route.provider === 'openai') route.price = { ...route.price, prompt_usd_per_1m: '3.33' };
  }
  made.models.push({ ...structuredClone(named(made.models, PATCHED)), id: NEW, name: 'GPT-99' });
  const pem = signer.export({ format: 'pem', type: 'pkcs8' }).toString();
  writeFileSync(file, sealEnvelope(Buffer.from(JSON.stringify(made)), { pem, keyid: 'ours' }));
}

/** Writes a gateway.yaml that sets one price. */
function configOf(name: string, model: string | null): string {
  const path = join(folder, name);
  const prices = `{ prompt_usd_per_1m: '${filePrice}', completion_usd_per_1m: '8.88' }`;
  writeFileSync(
    path,
    model === null ? 'prices: []' : `prices: [{ model: ${model}, provider: openai, prices: ${prices} }]`,
  );
  return path;
}

async function start(written: string | null): Promise<void> {
  app = await startCatalogue({
    ...{ CATALOGUE_DATABASE_URL: database.url, GATEWAY_CONFIG: configOf('gateway.yaml', written) },
    ...{ CATALOGUE_FEED_URL: pathToFileURL(file).href, CATALOGUE_FEED_SECONDS: '0' },
    ...{ CATALOGUE_FEED_KEYS: `ours=${publicKeyText(signer)}`, CATALOGUE_FEED_POLICY: 'apply' },
  });
  admin = app.credentialOf(sessionPrincipal({ isSuperAdmin: true }));
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'feed-edits-'));
  file = join(folder, 'catalogue.json');
  database = await testDatabase({
    schemaDir: SCHEMA_DIR,
    migrate: (url) => applyMigrations({ url, schemaDir: SCHEMA_DIR, schema: SCHEMA }),
  });
  await start(WRITTEN);
});
afterAll(async () => {
  await app?.close();
  await database?.drop();
  rmSync(folder, { recursive: true });
});

const read = async (id: string): Promise<AdminModelRecord> =>
  (await app.get(`/v1/admin/models/${id}`, admin)).body as AdminModelRecord;
const ownRoute = ({ routes }: AdminModelRecord): AdminModelRecord['routes'][number] =>
  routes.filter(({ provider }) => provider === 'openai')[0];
const priceOf = async (id: string): Promise<unknown[]> => {
  const { price, price_layer: layer } = ownRoute(await read(id));
  return [price.prompt_usd_per_1m, layer];
};

describe('edits by each way under a feed', () => {
  it('issue 37 stand by API, import, config apply and gateway.yaml while a feed moves what is below', async () => {
    const { provider, upstream_model, price } = ownRoute(await read(PATCHED));
    const own = { ...price, prompt_usd_per_1m: OURS, effective_date: undefined };
    const routes = [{ provider, upstream_model, price: own }];
    expect((await app.send('PATCH', `/v1/admin/models/${PATCHED}`, admin, { routes })).status).toBe(200);

    const loaded = named(modelsOf(), IMPORTED);
    for (const route of loaded.routes ?? [])
      if (route.provider === 'openai') route.price = { ...route.price, prompt_usd_per_1m: OURS };
    const load = await app.send('POST', '/v1/admin/catalogue/import', admin, { models: [loaded] });
    expect([load.status, load.body]).toMatchObject([200, { changed: [{ id: IMPORTED }], removed: [] }]);

    const fleet = { GATEWAY_URL: app.url, GATEWAY_TOKEN: admin };
    const said = await promisify(execFile)(
      process.execPath,
      [CONFIG, 'apply', configOf('apply.yaml', APPLIED)],
      {
        ...{ cwd: repository, env: { PATH: process.env.PATH, ...fleet }, timeout: 60_000 },
      },
    );
    expect(said.stdout).toContain('prices of 1 others');

    for (const id of EDITED)
      expect([id, ...(await priceOf(id))]).toEqual([id, OURS, id === WRITTEN ? 'file' : 'operator']);

    writeFeed();
    const sync = await app.send('POST', '/v1/admin/catalogue/sync', admin, { force: true });
    expect([sync.status, sync.body]).toMatchObject([200, { status: 'applied', added: [NEW], pending: [] }]);
    expect((await read(NEW)).routes[0].price_layer).toBe('feed');
    for (const id of EDITED) {
      const record = await read(id);
      // The rest of the model follows.
      expect([record.name, await priceOf(id)]).toEqual([
        `${id} by the feed`,
        [OURS, id === WRITTEN ? 'file' : 'operator'],
      ]);
      expect(record.edits).toMatchObject([
        {
          field: 'price',
          provider: 'openai',
          below: { layer: 'feed', value: { prompt_usd_per_1m: '3.33' } },
        },
      ]);
    }
    const drifted = await app.get('/v1/admin/models?is_drifted=true&limit=200', admin);
    const ids = (drifted.body.data as AdminModelRecord[]).map(({ id }) => id).sort();
    expect(ids).toEqual([...EDITED].sort());
  });

  it('issue 37 show over a new start that what lies below a line of gateway.yaml has moved, until the line says something new', async () => {
    await app.close();
    await start(WRITTEN);
    expect((await read(WRITTEN)).edits).toMatchObject([{ layer: 'file', is_drifted: true }]);
    await app.close();
    filePrice = '4.45';
    await start(WRITTEN);
    expect((await read(WRITTEN)).edits).toMatchObject([{ layer: 'file', is_drifted: false }]);
  });

  it('issue 37 take the price of the feed once they follow again; the one of gateway.yaml once its line has gone', async () => {
    for (const id of [PATCHED, IMPORTED, APPLIED]) {
      const followed = await app.send('DELETE', `/v1/admin/models/${id}/edits`, admin);
      expect([followed.status, followed.body.edits]).toEqual([200, []]);
      expect(await priceOf(id)).toEqual(['3.33', 'feed']);
    }
    const refused = await app.send('DELETE', `/v1/admin/models/${WRITTEN}/edits?field=price`, admin);
    expect([refused.status, refused.body.error.code]).toEqual([409, 'conflict']);
    await app.close();
    await start(null);
    expect(await priceOf(WRITTEN)).toEqual(['3.33', 'feed']);
  });
});
