import { TOPIC } from '@gateway/contracts';
import { applyMigrations } from '@gateway/database';
import { SystemClock, SystemRandom } from '@gateway/platform';
import { eventually, LimitStoreDouble, testDatabase, type TestDatabase } from '@gateway/testing';
import pg from 'pg';
import { FirstRun } from './first-run/first-run.js';
import { OpeningCredit } from './first-run/opening-credit.js';
import { startKeysApp, type KeysApp } from './keys-app.fixture.js';
import { SCHEMA, SCHEMA_DIR } from './postgres/keys-database.js';
import { checkPeppers } from './secrets/pepper-check.js';
import type { ServiceSecrets } from './secrets/service-secrets.js';
import { SERVICE_SECRETS } from './secrets/tokens.js';

let database: TestDatabase;
let keys: KeysApp;
const store = new LimitStoreDouble({ clock: new SystemClock(), random: new SystemRandom() });

beforeAll(async () => {
  const migrate = async (url: string): Promise<void> => {
    await applyMigrations({ url, schemaDir: SCHEMA_DIR, schema: SCHEMA });
  };
  database = await testDatabase({ schemaDir: SCHEMA_DIR, migrate });
  keys = await startKeysApp(database.url, { limits: store });
});

afterAll(async () => {
  await keys?.close();
  await database?.drop();
});

/** Every row of every table as text. */
async function dump(): Promise<string> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    const tables = await client.query<{ name: string }>(
      `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname IN ('keys', 'public')`,
    );
    const texts: string[] = [];
    for (const { name } of tables.rows) {
      const { rows } = await client.query<{ text: string }>(`SELECT t::text AS text FROM ${name} t`);
      texts.push(...rows.map(({ text }) => text));
    }
    return texts.join('\n');
  } finally {
    await client.end();
  }
}

it('KEY-03 KEY-02 the plaintext of a key stands in no table, event or later answer', async () => {
  const headers = { 'idempotency-key': 'dumped' };
  const made = await keys.call('POST', '/v1/keys', { as: keys.admin, body: { label: 'planted' }, headers });
  const { id, key } = made.body as { id: string; key: string };
  const rotated = await keys.call('POST', `/v1/keys/${id}/rotate`, { as: keys.admin, body: {} });
  const answers = [
    await keys.call('GET', '/v1/keys', { as: keys.admin }),
    await keys.call('PATCH', `/v1/keys/${id}`, { as: keys.admin, body: { label: 'planted again' } }),
    await keys.call('GET', `/v1/keys/${id}/limits`, { as: keys.admin }),
    await keys.call('GET', '/v1/keys/filter-options', { as: keys.admin }),
    await keys.call('GET', '/v1/keys/unknown/limits', { as: keys.admin }),
    await keys.call('DELETE', `/v1/keys/${id}`, { as: keys.admin }),
  ];
  await eventually(() => keys.events.appended.some(({ record }) => record.value.includes('api_key.revoked')));
  const kept = [await dump(), JSON.stringify(keys.events.appended), ...answers.map(({ text }) => text)].join(
    '\n',
  );
  // The dump is one that would find it: what may be kept of a key is in it.
  expect(kept).toContain('planted again');
  expect(kept).toContain(String(rotated.body.masked_key));
  for (const secret of [key, String(rotated.body.key), keys.first.apiKey ?? '', keys.first.admin.password]) {
    expect(secret.length).toBeGreaterThan(20);
    expect(kept).not.toContain(secret);
  }
});

it('EDGE-09 S04 every write leaves one audit row, and none can be changed or removed', async () => {
  const { prisma } = keys.database;
  const { body } = await keys.call('POST', '/v1/keys', {
    as: keys.admin,
    body: { label: 'audited', rpm: 5 },
  });
  const id = String(body.id);
  await keys.call('PATCH', `/v1/keys/${id}`, { as: keys.admin, body: { label: null } });
  await keys.call('PATCH', `/v1/keys/${id}`, { as: keys.admin, body: { rpm: 2_000 } });
  await keys.call('DELETE', `/v1/keys/${id}`, { as: keys.admin });
  await keys.call('DELETE', `/v1/keys/${id}`, { as: keys.admin });
  const rows = await prisma.auditLog.findMany({ where: { target_id: id }, orderBy: { created_at: 'asc' } });
  expect(rows.map(({ action, changed_fields }) => [action, changed_fields])).toEqual([
    ['api_key.create', ['label', 'rpm']],
    ['api_key.update', ['label']],
    ['api_key.suspend', ['status']],
  ]);
  expect(rows[0]).toMatchObject({
    actor_kind: 'session',
    actor_id: keys.admin.userId,
    target_type: 'api_key',
  });
  expect(rows[0].created_at).toBeInstanceOf(Date);
  await expect(prisma.auditLog.deleteMany({ where: { target_id: id } })).rejects.toThrow(/append-only/);
  await expect(prisma.auditLog.updateMany({ where: { target_id: id }, data: { ip: '' } })).rejects.toThrow(
    /append-only/,
  );
});

it('api_key.created and api_key.revoked reach the account topic once each, without a secret', async () => {
  const { orgId, accountId } = keys.first;
  const made = await keys.call('POST', '/v1/keys', {
    as: keys.admin,
    body: { org_id: orgId, label: 'told' },
  });
  const id = String(made.body.id);
  for (let n = 0; n < 2; n += 1) await keys.call('DELETE', `/v1/keys/${id}`, { as: keys.admin });
  const about = (): { type: string; data: Record<string, unknown> }[] =>
    keys.events
      .dataOf<{ type: string; data: { key_id: string } }>(TOPIC.account)
      .filter(({ data }) => data.key_id === id);
  await eventually(() => about().length === 2);
  expect(about()).toEqual(
    ['api_key.created', 'api_key.revoked'].map((type) => ({
      id: expect.stringMatching(/^evt_/),
      type,
      created_at: expect.any(String),
      account_id: accountId,
      org_id: orgId,
      data: { key_id: id, label: 'told', masked_key: made.body.masked_key },
    })),
  );
  expect(keys.events.appended.every(({ topic }) => topic === 'gateway.account.v1')).toBe(true);
});

it('K10 each change of a key raises the version of its account and stamps it before the answer', async () => {
  const { accountId } = keys.admin;
  const version = async () =>
    (await keys.database.prisma.account.findUniqueOrThrow({ where: { id: accountId } })).version;
  const { body } = await keys.call('POST', '/v1/keys', { as: keys.admin, body: {} });
  const id = String(body.id);
  for (const [method, path, change] of [
    ['PATCH', '', { rpm: 5 }],
    ['POST', '/rotate', {}],
    ['DELETE', '', undefined],
    ['POST', '/reactivate', undefined],
  ] as const) {
    const before = await version();
    expect((await keys.call(method, `/v1/keys/${id}${path}`, { as: keys.admin, body: change })).status).toBe(
      200,
    );
    expect(await version()).toBe(before + 1);
    expect(store.stamps).toContainEqual([accountId, before + 1]);
  }
});

it('K06 a change is answered while the limit store is away, and is stamped once it is back', async () => {
  const { accountId } = keys.admin;
  const { body } = await keys.call('POST', '/v1/keys', { as: keys.admin, body: {} });
  store.failing.add('stamp');
  const answer = await keys.call('DELETE', `/v1/keys/${String(body.id)}`, { as: keys.admin });
  expect([answer.status, answer.body.status]).toEqual([200, 'suspended']);
  const { version } = await keys.database.prisma.account.findUniqueOrThrow({ where: { id: accountId } });
  expect(store.stamps).not.toContainEqual([accountId, version]);
  store.failing.delete('stamp');
  await eventually(() => store.stamps.some(([id, stamped]) => id === accountId && stamped === version));
});

describe('first run', () => {
  it('AUTH-30 makes one super admin whose password works, their organization and a key; a second run makes nothing', async () => {
    expect(await keys.app.get(FirstRun, { strict: false }).run({ withKey: true })).toBeNull();
    expect(await keys.database.prisma.user.count({ where: { is_super_admin: true } })).toBe(1);
    const { email, password } = keys.first.admin;
    expect((await keys.call('POST', '/auth/login', { body: { email, password } })).status).toBe(200);
    const own = await keys.call('GET', '/v1/key', { as: keys.first.apiKey ?? '' });
    expect([own.status, own.body.org_id, own.body.created_by]).toEqual([
      200,
      keys.first.orgId,
      keys.admin.userId,
    ]);
  });

  it('brings the opening credit to the ledger once, however often it is away or asked again', async () => {
    const { orgId, accountId } = keys.first;
    const credit = {
      accountId,
      orgId,
      amountUsd: '100',
      kind: 'admin_grant',
      source: `opening/${accountId}`,
    };
    const opening = keys.app.get(OpeningCredit, { strict: false });
    await keys.database.prisma.account.update({
      where: { id: accountId },
      data: { opening_credit_state: 'pending' },
    });
    keys.funds.isUnavailable = true;
    await expect(opening.deliver()).rejects.toMatchObject({ code: 'service_unavailable' });
    keys.funds.isUnavailable = false;
    await opening.deliver();
    await opening.deliver();
    expect(keys.funds.credits).toEqual([credit]);
    const account = await keys.database.prisma.account.findUniqueOrThrow({ where: { id: accountId } });
    expect(account.opening_credit_state).toBe('credited');
  });

  it('refuses to start with another pepper or key encryption key than the database was filled with', async () => {
    const other = Buffer.alloc(32, 9).toString('base64');
    await expect(startKeysApp(database.url, { config: { KEYS_PEPPER: other } })).rejects.toThrow(
      /Pepper version 1/,
    );
    await expect(startKeysApp(database.url, { config: { KEYS_KEK: other } })).rejects.toThrow(/KEYS_KEK/);
  });

  it('refuses a new pepper without the one before while a key needs it: each would be 401', async () => {
    const next = { version: 2, key: Buffer.alloc(32, 9) };
    const config = { KEYS_PEPPER: next.key.toString('base64'), KEYS_PEPPER_VERSION: 2 };
    await expect(startKeysApp(database.url, { config })).rejects.toThrow(/KEYS_PEPPER_PREVIOUS/);
    const { prisma } = keys.database;
    expect(await prisma.pepperCheck.count()).toBe(1);
    const [former] = keys.app.get<ServiceSecrets>(SERVICE_SECRETS, { strict: false }).peppers;
    await checkPeppers(prisma, { peppers: [next, former] });
    await prisma.apiKey.updateMany({ data: { status: 'suspended' } });
    await checkPeppers(prisma, { peppers: [next] });
    const { id: org_id } = await prisma.org.findFirstOrThrow();
    const admin = { id: 'mak_1', org_id, created_by: keys.admin.userId };
    const more = { secret_hmac: 'x', pepper_version: 1, masked_key: 'mak_', created_at: new Date() };
    await prisma.adminKey.create({ data: { ...admin, ...more, scopes: [] } });
    await expect(checkPeppers(prisma, { peppers: [next] })).rejects.toThrow(/KEYS_PEPPER_PREVIOUS/);
  });
});
