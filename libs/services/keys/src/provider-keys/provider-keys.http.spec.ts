import { TOPIC } from '@gateway/contracts';
import { applyMigrations } from '@gateway/database';
import { secretDigest } from '@gateway/platform';
import { PROVIDERS } from '@gateway/providers';
import {
  eventually,
  startUpstreamDouble,
  testDatabase,
  type ScriptedAnswer,
  type TestDatabase,
  type UpstreamDouble,
} from '@gateway/testing';
import { Housekeeping } from '../background/housekeeping.js';
import { DatabaseProviderKeyVault } from './database-provider-key-vault.js';
import { FLEET_TOKEN, startKeysApp, type Answer, type KeysApp, type Person } from '../keys-app.fixture.js';
import { SCHEMA, SCHEMA_DIR } from '../postgres/keys-database.js';

const SECRET = 'sk-planted-0123456789abcdefghijklmnop';

let database: TestDatabase;
let keys: KeysApp;
let upstream: UpstreamDouble;
/** Answer of the provider. */
let answered: ScriptedAnswer = {};
let owner: Person;
let orgId: string;
let accountId: string;

beforeAll(async () => {
  const migrate = async (url: string): Promise<void> => {
    await applyMigrations({ url, schemaDir: SCHEMA_DIR, schema: SCHEMA });
  };
  database = await testDatabase({ schemaDir: SCHEMA_DIR, migrate });
  upstream = await startUpstreamDouble(() => answered);
  const openai = PROVIDERS.find(({ slug }) => slug === 'openai');
  if (openai === undefined) throw new TypeError('this release has no openai');
  const baseUrl = `${upstream.url}/v1`;
  const lab = { ...openai, slug: 'lab', name: 'lab' };
  const keyed = [openai, lab].map((provider) => [provider.slug, { provider, baseUrl }] as const);
  keys = await startKeysApp(database.url, { keyed: new Map(keyed) });
});
beforeEach(async () => {
  owner = await keys.person();
  ({ orgId, accountId } = await keys.org(owner));
});
afterAll(async () => {
  await keys?.close();
  await upstream?.close();
  await database?.drop();
});

const send = (body: object, as = owner, headers = {}): Promise<Answer> =>
  keys.call('POST', '/v1/provider-keys', { as, body, headers });

async function created(more: object = {}, as = owner): Promise<Record<string, unknown> & { id: string }> {
  const body = { org_id: orgId, provider: 'openai', credentials: { api_key: SECRET }, ...more };
  const answer = await send(body, as);
  expect([answer.status, answer.text]).toEqual([201, expect.any(String)]);
  return { ...answer.body, id: String(answer.body.id) };
}

const at = (id: string): string => `/v1/provider-keys/${id}`;
const codeOf = ({ status, body }: Answer): unknown[] => [
  status,
  (body.error as { code?: string } | undefined)?.code,
];
const vault = (): DatabaseProviderKeyVault => keys.app.get(DatabaseProviderKeyVault, { strict: false });

async function grants(): Promise<unknown> {
  const { key } = (await keys.call('POST', '/v1/keys', { as: owner, body: { org_id: orgId } })).body;
  const digest = secretDigest(String(key));
  const headers = { 'x-fleet-token': FLEET_TOKEN };
  const body = { kind: 'key', digest };
  const answer = await keys.call('POST', '/internal/principals/resolve', { body, headers });
  return answer.body.providerKeys;
}

describe('POST /v1/provider-keys', () => {
  it('ROUTE-06 201 answers the record without the credential, with the defaults', async () => {
    const { id, created_at, updated_at, ...rest } = await created({ label: 'ours' });
    expect(rest).toEqual({
      org_id: orgId,
      provider: 'openai',
      label: 'ours',
      masked_credential: 'sk-p...mnop',
      allowed_models: null,
      allow_platform_fallback: true,
      is_enabled: true,
      last_error: null,
      last_used_at: null,
      created_by: owner.userId,
    });
    expect([id, created_at, updated_at]).toEqual([
      expect.stringMatching(/^pk_/),
      expect.any(String),
      created_at,
    ]);
  });

  it('ROUTE-04 S01 no read, list, replay or fault shows the credential, and no table or event holds it', async () => {
    const body = { org_id: orgId, provider: 'openai', credentials: { api_key: SECRET } };
    const made = await send(body, owner, { 'idempotency-key': 'once' });
    const id = String(made.body.id);
    const answers = [
      made,
      await send(body, owner, { 'idempotency-key': 'once' }),
      await keys.call('GET', at(id), { as: owner }),
      await keys.call('GET', '/v1/provider-keys', { as: owner }),
      await keys.call('PATCH', at(id), { as: owner, body: { credentials: { api_key: `${SECRET}2` } } }),
      await send({ ...body, credentials: { api_key: `${SECRET} with a space` } }),
      await send({ ...body, credentials: { [SECRET]: SECRET, api_key: SECRET }, provider: 'azure' }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 200, 200, 200, 422, 422]);
    expect(answers[1].body).toEqual(made.body);
    for (const { text } of answers.slice(0, 6)) expect(text).not.toContain(SECRET);
    const { rows } = await keys.database.pool.query<{ text: string }>(
      `SELECT t::text AS text FROM provider_key t UNION ALL SELECT t::text FROM audit_log t
       UNION ALL SELECT t::text FROM idempotency t UNION ALL SELECT t::text FROM outbox t`,
    );
    const dump = rows.map(({ text }) => text).join('\n');
    expect(dump).toContain('sk-p...nop2');
    expect(dump).not.toContain(SECRET);
    // bytea is printed as hex.
    expect(dump).not.toContain(Buffer.from(SECRET).toString('hex'));
  });

  it('EVT-24 EVT-25 announces one that is added and one that is removed, with pk_id, provider and label', async () => {
    const { id } = await created({ label: 'announced' });
    expect((await keys.call('DELETE', at(id), { as: owner })).status).toBe(204);
    const about = (): { type: string }[] =>
      keys.events
        .dataOf<{ type: string; data: { pk_id?: string } }>(TOPIC.account)
        .filter(({ data }) => data.pk_id === id);
    await eventually(() => about().length === 2);
    const data = { pk_id: id, provider: 'openai', label: 'announced' };
    expect(about()).toEqual(
      ['provider_key.added', 'provider_key.removed'].map((type) =>
        expect.objectContaining({ type, account_id: accountId, org_id: orgId, data }),
      ),
    );
  });

  it.each([
    [{ provider: 'acme' }, 'provider'],
    [{ provider: undefined }, 'provider'],
    [{ credentials: undefined }, 'credentials'],
    [{ credentials: {} }, 'credentials.api_key'],
    [{ allowed_models: ['gpt'] }, 'allowed_models'],
    [{ allow_platform_fallback: null }, 'allow_platform_fallback'],
    [{ is_enabled: 'yes' }, 'is_enabled'],
    [{ masked_credential: 'x' }, 'masked_credential'],
  ])('EDGE-06 422 names the field: %j', async (more, field) => {
    const answer = await send({
      org_id: orgId,
      provider: 'openai',
      credentials: { api_key: SECRET },
      ...more,
    });
    expect(codeOf(answer)).toEqual([422, 'validation_error']);
    const { details } = answer.body.error as { details: { loc: string[] }[] };
    expect(details.map(({ loc }) => loc.join('.'))).toContain(field);
  });

  it('403 for an organization that the caller does not lead, alike for an unknown one', async () => {
    const member = await keys.person({ orgId, role: 'member' });
    const body = { provider: 'openai', credentials: { api_key: SECRET } };
    for (const as of [member, await keys.person()])
      expect(codeOf(await send({ ...body, org_id: orgId }, as))).toEqual([403, 'forbidden']);
    expect(codeOf(await send({ ...body, org_id: 'org_0' }))).toEqual([403, 'forbidden']);
    expect((await send({ ...body, org_id: null }, member)).status).toBe(201);
  });

  it('409 conflict past 50 of one account', async () => {
    await created();
    const [row] = await keys.database.prisma.providerKey.findMany({ where: { account_id: accountId } });
    const { last_error: _last, allowed_models: _allowed, announced: _announced, ...copy } = row;
    const rows = Array.from({ length: 49 }, (_, n) => ({ ...copy, id: `${row.id}-${n}` }));
    await keys.database.prisma.providerKey.createMany({ data: rows });
    expect(
      codeOf(await send({ org_id: orgId, provider: 'openai', credentials: { api_key: SECRET } })),
    ).toEqual([409, 'conflict']);
  });
});

describe('PATCH and GET', () => {
  it('ROUTE-06 change what is named, and the credential as a whole', async () => {
    const { id, updated_at: _at, ...before } = await created();
    const body = {
      label: null,
      allowed_models: ['openai/*'],
      allow_platform_fallback: false,
      is_enabled: false,
    };
    const answer = await keys.call('PATCH', at(id), { as: owner, body });
    expect(answer.body).toMatchObject({ ...before, ...body });
    expect((await keys.call('GET', at(id), { as: owner })).body).toEqual(answer.body);
    const list = await keys.call('GET', `/v1/provider-keys?org_id=${orgId}&provider=openai`, { as: owner });
    expect(list.body).toMatchObject({ data: [answer.body], total: 1, limit: 50, offset: 0 });
    expect(codeOf(await keys.call('PATCH', at(id), { as: owner, body: { provider: 'groq' } }))).toEqual([
      422,
      'validation_error',
    ]);
  });

  it('ROUTE-03 K10 a key of the account travels with its API keys while it is enabled', async () => {
    const { id } = await created({ allowed_models: ['openai/*'] });
    const grant = { id, provider: 'openai', version: 1, allowedModels: ['openai/*'] };
    expect(await grants()).toEqual([{ ...grant, allowPlatformFallback: true }]);
    await keys.call('PATCH', at(id), { as: owner, body: { credentials: { api_key: 'sk-new' } } });
    expect(await grants()).toEqual([{ ...grant, version: 2, allowPlatformFallback: true }]);
    expect(await vault().open(accountId, id, 1)).toBeNull();
    expect(await vault().open(accountId, id, 2)).toEqual({ kind: 'api_key', key: 'sk-new' });
    expect(await vault().open('acct_other', id, 2)).toBeNull();
    await keys.call('PATCH', at(id), { as: owner, body: { is_enabled: false } });
    expect(await grants()).toBeUndefined();
    expect(await vault().open(accountId, id, 2)).toBeNull();
  });

  it('S02 a row that was moved to another account, provider or version does not open', async () => {
    const { id } = await created();
    const { prisma } = keys.database;
    for (const moved of [{ account_id: 'acct_other' }, { provider: 'groq' }, { version: 7 }]) {
      const row = await prisma.providerKey.findUniqueOrThrow({ where: { id } });
      await prisma.providerKey.update({ where: { id }, data: moved });
      const { account_id, version } = { ...row, ...moved };
      await expect(vault().open(account_id, id, version)).rejects.toMatchObject({ status: 503 });
      const { account_id: account, provider, version: was } = row;
      await prisma.providerKey.update({
        where: { id },
        data: { account_id: account, provider, version: was },
      });
    }
    expect(await vault().open(accountId, id, 1)).toEqual({ kind: 'api_key', key: SECRET });
  });
});

describe('errors of a provider', () => {
  it('EVT-32 EVT-48 byok_key.failed says what failed and who served, once a minute for each way of failing', async () => {
    const { id } = await created({ label: 'refused' });
    const failure = {
      model: 'openai/gpt-5.4',
      requestId: 'req_1',
      errorCode: 'upstream_auth_error',
      providerCode: 'invalid_auth',
      message: 'OpenAI: Incorrect API key provided.',
      servedOnPlatform: true,
    };
    const use = { accountId, keyId: id, atMs: Date.now(), failure };
    const other = { ...failure, providerCode: 'permission_denied', servedOnPlatform: false };
    await vault().report([use, use, { ...use, failure: other }, { ...use, failure: null }]);
    await vault().report([use, { ...use, accountId: 'acct_other' }]);
    const about = (): { type: string; data: Record<string, unknown> }[] =>
      keys.events
        .dataOf<{ type: string; data: Record<string, unknown> }>(TOPIC.account)
        .filter(({ type, data }) => type === 'byok_key.failed' && data.pk_id === id);
    await eventually(() => about().length === 2);
    expect(about()[0].data).toEqual({
      pk_id: id,
      provider: 'openai',
      label: 'refused',
      model: 'openai/gpt-5.4',
      error_code: 'upstream_auth_error',
      provider_code: 'invalid_auth',
      message: 'OpenAI: Incorrect API key provided.',
      request_id: 'req_1',
      served_on_platform: true,
    });
    expect(about()[1].data).toMatchObject({ provider_code: 'permission_denied', served_on_platform: false });
    const { body } = await keys.call('GET', at(id), { as: owner });
    expect(body.last_used_at).toEqual(expect.any(String));
    expect(body.last_error).toEqual({
      code: 'upstream_auth_error',
      provider_code: 'invalid_auth',
      message: failure.message,
      at: expect.any(String),
    });
    const replaced = await keys.call('PATCH', at(id), {
      as: owner,
      body: { credentials: { api_key: 'sk-2' } },
    });
    expect(replaced.body.last_error).toBeNull();
  });

  it('EVT-32 EVT-48 byok_key.failed is reported once of a key that was deleted before the edge had reported the error', async () => {
    const { id } = await created({ label: 'gone' });
    expect((await keys.call('DELETE', at(id), { as: owner })).status).toBe(204);
    const failure = {
      model: 'openai/gpt-5.4',
      requestId: 'req_2',
      errorCode: 'upstream_auth_error',
      providerCode: 'invalid_auth',
      message: 'OpenAI: Incorrect API key provided.',
      servedOnPlatform: false,
    };
    const use = { accountId, keyId: id, atMs: Date.now(), failure };
    await vault().report([use, { ...use, accountId: 'acct_other' }, use, { ...use, failure: null }]);
    const about = () =>
      keys.events
        .dataOf<{ type: string; org_id: string; data: Record<string, unknown> }>(TOPIC.account)
        .filter(({ type, data }) => type === 'byok_key.failed' && data.pk_id === id);
    await eventually(() => about().length > 0);
    expect(about()).toEqual([
      expect.objectContaining({
        org_id: orgId,
        data: expect.objectContaining({ provider: 'openai', label: 'gone', request_id: 'req_2' }),
      }),
    ]);
    // What is kept of it goes after a day.
    await keys.database.prisma.removedProviderKey.update({
      where: { id },
      data: { removed_at: new Date(Date.now() - 86_400_001) },
    });
    await keys.app.get(Housekeeping, { strict: false }).sweep();
    expect(await keys.database.prisma.removedProviderKey.count({ where: { id } })).toBe(0);
  });
});

describe('POST /v1/provider-keys/{id}/test', () => {
  const tried = async (id: string, as = owner): Promise<Answer> =>
    keys.call('POST', `${at(id)}/test`, { as });

  beforeEach(() => {
    upstream.seen.length = 0;
    answered = { json: { object: 'list', data: [] } };
  });

  it('ROUTE-07 reads the provider’s models with the credential and says that it works', async () => {
    const { id } = await created({ is_enabled: false });
    const answer = await tried(id);
    expect([answer.status, answer.body]).toEqual([
      200,
      { status: 'works', latency_ms: expect.any(Number), error: null },
    ]);
    expect(upstream.seen.map(({ method, path, headers }) => [method, path, headers.authorization])).toEqual([
      ['GET', '/v1/models', `Bearer ${SECRET}`],
    ]);
  });

  it('takes and tries keys of an upstream that the operator’s file names', async () => {
    const { id } = await created({ provider: 'lab' });
    expect((await tried(id)).body).toEqual({ status: 'works', latency_ms: expect.any(Number), error: null });
  });

  it.each([
    [
      401,
      { code: 'invalid_api_key', message: `Incorrect API key provided: ${SECRET}.` },
      'refused',
      'invalid_auth',
    ],
    [403, { message: 'no' }, 'refused', 'permission_denied'],
    [429, { code: 'insufficient_quota' }, 'refused', 'insufficient_credits'],
    [429, { code: 'rate_limit_exceeded' }, 'unknown', 'rate_limit_exceeded'],
    [500, { message: 'broken' }, 'unknown', 'internal_provider_error'],
  ])('ROUTE-07 says what a provider answered: %i %j', async (status, error, said, provider_code) => {
    answered = { status, json: { error } };
    const { id } = await created();
    const answer = await tried(id);
    expect(answer.body).toMatchObject({ status: said, error: { provider_code } });
    expect(answer.text).not.toContain(SECRET);
  });

  it('ROUTE-07 unknown where the provider is away or served nowhere, 404 for others’ keys', async () => {
    const { id } = await created();
    answered = { fault: 'reset' };
    expect((await tried(id)).body).toMatchObject({
      status: 'unknown',
      error: { provider_code: 'connection_error' },
    });
    const groq = await created({ provider: 'groq' });
    expect((await tried(groq.id)).body).toMatchObject({
      status: 'unknown',
      error: { code: 'provider_not_available' },
    });
    expect((await tried(id, await keys.person())).status).toBe(404);
  });
});
