import { applyMigrations } from '@gateway/database';
import { secretDigest } from '@gateway/platform';
import { testDatabase, type TestDatabase } from '@gateway/testing';
import { FLEET_TOKEN, startKeysApp, type KeysApp, type Person } from '../keys-app.fixture.js';
import { SCHEMA, SCHEMA_DIR } from '../postgres/keys-database.js';

/** The bound on a first page. One try within it will do: other work of the machine says nothing about a query. */
const PAGE_MS = 200;
const TRIES_MAX = 50;

let database: TestDatabase;
let keys: KeysApp;
let orgId: string;

beforeAll(async () => {
  const migrate = async (url: string): Promise<void> => {
    await applyMigrations({ url, schemaDir: SCHEMA_DIR, schema: SCHEMA });
  };
  database = await testDatabase({ schemaDir: SCHEMA_DIR, migrate });
  keys = await startKeysApp(database.url, { config: { KEYS_PER_ACCOUNT_MAX: 200_000 } });
  orgId = keys.first.orgId;
  const { pool } = keys.database;
  await pool.query(`INSERT INTO "user" (id, email, name, password_hash, created_at)
    SELECT 'usr_' || n, 'person' || n || '@example.com', 'Person ' || n, 'none', now() FROM generate_series(1, 10000) n`);
  await pool.query(
    `INSERT INTO membership (org_id, user_id, role, created_at)
     SELECT $1, 'usr_' || n, 'member', now() FROM generate_series(1, 10000) n`,
    [orgId],
  );
  await pool.query(
    `INSERT INTO team (id, org_id, name, created_at, updated_at)
     SELECT 'team_' || n, $1, 'Team ' || n, now(), now() FROM generate_series(1, 1000) n`,
    [orgId],
  );
  // In steps that the service's own bound on a statement lets pass.
  for (let from = 1; from <= 100_000; from += 10_000) {
    await pool.query(
      `INSERT INTO api_key (id, account_id, org_id, team_id, created_by, secret_hmac, pepper_version, masked_key, label,
         default_model, created_at, updated_at)
       SELECT 'key_' || n, a.id, a.org_id, 'team_' || n % 1000 + 1, 'usr_' || n % 10000 + 1, 'hmac' || n, 1,
         'rsk_ab12...wxyz', 'Key ' || n, 'openai/model-' || n % 300, now() - n * interval '1 second', now()
       FROM generate_series($2::int, $2::int + 9999) n, account a WHERE a.org_id = $1`,
      [orgId, from],
    );
  }
  await pool.query(
    `INSERT INTO team_member (team_id, user_id, created_at)
     SELECT 'team_1', 'usr_' || n, now() FROM generate_series(1, 10000) n`,
  );
  await pool.query(
    `INSERT INTO audit_log (id, created_at, org_id, actor_kind, actor_id, ip, action, target_type, target_id, changed_fields, request_id)
     SELECT 'aud_' || n, now(), $1, 'session', 'usr_' || n % 100, '', 'api_key.update', 'api_key', 'key_' || n, '{}', ''
     FROM generate_series(1, 50000) n`,
    [orgId],
  );
  await pool.query('ANALYZE');
}, 600_000);

afterAll(async () => {
  await keys?.close();
  await database?.drop();
});

async function fastestMs(path: string): Promise<number> {
  let fastest = Infinity;
  for (let n = 0; n < TRIES_MAX && fastest >= PAGE_MS; n += 1) {
    const started = performance.now();
    const { status, text } = await keys.call('GET', path, { as: keys.admin });
    fastest = Math.min(fastest, performance.now() - started);
    expect([status, text]).toEqual([200, expect.any(String)]);
  }
  return fastest;
}

it.each([
  ['keys of all places', () => '/v1/keys'],
  ['its keys', () => `/v1/keys?org_id=${orgId}`],
  ['keys of a label', () => `/v1/keys?org_id=${orgId}&label=key%2099999`],
  ['keys of a team', () => `/v1/keys?org_id=${orgId}&team_id=team_7`],
  ['keys of a member', () => `/v1/keys?org_id=${orgId}&created_by=usr_7`],
  ['keys by their last use', () => `/v1/keys?org_id=${orgId}&sort=-last_used_at`],
  ['keys of a status', () => `/v1/keys?org_id=${orgId}&status=suspended`],
  ['keys of a model', () => `/v1/keys?org_id=${orgId}&model=openai%2Fmodel-7`],
  ['filter options', () => `/v1/keys/filter-options?org_id=${orgId}`],
  ['filter options of a text', () => `/v1/keys/filter-options?org_id=${orgId}&q=9999`],
  ['its members', () => `/v1/orgs/${orgId}/members`],
  ['its teams', () => `/v1/orgs/${orgId}/teams`],
  ['a team with all its members', () => '/v1/teams/team_1/members'],
  ['its audit log', () => `/v1/orgs/${orgId}/audit-log`],
  ['an action in its audit log', () => `/v1/orgs/${orgId}/audit-log?action=api_key.update`],
])(
  'KEY-33 of an organization with 100,000 keys, 1,000 teams and 10,000 members the first page of %s takes at most 200 ms',
  async (_name, path) => {
    expect(await fastestMs(path())).toBeLessThan(PAGE_MS);
  },
);

it('KEY-27 finds older keys by a text, which the newest do not show', async () => {
  const { body } = await keys.call('GET', `/v1/keys/filter-options?org_id=${orgId}&q=key%2019999`, {
    as: keys.admin,
  });
  expect(body).toMatchObject({ labels: ['Key 19999'], members: [], teams: [] });
});

it('KEY-33 finds labels by a part as it is written: %, _ and \\ stand for themselves', async () => {
  const found = async (part: string): Promise<unknown> => {
    const path = `/v1/keys?org_id=${orgId}&limit=1&label=${encodeURIComponent(part)}`;
    return (await keys.call('GET', path, { as: keys.admin })).body.total;
  };
  expect([await found('KEY 99999'), await found('key_99999'), await found('99%'), await found('\\')]).toEqual(
    [1, 0, 0, 0],
  );
});

it('KEY-26 keys that were never used come last by their last use, in both directions', async () => {
  await keys.database.pool.query(
    `UPDATE api_key SET last_used_at = now() - interval '1 day' * substr(id, 5)::int WHERE id IN ('key_7', 'key_9')`,
  );
  const first = async (sort: string): Promise<unknown[]> => {
    const path = `/v1/keys?org_id=${orgId}&limit=2&sort=${sort}`;
    const { body } = await keys.call('GET', path, { as: keys.admin });
    return (body.data as { id: string }[]).map(({ id }) => id);
  };
  expect([await first('-last_used_at'), await first('last_used_at')]).toEqual([
    ['key_7', 'key_9'],
    ['key_9', 'key_7'],
  ]);
});

it('KEY-33 what an edge is given to admit with does not grow with the organization', async () => {
  const owner = await keys.person();
  const small = await keys.org(owner);
  const principalOf = async (as: Person, org_id: string): Promise<string> => {
    const made = await keys.call('POST', '/v1/keys', { as, body: { org_id } });
    const body = { kind: 'key', digest: secretDigest(String(made.body.key)) };
    const headers = { 'x-fleet-token': FLEET_TOKEN };
    const { status, text } = await keys.call('POST', '/internal/principals/resolve', { body, headers });
    expect(status).toBe(200);
    return text;
  };
  const [large, other] = [await principalOf(keys.admin, orgId), await principalOf(owner, small.orgId)];
  expect(large.length).toBe(other.length);
  expect(large).toContain(orgId);
});
