import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TOPIC, type AliasTarget } from '@gateway/contracts';
import { applyMigrations } from '@gateway/database';
import { eventually, sessionPrincipal, testDatabase, type TestDatabase } from '@gateway/testing';
import { FLEET_TOKEN, startCatalogue, type CatalogueApp } from '../catalogue-app.fixture.js';
import { SCHEMA, SCHEMA_DIR } from '../postgres/catalogue-database.js';

const [CHAT, CLAUDE] = ['simulator/chat', 'simulator/claude'];
const PATH = '/v1/admin/aliases';

let folder: string;
let database: TestDatabase;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'file-aliases-'));
  database = await testDatabase({
    schemaDir: SCHEMA_DIR,
    migrate: (url) => applyMigrations({ url, schemaDir: SCHEMA_DIR, schema: SCHEMA }),
  });
});
afterAll(async () => {
  await database.drop();
  rmSync(folder, { recursive: true });
});

/** Runs the service with a gateway.yaml of these aliases. */
async function withFile<T>(
  aliases: Record<string, AliasTarget[]>,
  work: (app: CatalogueApp, superAdmin: string) => Promise<T>,
  shadow?: { model: string; sample_pct: number },
): Promise<T> {
  const path = join(folder, 'gateway.yaml');
  const entries = Object.entries(aliases).map(([name, targets]) => ({ name, targets, shadow }));
  writeFileSync(path, JSON.stringify({ aliases: entries }));
  const env = { SIMULATED_PROVIDER: 'true', GATEWAY_CONFIG: path };
  const app = await startCatalogue({ CATALOGUE_DATABASE_URL: database.url, ...env });
  try {
    return await work(app, app.credentialOf(sessionPrincipal({ userId: 'usr_1', isSuperAdmin: true })));
  } finally {
    await app.close();
  }
}

async function targetsOf(app: CatalogueApp, name: string): Promise<AliasTarget[][]> {
  const fleet = { 'x-fleet-token': FLEET_TOKEN };
  const { body } = await app.get('/internal/catalogue/aliases', undefined, fleet);
  return (body.aliases as { name: string; org_id: null; targets: AliasTarget[] }[]).flatMap((one) =>
    one.name === name && one.org_id === null ? [one.targets] : [],
  );
}

const to = (model: string, weight = 1): AliasTarget[] => [{ model, weight }];

describe('aliases of gateway.yaml', () => {
  it('are names of the platform from the start, follow the file at the next one, and go with it', async () => {
    const first = await withFile({ prod: to(CHAT), old: to(CHAT) }, async (app, superAdmin) => {
      expect(await targetsOf(app, 'prod')).toEqual([to(CHAT)]);
      await eventually(() => app.log.appended.find(({ topic }) => topic === TOPIC.catalogue));
      const { body } = await app.get(PATH, superAdmin);
      return body.data as { id: string; name: string }[];
    });
    expect(first).toMatchObject([{ org_id: null, created_by: null }, { created_by: null }]);
    const second = await withFile({ prod: to(CLAUDE) }, async (app, superAdmin) => {
      expect([await targetsOf(app, 'prod'), await targetsOf(app, 'old')]).toEqual([[to(CLAUDE)], []]);
      return (await app.get(PATH, superAdmin)).body.data as { id: string }[];
    });
    expect(second.map(({ id }) => id)).toEqual(
      first.flatMap(({ id, name }) => (name === 'prod' ? [id] : [])),
    );
    await withFile({}, async (app) => expect(await targetsOf(app, 'prod')).toEqual([]));
  });

  it('are read over the API and changed in the file alone', () =>
    withFile({ prod: to(CHAT) }, async (app, superAdmin) => {
      const [{ id }] = (await app.get(PATH, superAdmin)).body.data as { id: string }[];
      expect((await app.get(`${PATH}/${id}`, superAdmin)).body).toMatchObject({ name: 'prod' });
      const answers = [
        await app.send('PATCH', `${PATH}/${id}`, superAdmin, { targets: to(CLAUDE) }),
        await app.send('DELETE', `${PATH}/${id}`, superAdmin),
      ];
      for (const { status, body } of answers)
        expect([status, body.error.code, body.error.message]).toEqual([
          ...[409, 'conflict', 'gateway.yaml says it: change prod there.'],
        ]);
      expect(await targetsOf(app, 'prod')).toEqual([to(CHAT)]);
    }));

  it('give way to one of that name that is written over the API, also a disabled one, until it is deleted', () =>
    withFile({ prod: to(CHAT) }, async (app, superAdmin) => {
      const made = await app.send('POST', PATH, superAdmin, { name: 'prod', targets: to(CLAUDE) });
      expect([made.status, await targetsOf(app, 'prod')]).toEqual([201, [to(CLAUDE)]]);
      const path = `${PATH}/${made.body.id as string}`;
      await app.send('PATCH', path, superAdmin, { is_enabled: false });
      expect(await targetsOf(app, 'prod')).toEqual([]);
      await app.send('DELETE', path, superAdmin);
      expect(await targetsOf(app, 'prod')).toEqual([to(CHAT)]);
    }));

  it('have the shadow that the file says, and none once it says none', async () => {
    const shadow = { model: CLAUDE, sample_pct: 2.5 };
    const shown = async (app: CatalogueApp, superAdmin: string): Promise<unknown[]> => {
      const { body } = await app.get(PATH, superAdmin);
      return (body.data as { shadow: unknown }[]).map((alias) => alias.shadow);
    };
    expect(await withFile({ prod: to(CHAT) }, shown, shadow)).toEqual([shadow]);
    expect(await withFile({ prod: to(CHAT) }, shown, { ...shadow, sample_pct: 3 })).toEqual([
      { ...shadow, sample_pct: 3 },
    ]);
    expect(await withFile({ prod: to(CHAT) }, shown)).toEqual([null]);
  });

  it('two processes that start together make each once', async () => {
    const sent = { prod: to(CHAT, 3), next: to(CLAUDE, 4) };
    await Promise.all([
      withFile(sent, async (app) => expect(await targetsOf(app, 'prod')).toEqual([to(CHAT, 3)])),
      withFile(sent, async (app) => expect(await targetsOf(app, 'next')).toEqual([to(CLAUDE, 4)])),
    ]);
  });
});
