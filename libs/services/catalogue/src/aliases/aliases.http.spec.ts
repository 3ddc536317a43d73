import { applyMigrations } from '@gateway/database';
import { TOPIC } from '@gateway/contracts';
import { eventually, sessionPrincipal, testDatabase, type TestDatabase } from '@gateway/testing';
import { FLEET_TOKEN, startCatalogue, type CatalogueApp } from '../catalogue-app.fixture.js';
import { CatalogueDatabase, SCHEMA, SCHEMA_DIR } from '../postgres/catalogue-database.js';

const TARGETS = [
  { model: 'simulator/chat', weight: 95 },
  { model: 'simulator/claude', weight: 5 },
];

let database: TestDatabase;
let app: CatalogueApp;
let superAdmin: string;
let owner: string;
let member: string;
let stranger: string;
let made = 0;

beforeAll(async () => {
  database = await testDatabase({
    schemaDir: SCHEMA_DIR,
    migrate: (url) => applyMigrations({ url, schemaDir: SCHEMA_DIR, schema: SCHEMA }),
  });
  app = await startCatalogue({ CATALOGUE_DATABASE_URL: database.url, SIMULATED_PROVIDER: 'true' });
  superAdmin = app.credentialOf(sessionPrincipal({ userId: 'usr_super', isSuperAdmin: true }));
  owner = session('usr_owner', 'org_one', 'owner');
  member = session('usr_member', 'org_one', 'member');
  stranger = session('usr_stranger', 'org_two', 'owner');
});
afterAll(async () => {
  await app.close();
  await database.drop();
});

function session(userId: string, orgId: string, role: 'owner' | 'member'): string {
  const memberships = [{ orgId, accountId: `acct_${orgId}`, role, teams: [] }];
  return app.credentialOf(sessionPrincipal({ userId, memberships }));
}

const body = (more: object = {}): Record<string, unknown> => {
  made += 1;
  return { org_id: 'org_one', name: `team/chat-${made}`, targets: TARGETS, ...more };
};

const post = (sent: object, as = owner, headers = {}): ReturnType<CatalogueApp['send']> =>
  app.send('POST', '/v1/aliases', as, sent, headers);

const codeOf = ({ status, body: { error } }: Awaited<ReturnType<typeof post>>): unknown[] => [
  status,
  error?.code,
];

const placesOf = ({ body: { error } }: Awaited<ReturnType<typeof post>>): string[] =>
  (error.details as { loc: string[] }[]).map(({ loc }) => loc.join('.'));

async function bookOf(): Promise<{ org_id: string | null; name: string; targets: object[] }[]> {
  const { body: book } = await app.get('/internal/catalogue/aliases', undefined, {
    'x-fleet-token': FLEET_TOKEN,
  });
  return book.aliases;
}

describe('/v1/aliases', () => {
  it('creates, reads, lists, changes and deletes a name; services have each change at once', async () => {
    const sent = body({ name: 'Prod:chat' });
    const { status, body: record } = await post(sent);
    expect([status, record]).toEqual([
      201,
      {
        id: expect.stringMatching(/^alias_/),
        ...{ org_id: 'org_one', name: 'Prod:chat', targets: TARGETS, shadow: null, description: null },
        ...{ is_enabled: true, created_by: 'usr_owner' },
        ...{ created_at: expect.any(String), updated_at: expect.any(String) },
      },
    ]);
    const path = `/v1/aliases/${record.id}`;
    expect((await app.get(path, member)).body).toEqual(record);
    const page = await app.get('/v1/aliases?org_id=org_one&limit=1', member);
    expect(page.body).toEqual({ data: [record], total: 1, limit: 1, offset: 0 });
    const shown = { org_id: 'org_one', name: 'Prod:chat' };
    expect(await bookOf()).toContainEqual({ ...shown, targets: TARGETS });
    const targets = [{ model: 'simulator/claude', weight: 1 }];
    const change = { targets, description: 'Ours' };
    expect((await app.send('PATCH', path, owner, change)).body).toMatchObject({
      ...change,
      name: 'Prod:chat',
    });
    expect(await bookOf()).toContainEqual({ ...shown, targets });
    await app.send('PATCH', path, owner, { is_enabled: false });
    expect((await bookOf()).map(({ name }) => name)).not.toContain('Prod:chat');
    expect((await app.send('DELETE', path, owner)).status).toBe(204);
    expect(codeOf(await app.get(path, owner))).toEqual([404, 'not_found']);
  });

  it('writes each change into the audit log of the organization and announces it, and a change of nothing neither', async () => {
    const {
      body: { id },
    } = await post(body());
    await app.send('PATCH', `/v1/aliases/${id}`, owner, { description: 'x' });
    await app.send('PATCH', `/v1/aliases/${id}`, owner, {});
    await app.send('DELETE', `/v1/aliases/${id}`, owner);
    const { prisma } = app.app.get(CatalogueDatabase);
    const rows = await prisma.auditLog.findMany({ where: { target_id: id }, orderBy: { id: 'asc' } });
    expect(rows.map(({ action, org_id, changed_fields }) => [action, org_id, changed_fields])).toEqual([
      ['alias.create', 'org_one', ['name', 'org_id', 'targets']],
      ['alias.update', 'org_one', ['description']],
      ['alias.delete', 'org_one', []],
    ]);
    const entries = (): unknown[] => app.log.dataOf(TOPIC.audit).filter(({ target_id }) => target_id === id);
    await eventually(() => (entries().length === 3 ? true : undefined));
    await eventually(() =>
      app.log.appended.filter(({ topic, record }) => topic === TOPIC.catalogue && record.key === 'aliases')
        .length >= 3
        ? true
        : undefined,
    );
  });

  it('makes an alias once for an Idempotency-Key', async () => {
    const sent = body();
    const headers = { 'idempotency-key': 'once' };
    const [first, again] = [await post(sent, owner, headers), await post(sent, owner, headers)];
    expect([first.status, again.status, again.body]).toEqual([201, 201, first.body]);
    expect(codeOf(await post(body(), owner, headers))).toEqual([409, 'conflict']);
  });

  it.each([
    ['auto', { name: 'auto' }, 'name'],
    ['a space in the name', { name: 'a b' }, 'name'],
    ['two slashes', { name: 'a/b/c' }, 'name'],
    ['65 characters before the slash', { name: `${'a'.repeat(65)}/b` }, 'name'],
    ['161 after it', { name: `a/${'b'.repeat(161)}` }, 'name'],
    ['no targets', { targets: [] }, 'targets'],
    ['nine targets', { targets: Array.from({ length: 9 }, () => TARGETS[0]) }, 'targets'],
    ['no weight above 0', { targets: [{ model: 'simulator/chat', weight: 0 }] }, 'targets'],
    ['a weight of 1001', { targets: [{ model: 'simulator/chat', weight: 1_001 }] }, 'targets.0.weight'],
    ['half a weight', { targets: [{ model: 'simulator/chat', weight: 0.5 }] }, 'targets.0.weight'],
    ['one model twice', { targets: [TARGETS[0], TARGETS[0]] }, 'targets.1.model'],
    ['a shadow, which an owner does not set', { shadow: null }, 'shadow'],
  ])('422 validation_error names the field: %s', async (_what, more, place) => {
    const refused = await post(body(more));
    expect([codeOf(refused), placesOf(refused)[0]]).toEqual([[422, 'validation_error'], place]);
  });

  it.each([
    ['a name that is an id of the catalogue', { name: 'simulator/chat' }, 'name'],
    ['an unknown model', { targets: [{ model: 'acme/none', weight: 1 }] }, 'targets.0.model'],
    [
      'a model without its brand',
      { targets: [{ model: 'simulator/nothing', weight: 1 }] },
      'targets.0.model',
    ],
  ])('422 unprocessable_entity names the field: %s', async (_what, more, place) => {
    const refused = await post(body(more));
    expect([codeOf(refused), placesOf(refused)]).toEqual([[422, 'unprocessable_entity'], [place]]);
  });

  it('422 for an alias as a target: names are not followed further', async () => {
    const { body: first } = await post(body());
    const refused = await post(body({ targets: [{ model: first.name, weight: 1 }] }));
    expect(codeOf(refused)).toEqual([422, 'unprocessable_entity']);
  });

  it('409 for a name that the organization has; another and the platform may have it too, and case counts', async () => {
    const sent = body({ name: 'shared' });
    const { body: first } = await post(sent);
    expect(codeOf(await post(sent))).toEqual([409, 'conflict']);
    const other = await post({ ...sent, org_id: 'org_two' }, stranger);
    const ours = await app.send('POST', '/v1/admin/aliases', superAdmin, {
      name: 'shared',
      targets: TARGETS,
    });
    const cased = await post({ ...sent, name: 'Shared' });
    expect([other.status, ours.status, cased.status]).toEqual([201, 201, 201]);
    const path = `/v1/aliases/${cased.body.id}`;
    expect(codeOf(await app.send('PATCH', path, owner, { name: 'shared' }))).toEqual([409, 'conflict']);
    expect((await app.send('PATCH', `/v1/aliases/${first.id}`, owner, { name: 'shared' })).status).toBe(200);
  });

  it('409 at the 501st of an organization', async () => {
    const { prisma } = app.app.get(CatalogueDatabase);
    const now = new Date();
    const row = { owner: 'org_full', targets: TARGETS, is_enabled: false, created_by: 'usr_1' };
    await prisma.alias.createMany({
      data: Array.from({ length: 499 }, (_, at) => ({
        ...row,
        ...{ id: `alias_full${at}`, name: `n${at}`, created_at: now, updated_at: now },
      })),
    });
    const full = session('usr_full', 'org_full', 'owner');
    const sent = ['a', 'b', 'c'].map((name) => post(body({ org_id: 'org_full', name }), full));
    const answers = (await Promise.all(sent)).map(({ status }) => status);
    expect(answers.toSorted()).toEqual([201, 409, 409]);
  });

  it('members read, others see nothing: 404 of a path, 403 of a body or query', async () => {
    const { body: record } = await post(body());
    const path = `/v1/aliases/${record.id}`;
    expect(codeOf(await app.send('PATCH', path, member, { description: 'x' }))).toEqual([403, 'forbidden']);
    expect(codeOf(await app.send('DELETE', path, member))).toEqual([403, 'forbidden']);
    expect(codeOf(await post(body(), member))).toEqual([403, 'forbidden']);
    expect(codeOf(await app.get(path, stranger))).toEqual([404, 'not_found']);
    expect(codeOf(await app.send('DELETE', path, stranger))).toEqual([404, 'not_found']);
    expect(codeOf(await post(body(), stranger))).toEqual([403, 'forbidden']);
    expect(codeOf(await app.get('/v1/aliases?org_id=org_one', stranger))).toEqual([403, 'forbidden']);
    const { body: page } = await app.get('/v1/aliases', stranger);
    expect(page.data.every(({ org_id }: { org_id: string }) => org_id === 'org_two')).toBe(true);
  });
});

describe('/v1/admin/aliases', () => {
  it('holds the names of the platform, for super admins alone', async () => {
    const path = '/v1/admin/aliases';
    const sent = { name: 'house-chat', targets: TARGETS };
    expect(codeOf(await app.send('POST', path, owner, sent))).toEqual([403, 'forbidden']);
    const { status, body: record } = await app.send('POST', path, superAdmin, sent);
    expect([status, record]).toMatchObject([201, { org_id: null, ...sent, created_by: 'usr_super' }]);
    expect(await bookOf()).toContainEqual({ org_id: null, ...sent });
    expect((await app.get(`${path}/${record.id}`, superAdmin)).body).toEqual(record);
    expect((await app.get(path, superAdmin)).body.data).toContainEqual(record);
    const change = { description: 'For all' };
    expect((await app.send('PATCH', `${path}/${record.id}`, superAdmin, change)).body).toMatchObject(change);
    expect(codeOf(await app.get(`/v1/aliases/${record.id}`, superAdmin))).toEqual([404, 'not_found']);
    expect((await app.send('DELETE', `${path}/${record.id}`, superAdmin)).status).toBe(204);
    expect((await bookOf()).map(({ name }) => name)).not.toContain('house-chat');
  });
});

describe('the shadow of an alias', () => {
  const SHADOW = { model: 'simulator/claude', sample_pct: 0.5 };
  const path = '/v1/admin/aliases';

  it('is set, changed and removed by super admins, on names of the platform and of organizations', async () => {
    const sent = { name: 'shadowed', targets: TARGETS, shadow: SHADOW };
    const { body: ours } = await app.send('POST', path, superAdmin, sent);
    const { body: theirs } = await post(body());
    const set = await app.send('PATCH', `${path}/${theirs.id}`, superAdmin, { shadow: SHADOW });
    expect([ours.shadow, set.status, set.body.shadow]).toEqual([SHADOW, 200, SHADOW]);
    expect((await app.get(`/v1/aliases/${theirs.id}`, member)).body.shadow).toEqual(SHADOW);
    const inBook = async (id: string): Promise<object | undefined> =>
      ((await bookOf()) as { shadow?: { alias_id: string } }[]).find(({ shadow }) => shadow?.alias_id === id);
    expect(await inBook(theirs.id)).toMatchObject({
      org_id: 'org_one',
      shadow: { alias_id: theirs.id, ...SHADOW },
    });
    expect(await inBook(ours.id)).toMatchObject({ org_id: null, shadow: { alias_id: ours.id, ...SHADOW } });
    // A change of its owner leaves it.
    await app.send('PATCH', `/v1/aliases/${theirs.id}`, owner, { description: 'x' });
    expect(await inBook(theirs.id)).toBeDefined();
    const removed = await app.send('PATCH', `${path}/${theirs.id}`, superAdmin, { shadow: null });
    expect([removed.body.shadow, await inBook(theirs.id)]).toEqual([null, undefined]);
  });

  it('is all that a super admin changes of an organization: the rest is 403, and a deletion 404', async () => {
    const { body: theirs } = await post(body());
    const change = { shadow: SHADOW, description: 'x' };
    const refused = await app.send('PATCH', `${path}/${theirs.id}`, superAdmin, change);
    expect(codeOf(refused)).toEqual([403, 'forbidden']);
    expect(codeOf(await app.send('DELETE', `${path}/${theirs.id}`, superAdmin))).toEqual([404, 'not_found']);
    expect((await app.get(`${path}/${theirs.id}`, superAdmin)).body).toEqual(theirs);
    const { body: page } = await app.get(`${path}?org_id=org_one&limit=1`, superAdmin);
    expect(page.data).toEqual([theirs]);
  });

  it('is no field of its owners', async () => {
    const { body: theirs } = await post(body());
    const refused = await app.send('PATCH', `/v1/aliases/${theirs.id}`, owner, { shadow: SHADOW });
    expect([codeOf(refused), placesOf(refused)]).toEqual([[422, 'validation_error'], ['shadow']]);
  });

  it.each([
    ['a share of 0', { ...SHADOW, sample_pct: 0 }, 422, 'validation_error', 'shadow.sample_pct'],
    ['a share above 100', { ...SHADOW, sample_pct: 100.1 }, 422, 'validation_error', 'shadow.sample_pct'],
    ['a share as text', { ...SHADOW, sample_pct: '1' }, 422, 'validation_error', 'shadow.sample_pct'],
    ['no model', { sample_pct: 1 }, 422, 'validation_error', 'shadow.model'],
    ['a list', [SHADOW], 422, 'validation_error', 'shadow'],
    ['a member that is not known', { ...SHADOW, text: true }, 422, 'validation_error', 'shadow.text'],
    ['an unknown model', { ...SHADOW, model: 'acme/none' }, 422, 'unprocessable_entity', 'shadow.model'],
  ])('names the field of %s', async (_what, shadow, status, code, place) => {
    const refused = await app.send('POST', path, superAdmin, { name: 'faulty', targets: TARGETS, shadow });
    expect([codeOf(refused), placesOf(refused)[0]]).toEqual([[status, code], place]);
  });
});

describe('GET /internal/catalogue/aliases', () => {
  it('304 for the version that the asker has; closed to everybody outside the fleet', async () => {
    const path = '/internal/catalogue/aliases';
    const fleet = { 'x-fleet-token': FLEET_TOKEN };
    const { headers } = await app.get(path, undefined, fleet);
    const known = { ...fleet, 'if-none-match': String(headers.get('etag')) };
    expect((await app.get(path, undefined, known)).status).toBe(304);
    await post(body());
    expect((await app.get(path, undefined, known)).status).toBe(200);
    expect((await app.get(path, owner)).status).toBe(404);
  });

  it('a second process follows within its poll', async () => {
    const env = {
      CATALOGUE_DATABASE_URL: database.url,
      SIMULATED_PROVIDER: 'true',
      CATALOGUE_POLL_MS: '100',
    };
    const second = await startCatalogue(env);
    try {
      const sent = body();
      await post(sent);
      await eventually(async () => {
        const { body: book } = await second.get('/internal/catalogue/aliases', undefined, {
          'x-fleet-token': FLEET_TOKEN,
        });
        return book.aliases.some(({ name }: { name: string }) => name === sent.name) ? true : undefined;
      });
    } finally {
      await second.close();
    }
  });
});
