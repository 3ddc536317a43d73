import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AdminModelRecord, ImportedModelBody, PriceStep } from '@gateway/contracts';
import { applyMigrations } from '@gateway/database';
import { Metrics } from '@gateway/platform';
import { sessionPrincipal, testDatabase, type TestDatabase } from '@gateway/testing';
import { startCatalogue, type CatalogueApp } from '../catalogue-app.fixture.js';
import { CatalogueDatabase, SCHEMA, SCHEMA_DIR } from '../postgres/catalogue-database.js';
import { readSeed } from '../seed/read-seed.js';
import { publicKeyText, sealEnvelope } from '../signed/envelope.js';
import { FeedUnreadable, readFeed } from './feed-address.js';
import { payloadOf } from './feed-payload.js';

const signer = generateKeyPairSync('ed25519').privateKey;
const stranger = generateKeyPairSync('ed25519').privateKey;
/** Versions are minutes of a day: this one is newer than the data of any release. */
const FIRST = 203_001_010_000;
const PATH = '/v1/admin/catalogue';

let folder: string;
let file: string;
let database: TestDatabase;
let app: CatalogueApp;
let admin: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'feed-'));
  file = join(folder, 'catalogue.json');
  database = await testDatabase({
    schemaDir: SCHEMA_DIR,
    migrate: (url) => applyMigrations({ url, schemaDir: SCHEMA_DIR, schema: SCHEMA }),
  });
  app = await startCatalogue({
    CATALOGUE_DATABASE_URL: database.url,
    SIMULATED_PROVIDER: 'true',
    CATALOGUE_FEED_URL: pathToFileURL(file).href,
    CATALOGUE_FEED_KEYS: `ours=${publicKeyText(signer)}`,
    CATALOGUE_FEED_SECONDS: '0',
  });
  admin = app.credentialOf(sessionPrincipal({ isSuperAdmin: true }));
});
afterAll(async () => {
  await app.close();
  await database.drop();
  rmSync(folder, { recursive: true });
});

interface Payload {
  version: number;
  created_at: string;
  brands: object[];
  providers: object[];
  models: ImportedModelBody[];
}

/** The data of this release as a document, changed. */
function payload(version: number, change: (models: ImportedModelBody[]) => void = () => undefined): Payload {
  const made = payloadOf(readSeed({ simulated: false }), {
    version,
    createdAt: '2026-11-28T00:00:00Z',
  }) as Payload;
  change(made.models);
  return made;
}
const sealed = (of: object, key = signer, keyid = 'ours'): string =>
  sealEnvelope(Buffer.from(JSON.stringify(of)), {
    pem: key.export({ format: 'pem', type: 'pkcs8' }).toString(),
    keyid,
  });
const sync = async (text: string | null, body: object = {}) => {
  if (text !== null) writeFileSync(file, text);
  return app.send('POST', `${PATH}/sync`, admin, body);
};
const modelOf = (models: ImportedModelBody[], id: string): ImportedModelBody => {
  const found = models.find((model) => model.id === id);
  if (found === undefined) throw new Error(`There is no ${id}.`);
  return found;
};
const priced =
  (prompt: string, field = 'prompt_usd_per_1m') =>
  (models: ImportedModelBody[]) => {
    for (const route of modelOf(models, 'openai/gpt-5.5').routes ?? [])
      if (route.provider === 'openai') route.price = { ...route.price, [field]: prompt };
  };
const added = (models: ImportedModelBody[]): void => {
  models.push({ ...structuredClone(modelOf(models, 'openai/gpt-5.5')), id: 'openai/gpt-99', name: 'GPT-99' });
};
const read = async (id: string): Promise<AdminModelRecord> =>
  (await app.get(`/v1/admin/models/${id}`, admin)).body as AdminModelRecord;
const ownRoute = ({ routes }: AdminModelRecord): AdminModelRecord['routes'][number] =>
  routes.filter(({ provider }) => provider === 'openai')[0];
const promptOf = async (id: string): Promise<unknown> => ownRoute(await read(id)).price.prompt_usd_per_1m;
const served = async (): Promise<unknown> => {
  const { pool } = app.app.get(CatalogueDatabase);
  return (await pool.query('SELECT max(position) AS newest FROM snapshot')).rows;
};
const alarms = async (of = app): Promise<number> => {
  const text = await of.app.get(Metrics, { strict: false }).scrape();
  const counts = [...text.matchAll(/^gateway_catalogue_feed_refused_total\{.*\} (\d+)$/gm)];
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
};

describe('POST /v1/admin/catalogue/sync', () => {
  it('issue 37 edit a price, sync data that moves it and adds a model: the edit stands, the drift shows, the model is there', async () => {
    const before = await read('openai/gpt-5.5');
    const { provider, upstream_model, price } = ownRoute(before);
    const own = { ...price, prompt_usd_per_1m: '4.44', effective_date: undefined };
    const routes = [{ provider, upstream_model, price: own }];
    expect((await app.send('PATCH', '/v1/admin/models/openai/gpt-5.5', admin, { routes })).status).toBe(200);
    const dearer = (Number(price.prompt_usd_per_1m) * 1.1).toFixed(3);
    const document = sealed(
      payload(FIRST, (models) => {
        priced(dearer)(models);
        added(models);
      }),
    );

    const dry = await sync(document, { dry_run: true });
    expect([dry.status, dry.body]).toMatchObject([
      200,
      { status: 'applied', dry_run: true, applied: ['openai/gpt-5.5', 'openai/gpt-99'], pending: [] },
    ]);
    expect((await app.get('/v1/admin/models/openai/gpt-99', admin)).status).toBe(404);

    const { status, body } = await sync(document);
    expect([status, body]).toMatchObject([
      200,
      { status: 'applied', version: FIRST, keyid: 'ours', added: ['openai/gpt-99'], removed: [] },
    ]);
    expect((await read('openai/gpt-99')).routes[0].price_layer).toBe('feed');
    const edited = await read('openai/gpt-5.5');
    expect([await promptOf('openai/gpt-5.5'), edited.is_drifted]).toEqual(['4.44', true]);
    expect(edited.edits).toMatchObject([{ below: { layer: 'feed', value: { prompt_usd_per_1m: dearer } } }]);

    await app.send('DELETE', '/v1/admin/models/openai/gpt-5.5/edits', admin);
    expect(await promptOf('openai/gpt-5.5')).toBe(dearer);
    const history = (await app.get('/v1/models/openai/gpt-5.5/price-history', admin)).body
      .data as PriceStep[];
    expect(history.map(({ pricing }) => pricing.prompt_usd_per_1m).slice(0, 2)).toEqual([dearer, '4.44']);
    expect((await sync(null)).body).toMatchObject({ status: 'unchanged', applied: [] });
    const { pool } = app.app.get(CatalogueDatabase);
    const { rows } = await pool.query(`SELECT target_id FROM audit_log WHERE action = 'catalogue.feed'`);
    expect(rows).toEqual([{ target_id: `ours:${FIRST}` }]);
    expect((await app.get(`${PATH}/feed`, admin)).body).toMatchObject({
      ...{
        version: FIRST,
        keyid: 'ours',
        created_at: '2026-11-28T00:00:00.000Z',
        last_error: null,
        pending: 0,
      },
      ...{ policy: 'apply_below', apply_below_pct: 20, every_seconds: 0, next_read_at: null },
    });
    expect((await read('simulator/chat')).availability.status).toBe('ready');
  });

  const newer = (change?: (models: ImportedModelBody[]) => void): Payload => payload(FIRST + 1, change);
  const hostile: [string, () => string, number, string, RegExp][] = [
    [
      'a forged signature',
      () => sealed(newer(), stranger),
      422,
      'unprocessable_entity',
      /signature does not fit/,
    ],
    [
      'a key that is not known',
      () => sealed(newer(), stranger, 'x'),
      422,
      'unprocessable_entity',
      /No known key/,
    ],
    ['a truncated file', () => sealed(newer()).slice(0, 5_000), 422, 'unprocessable_entity', /cut off/],
    [
      'a date ahead of the clock',
      () => sealed({ ...newer(), created_at: '2099-01-01T00:00:00Z' }),
      422,
      'unprocessable_entity',
      /ahead of the clock/,
    ],
    [
      'an older version',
      () => sealed(payload(FIRST - 1)),
      409,
      'conflict',
      /has version \d+, and \d+ is known/,
    ],
    [
      'other content of a known version',
      () => sealed(payload(FIRST)),
      409,
      'conflict',
      /Another document of version/,
    ],
    [
      'a faulty model',
      () => sealed(newer((models) => (modelOf(models, 'openai/gpt-4o').context_length = -1))),
      422,
      'validation_error',
      /openai\/gpt-4o/,
    ],
    [
      'a dropped tenth',
      () => sealed(newer((models) => models.splice(0, Math.ceil(models.length / 9)))),
      409,
      'conflict',
      /would drop \d+ of \d+ models/,
    ],
    [
      'a price of 0',
      () => sealed(newer(priced('0', 'cache_read_input_usd_per_1m'))),
      409,
      'conflict',
      /make cache_read_input_usd_per_1m of openai\/gpt-5.5 .*free/,
    ],
    [
      'a price x 1,000',
      () => sealed(newer(priced('5000'))),
      409,
      'conflict',
      /move prompt_usd_per_1m of openai\/gpt-5.5/,
    ],
    [
      'an emptied price',
      () =>
        sealed(
          newer((models) => {
            const [route] = modelOf(models, 'openai/gpt-5.5').routes ?? [];
            route.price = { ...route.price, cache_read_input_usd_per_1m: null };
          }),
        ),
      409,
      'conflict',
      /empty cache_read_input_usd_per_1m/,
    ],
  ];
  it.each(hostile)(
    'issue 37 %s changes nothing that is served, and is told once',
    async (_what, document, status, code, words) => {
      const [before, told] = [await served(), await alarms()];
      const text = document();
      for (const _again of [1, 2]) {
        const answer = await sync(text);
        expect([answer.status, answer.body.error]).toMatchObject([
          status,
          { code, message: expect.stringMatching(words) },
        ]);
      }
      expect([await served(), (await alarms()) - told]).toEqual([before, 1]);
      const { last_error, version } = (await app.get(`${PATH}/feed`, admin)).body;
      expect([last_error, version]).toMatchObject([{ code, message: expect.stringMatching(words) }, FIRST]);
    },
  );

  it('issue 37 a feed that is away changes nothing, and is told once however long', async () => {
    const [before, told] = [await served(), await alarms()];
    rmSync(file);
    for (let day = 0; day < 7; day += 1) {
      const answer = await sync(null);
      expect([answer.status, answer.body.error.code]).toEqual([503, 'service_unavailable']);
    }
    expect([await served(), (await alarms()) - told]).toEqual([before, 1]);
  });

  it('issue 37 a feed that never ends changes nothing, and is told once', async () => {
    const block = Buffer.alloc(1_048_576, 0x20);
    const endless = createServer((_, response) => {
      const more = (): void => {
        while (!response.destroyed && response.write(block));
      };
      response.on('drain', more);
      more();
    });
    await new Promise<void>((resolve) => endless.listen(0, '127.0.0.1', resolve));
    const other = await startCatalogue({
      ...{ CATALOGUE_DATABASE_URL: database.url, SIMULATED_PROVIDER: 'true', CATALOGUE_FEED_SECONDS: '0' },
      CATALOGUE_FEED_URL: `http://127.0.0.1:${(endless.address() as AddressInfo).port}/`,
      CATALOGUE_FEED_KEYS: `ours=${publicKeyText(signer)}`,
    });
    try {
      const before = await served();
      const person = other.credentialOf(sessionPrincipal({ isSuperAdmin: true }));
      for (const _again of [1, 2]) {
        const { status, body } = await other.send('POST', `${PATH}/sync`, person, {});
        expect([status, body.error]).toMatchObject([
          422,
          { code: 'unprocessable_entity', message: expect.stringMatching(/larger than 33554432 bytes/) },
        ]);
      }
      expect([await served(), await alarms(other)]).toEqual([before, 1]);
    } finally {
      await other.close();
      endless.closeAllConnections();
      endless.close();
    }
  });

  it('issue 37 a move beyond the percentage waits, whole or by model, until a super admin takes it', async () => {
    const document = sealed(
      payload(FIRST + 2, (models) => {
        priced('9')(models);
        models.splice(
          models.findIndex(({ id }) => id === 'openai/gpt-4o'),
          1,
        );
        modelOf(models, 'openai/gpt-5.4').name = 'Renamed';
      }),
    );
    const { body } = await sync(document);
    // gpt-99 of the document before is not in this one either.
    const waiting = ['openai/gpt-4o', 'openai/gpt-5.5', 'openai/gpt-99'];
    expect(body).toMatchObject({ status: 'pending', applied: ['openai/gpt-5.4'], pending: waiting });
    expect([await promptOf('openai/gpt-5.5'), (await read('openai/gpt-5.4')).name]).toEqual([
      expect.not.stringMatching(/^9$/),
      'Renamed',
    ]);
    const pending = (await app.get(`${PATH}/pending`, admin)).body;
    expect(pending).toMatchObject({
      ...{ version: FIRST + 2, total: 3 },
      data: [
        { model: 'openai/gpt-4o', kind: 'removed' },
        { model: 'openai/gpt-5.5', kind: 'changed', fields: ['routes'], prices: [{ window: null, to: '9' }] },
        { model: 'openai/gpt-99', kind: 'removed' },
      ],
    });
    const settle = (verb: string, more: object) =>
      app.send('POST', `${PATH}/pending/${verb}`, admin, { change_id: pending.change_id, ...more });
    expect((await settle('apply', { change_id: 'chg_old' })).status).toBe(409);
    expect((await settle('apply', { models: ['openai/gpt-5.4'] })).status).toBe(409);
    expect((await settle('apply', { models: ['openai/gpt-5.5'] })).body).toMatchObject({
      status: 'pending',
      applied: ['openai/gpt-5.5'],
      pending: ['openai/gpt-4o', 'openai/gpt-99'],
    });
    expect(await promptOf('openai/gpt-5.5')).toBe('9');
    expect((await settle('dismiss', { models: ['openai/gpt-4o'] })).body.pending).toEqual(['openai/gpt-99']);
    expect((await settle('apply', {})).body).toMatchObject({ status: 'applied', applied: ['openai/gpt-99'] });
    expect((await app.get(`${PATH}/pending`, admin)).body).toMatchObject({
      change_id: null,
      data: [],
      total: 0,
    });
    expect((await read('openai/gpt-4o')).id).toBe('openai/gpt-4o');
    const forced = await sync(sealed(payload(FIRST + 3, priced('0', 'cache_read_input_usd_per_1m'))), {
      force: true,
    });
    expect([forced.status, forced.body.pending]).toEqual([200, ['openai/gpt-5.5']]);
  });

  it('issue 37 is for super admins alone', async () => {
    const person = app.credentialOf(sessionPrincipal());
    expect((await app.send('POST', `${PATH}/sync`, person, {})).status).toBe(403);
    expect((await app.get(`${PATH}/feed`, person)).status).toBe(403);
  });
});

describe('the reading of an address', () => {
  const serve = async (answer: Parameters<typeof createServer>[1]): Promise<[Server, string]> => {
    const server = createServer(answer ?? (() => undefined));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return [server, `http://127.0.0.1:${(server.address() as AddressInfo).port}/`];
  };
  const reading = (url: string, timeoutMs?: number) => readFeed({ url, ca: null, proxy: null, timeoutMs });

  it('issue 37 ends where a feed never ends, by its size or by its time', async () => {
    const block = Buffer.alloc(1_048_576);
    const [endless, at] = await serve((_, response) => {
      const more = (): void => {
        while (!response.destroyed && response.write(block));
      };
      response.on('drain', more);
      more();
    });
    await expect(reading(at)).rejects.toThrow('larger than');
    endless.close();
    const [silent, there] = await serve((_, response) => void response.write('{'));
    await expect(reading(there, 200)).rejects.toThrow('not within 0.2 s');
    silent.closeAllConnections();
    silent.close();
  });

  it('issue 37 follows no redirect to another host, and one on its own', async () => {
    const [server, at] = await serve((request, response) => {
      const to: Record<string, string> = { '/': '/there', '/out': 'http://127.0.0.1:9/' };
      const location = to[request.url ?? ''];
      if (location === undefined) response.end('the document');
      else response.writeHead(302, { location }).end();
    });
    expect((await reading(at)).toString()).toBe('the document');
    await expect(reading(`${at}out`)).rejects.toThrow(FeedUnreadable);
    server.closeAllConnections();
    server.close();
  });
});
