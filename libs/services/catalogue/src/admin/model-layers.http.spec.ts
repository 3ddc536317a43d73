import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AdminModelRecord, PriceStep } from '@gateway/contracts';
import { applyMigrations } from '@gateway/database';
import { sessionPrincipal, testDatabase, type TestDatabase } from '@gateway/testing';
import { startCatalogue, type CatalogueApp } from '../catalogue-app.fixture.js';
import { CatalogueDatabase, SCHEMA, SCHEMA_DIR } from '../postgres/catalogue-database.js';

let folder: string;
let database: TestDatabase;
let app: CatalogueApp;
let admin: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'model-layers-'));
  database = await testDatabase({
    schemaDir: SCHEMA_DIR,
    migrate: (url) => applyMigrations({ url, schemaDir: SCHEMA_DIR, schema: SCHEMA }),
  });
  await start('1.5');
});
afterAll(async () => {
  await app.close();
  await database.drop();
  rmSync(folder, { recursive: true });
});

/** Starts with a file that prices simulator/dual at its first provider, and has a model of its own. */
async function start(prompt: string): Promise<void> {
  const path = join(folder, 'gateway.yaml');
  writeFileSync(
    path,
    `
models:
  - id: lab/own
    context_length: ${prompt === '1.5' ? 1000 : 2000}
    routes: [{ provider: simulated, upstream_model: sim-chat, dialect: chat, free: true }]
prices:
  - { model: simulator/dual, provider: simulated, prices: { prompt_usd_per_1m: '${prompt}', completion_usd_per_1m: '2' } }
`,
  );
  app = await startCatalogue({
    CATALOGUE_DATABASE_URL: database.url,
    SIMULATED_PROVIDER: 'true',
    GATEWAY_CONFIG: path,
  });
  admin = app.credentialOf(sessionPrincipal({ isSuperAdmin: true, userId: 'usr_1' }));
}
async function restart(prompt: string): Promise<void> {
  await app.close();
  await start(prompt);
}

const read = async (id: string): Promise<AdminModelRecord> =>
  (await app.get(`/v1/admin/models/${id}`, admin)).body as AdminModelRecord;
const patch = (id: string, body: object) => app.send('PATCH', `/v1/admin/models/${id}`, admin, body);
const follow = (id: string, query = '') => app.send('DELETE', `/v1/admin/models/${id}/edits${query}`, admin);
const route = { provider: 'simulated', upstream_model: 'sim-chat' };
const dual = { ...route, upstream_model: 'sim-dual' };
const price = (prompt: string): object => ({
  ...{ pricing_unit: 'per_1m_tokens', prompt_usd_per_1m: prompt, completion_usd_per_1m: '7' },
});
const promptAt = ({ routes }: AdminModelRecord, provider: string): unknown[] => {
  const found = routes.find((one) => one.provider === provider);
  return [found?.price.prompt_usd_per_1m, found?.price_layer];
};

describe('PATCH /v1/admin/models/{id}', () => {
  it('issue 37 sets the fields that it names, and says which layer each price comes from', async () => {
    const before = await read('simulator/dual');
    expect(before.edits).toMatchObject([
      { field: 'price', provider: 'simulated', layer: 'file', below: { layer: 'release' }, edited_by: null },
    ]);
    expect(promptAt(before, 'simulated')).toEqual(['1.5', 'file']);
    const body = { description: 'Ours.', routes: [{ ...dual, price: price('9') }] };
    const answer = await patch('simulator/dual', body);
    expect([answer.status, answer.body.description, answer.body.is_drifted]).toEqual([200, 'Ours.', false]);
    expect(answer.body).toEqual(await read('simulator/dual'));
    expect(promptAt(answer.body as AdminModelRecord, 'simulated')).toEqual(['9', 'operator']);
    expect(promptAt(answer.body as AdminModelRecord, 'simulated-messages')).toContain('release');
    expect(answer.body.edits).toMatchObject([
      {
        field: 'description',
        provider: null,
        layer: 'operator',
        value: 'Ours.',
        below: { layer: 'release' },
      },
      {
        ...{ field: 'price', ...dual, layer: 'operator', value: price('9'), edited_by: 'usr_1' },
        below: { layer: 'file', value: { prompt_usd_per_1m: '1.5' } },
      },
      { field: 'price', layer: 'file', below: { layer: 'release' } },
    ]);
  });

  it('issue 37 the edit stands while the rest follows, the drift is shown, and following again takes the new price', async () => {
    await restart('3');
    const moved = await read('simulator/dual');
    expect([promptAt(moved, 'simulated'), moved.is_drifted]).toEqual([['9', 'operator'], true]);
    expect(moved.edits.filter(({ is_drifted }) => is_drifted)).toMatchObject([
      { field: 'price', below: { layer: 'file', value: { prompt_usd_per_1m: '3' } } },
    ]);
    expect((await read('lab/own')).context_length).toBe(2000);
    const { body } = await app.get('/v1/admin/models?is_drifted=true&layer=operator', admin);
    expect((body.data as AdminModelRecord[]).map(({ id }) => id)).toEqual(['simulator/dual']);

    const followed = await follow('simulator/dual', '?field=price&provider=simulated');
    expect([followed.status, followed.body.is_drifted, followed.body.description]).toEqual([
      200,
      false,
      'Ours.',
    ]);
    expect(promptAt(followed.body as AdminModelRecord, 'simulated')).toEqual(['3', 'file']);
    const history = (await app.get('/v1/models/simulator/dual/price-history', admin)).body
      .data as PriceStep[];
    const own = history.filter(({ provider }) => provider === 'simulated');
    expect(own.map(({ pricing }) => pricing.prompt_usd_per_1m).slice(0, 3)).toEqual(['3', '9', '1.5']);
  });

  it('issue 37 404 for an edit that there is not, 409 for one of gateway.yaml', async () => {
    expect((await follow('simulator/chat')).status).toBe(404);
    const ofFile = await follow('simulator/dual', '?field=price');
    expect([ofFile.status, ofFile.body.error.message]).toEqual([
      409,
      'gateway.yaml says it: change simulator/dual there.',
    ]);
    expect((await follow('simulator/dual', '?colour=red')).status).toBe(422);
    expect((await follow('simulator/dual')).body.edits).toMatchObject([{ layer: 'file' }]);
  });

  it('issue 37 a write of what lies below anyway is no edit, and a field written as it is below becomes none', async () => {
    const { context_length } = await read('simulator/chat');
    expect((await patch('simulator/chat', { context_length })).body.edits).toEqual([]);
    expect((await patch('simulator/chat', { context_length: 77, name: 'Mine' })).body.edits).toHaveLength(2);
    expect((await patch('simulator/chat', { context_length })).body.edits).toMatchObject([{ field: 'name' }]);
    await follow('simulator/chat');
  });

  it('issue 37 adds a route and takes one away by PUT; following again brings back what was there', async () => {
    const added = { provider: 'openai', upstream_model: 'x', dialect: 'chat', price: price('4') };
    const with2 = await patch('simulator/chat', { routes: [added] });
    expect(promptAt(with2.body as AdminModelRecord, 'openai')).toEqual(['4', 'operator']);
    expect(
      (await patch('simulator/chat', { routes: [{ ...added, upstream_model: 'y', price: null }] })).status,
    ).toBe(422);
    expect((await patch('simulator/none', { name: 'x' })).status).toBe(404);
    const whole = {
      ...{ name: 'Other', model_type: 'text', context_length: 10, supports: ['completions_api'] },
      ...{ input_modalities: ['text'], output_modalities: ['text'], routes: [added] },
    };
    expect((await app.send('PUT', '/v1/admin/models/simulator/chat', admin, whole)).status).toBe(200);
    const left = await read('simulator/chat');
    expect(left.routes.map(({ provider }) => provider)).toEqual(['openai']);
    expect(left.edits).toContainEqual(
      expect.objectContaining({ field: 'is_enabled', ...route, value: false }),
    );
    const { body } = await follow('simulator/chat');
    expect([body.edits, body.routes[0].provider, body.name]).toEqual([
      [],
      'simulated',
      expect.not.stringMatching('Other'),
    ]);
  });

  it('issue 37 a route may promise otherwise than its provider, and a body that says nothing of it changes nothing', async () => {
    const id = 'google/gemma-3-27b-it';
    const target = { provider: 'deepinfra', upstream_model: id };
    const promised = async (): Promise<unknown[]> => {
      const { routes } = await read(id);
      const own = routes.find(({ provider }) => provider === 'deepinfra');
      const { body } = await app.get(`/v1/models/${id}/providers`, admin);
      const offer = body.data.find(({ provider }: { provider: string }) => provider === 'deepinfra');
      expect([offer.zero_retention, offer.regions]).toEqual([own?.zero_retention, own?.regions]);
      return [own?.zero_retention, own?.regions];
    };
    expect(await promised()).toEqual([false, []]);
    const { body: provider } = await app.get('/v1/admin/providers?limit=200', admin);
    expect(provider.data).toContainEqual(
      expect.objectContaining({ slug: 'deepinfra', zero_retention: true }),
    );
    const more = { zero_retention: true, regions: ['ch', 'eu'] };
    const { body } = await patch(id, { routes: [{ ...target, ...more }] });
    expect(await promised()).toEqual([true, ['ch', 'eu']]);
    expect(body.edits).toMatchObject([
      { field: 'regions', value: ['ch', 'eu'], below: { value: null } },
      { field: 'zero_retention', value: true, below: { value: false } },
    ]);
    expect((await patch(id, { routes: [{ ...target, regions: [] }] })).status).toBe(422);
    await follow(id);
    const { name, model_type, context_length, input_modalities, output_modalities, routes } = await read(id);
    const whole = {
      ...{ name, model_type, context_length, input_modalities, output_modalities },
      supports: ['completions_api'],
      routes: routes.map(({ provider: slug, upstream_model, dialect, price: own }) => ({
        ...{ provider: slug, upstream_model, dialect, price: own },
      })),
    };
    expect((await app.send('PUT', `/v1/admin/models/${id}`, admin, whole)).status).toBe(200);
    expect(await promised()).toEqual([false, []]);
    await follow(id);
  });

  it('issue 37 a removal is an edit, too: following again brings the model back', async () => {
    expect((await app.send('DELETE', '/v1/admin/models/simulator/free', admin)).status).toBe(204);
    const hidden = await read('simulator/free');
    expect([hidden.availability.status, hidden.edits]).toMatchObject([
      'disabled',
      [{ field: 'is_enabled', value: false, below: { value: true } }],
    ]);
    expect((await follow('simulator/free')).body.availability.status).toBe('ready');
  });

  it('issue 37 409 for following again where no layer below has the model', async () => {
    const whole = {
      ...{ name: 'Ours', model_type: 'text', context_length: 10, supports: ['completions_api'] },
      ...{ input_modalities: ['text'], output_modalities: ['text'] },
      routes: [{ ...route, dialect: 'chat', price: price('4') }],
    };
    expect((await app.send('PUT', '/v1/admin/models/house/own', admin, whole)).status).toBe(200);
    expect((await follow('house/own')).status).toBe(409);
    expect((await read('house/own')).routes[0].price_layer).toBe('operator');
  });

  it('issue 37 a model that a former release froze is split: what differs is an edit, the rest follows', async () => {
    const { pool } = app.app.get(CatalogueDatabase);
    const { rows } = await pool.query('SELECT count(*)::int AS edits FROM edit WHERE model_id = $1', [
      'simulator/dual',
    ]);
    expect(rows[0].edits).toBe(0);
    await pool.query(`UPDATE model SET is_edited = true, name = 'Ours' WHERE id = 'simulator/dual'`);
    await pool.query(`UPDATE model SET is_edited = true, is_enabled = false WHERE id = 'simulator/free'`);
    await pool.query(`UPDATE model SET is_edited = true WHERE id = 'simulator/chat'`);
    await restart('3');
    const split = await read('simulator/dual');
    expect(split.edits.filter(({ layer }) => layer === 'operator')).toMatchObject([
      { field: 'name', value: 'Ours', edited_by: null },
    ]);
    expect((await read('simulator/free')).edits).toMatchObject([{ field: 'is_enabled' }]);
    expect((await read('simulator/chat')).edits).toEqual([]);
    await restart('4');
    const after = await read('simulator/dual');
    expect([after.name, promptAt(after, 'simulated')]).toEqual(['Ours', ['4', 'file']]);
  });

  it('issue 37 what lay below a line of gateway.yaml is written again for models of which it says something new', async () => {
    const notedBy = async (): Promise<Map<string, string>> => {
      const { rows } = await app.app
        .get(CatalogueDatabase)
        .pool.query<{ model_id: string; writer: string }>(
          `SELECT model_id, string_agg(DISTINCT xmin::text, ',') AS writer FROM file_edit GROUP BY model_id`,
        );
      return new Map(rows.map(({ model_id, writer }) => [model_id, writer]));
    };
    const first = await notedBy();
    expect([...first.keys()].sort()).toEqual(['lab/own', 'simulator/dual']);
    await restart('4');
    expect(await notedBy()).toEqual(first);
    await restart('5');
    const second = await notedBy();
    expect(second.get('lab/own')).toBe(first.get('lab/own'));
    expect(second.get('simulator/dual')).not.toBe(first.get('simulator/dual'));
  });
});
