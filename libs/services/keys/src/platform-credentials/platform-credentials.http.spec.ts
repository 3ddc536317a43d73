import type { CredentialReport, PooledCredential } from '@gateway/contracts';
import { PROVIDERS } from '@gateway/providers';
import {
  startUpstreamDouble,
  type ScriptedAnswer,
  type SeenRequest,
  type TestDatabase,
  type UpstreamDouble,
} from '@gateway/testing';
import { migratedDatabase, startKeysApp, type Answer, type KeysApp } from '../keys-app.fixture.js';
import { DatabasePlatformCredentials } from './database-platform-credentials.js';

const SECRET = 'sk-pooled-0123456789abcdefghijklmnop';
const NOTHING: CredentialReport = { environment: [], states: [], uses: [] };

let database: TestDatabase;
let keys: KeysApp;
let upstream: UpstreamDouble;
let answered: (seen: SeenRequest) => ScriptedAnswer;

beforeAll(async () => {
  database = await migratedDatabase();
  upstream = await startUpstreamDouble((seen) => answered(seen));
  const called = PROVIDERS.filter(({ slug }) => ['azure', 'openai'].includes(slug));
  const keyed = new Map(called.map((one) => [one.slug, { provider: one, baseUrl: `${upstream.url}/v1` }]));
  keys = await startKeysApp(database.url, { keyed });
});
beforeEach(async () => {
  answered = () => ({});
  const { prisma } = keys.database;
  await prisma.platformCredential.deleteMany();
  await prisma.platformCredentialEnvironment.deleteMany();
});
afterAll(async () => {
  await keys?.close();
  await upstream?.close();
  await database?.drop();
});

const PATH = '/v1/admin/providers/openai/credentials';
const at = (id: unknown): string => `${PATH}/${String(id)}`;
const send = (more: object = {}, path = PATH, headers = {}): Promise<Answer> => {
  const body = { label: 'first', credentials: { api_key: SECRET }, ...more };
  return keys.call('POST', path, { as: keys.admin, body, headers });
};
const list = async (): Promise<Record<string, unknown>[]> =>
  (await keys.call('GET', PATH, { as: keys.admin })).body.data as Record<string, unknown>[];
const pool = (): DatabasePlatformCredentials => keys.app.get(DatabasePlatformCredentials, { strict: false });
const codeOf = ({ status, body }: Answer): unknown[] => [
  status,
  (body.error as { code?: string } | undefined)?.code,
];
const pooled = async (id: unknown): Promise<PooledCredential | undefined> =>
  (await pool().sync(NOTHING)).credentials.find((one) => one.id === id);

describe('the credentials of the platform at a provider', () => {
  it('201 tries a new one at its provider, and answers the record without the credential', async () => {
    const { status, body } = await send();
    const { id, created_at, updated_at, test, ...rest } = body;
    expect([status, rest]).toEqual([
      201,
      {
        provider: 'openai',
        label: 'first',
        source: 'stored',
        masked_credential: 'sk-p...mnop',
        weight: 100,
        rpm_limit: null,
        tpm_limit: null,
        allowed_models: null,
        base_url: null,
        deployments: null,
        is_enabled: true,
        status: 'ready',
        cooldown_until: null,
        last_error: null,
        last_used_at: null,
        requests_24h: 0,
        created_by: keys.admin.userId,
      },
    ]);
    expect(id).toMatch(/^cred_/);
    expect([created_at, updated_at]).toEqual([expect.any(String), created_at]);
    expect(test).toMatchObject({ status: 'works', error: null });
    expect((await keys.call('GET', at(id), { as: keys.admin })).body).toEqual({
      id,
      created_at,
      updated_at,
      ...rest,
    });
  });

  it('422 saves nothing that the provider refuses, and names its code', async () => {
    answered = () => ({ status: 401, json: { error: { message: `Incorrect API key: ${SECRET}` } } });
    const refused = await send();
    expect(codeOf(refused)).toEqual([422, 'unprocessable_entity']);
    expect(refused.body.error).toMatchObject({ provider_code: 'invalid_auth' });
    expect(refused.text).not.toContain(SECRET);
    expect(await list()).toEqual([]);
    answered = () => ({ status: 503 });
    expect((await send({ label: 'unjudged' })).body.test).toMatchObject({ status: 'unknown' });
    answered = () => ({ status: 401 });
    expect((await send({ label: 'untried', skip_test: true })).body.test).toBeNull();
    expect((await list()).map(({ label }) => label)).toEqual(['unjudged', 'untried']);
  });

  it('ROUTE-04 S01 no read, replay or fault shows the secret, and no table holds it', async () => {
    const made = await send({}, PATH, { 'idempotency-key': 'once' });
    const rotated = { credentials: { api_key: `${SECRET}2` } };
    const answers = [
      made,
      await send({}, PATH, { 'idempotency-key': 'once' }),
      await keys.call('GET', PATH, { as: keys.admin }),
      await keys.call('POST', `${at(made.body.id)}/rotate`, { as: keys.admin, body: rotated }),
      await send({ credentials: { api_key: `${SECRET} with a space` } }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 200, 200, 422]);
    expect(answers[1].body).toEqual(made.body);
    for (const { text } of answers) expect(text).not.toContain(SECRET);
    const { rows } = await keys.database.pool.query<{ text: string }>(
      `SELECT t::text AS text FROM platform_credential t UNION ALL SELECT t::text FROM audit_log t
       UNION ALL SELECT t::text FROM idempotency t UNION ALL SELECT t::text FROM outbox t`,
    );
    const dump = rows.map(({ text }) => text).join('\n');
    expect(dump).toContain('sk-p...nop2');
    expect(dump).not.toContain(SECRET);
    expect(dump).not.toContain(Buffer.from(SECRET).toString('hex'));
  });

  it('200 changes and pauses one, and every write is in the audit log without values', async () => {
    const { id } = (await send()).body;
    const limits = { rpm_limit: 60, tpm_limit: 90_000 };
    const body = {
      ...limits,
      label: 'second',
      weight: 0,
      base_url: `${upstream.url}/v1/`,
      is_enabled: false,
    };
    const changed = await keys.call('PATCH', at(id), { as: keys.admin, body });
    expect(changed.body).toMatchObject({ ...body, base_url: `${upstream.url}/v1`, status: 'paused' });
    expect(await pooled(id)).toMatchObject({ weight: 0, isEnabled: false, rpmLimit: 60, tpmLimit: 90_000 });
    expect((await keys.call('DELETE', at(id), { as: keys.admin })).status).toBe(204);
    expect((await keys.call('GET', at(id), { as: keys.admin })).status).toBe(404);
    const rows = await keys.database.prisma.auditLog.findMany({
      where: { target_id: String(id) },
      orderBy: { id: 'asc' },
    });
    expect(rows.map(({ action, changed_fields }) => [action, changed_fields])).toEqual([
      ['platform_credential.create', ['credentials', 'label']],
      ['platform_credential.update', ['base_url', 'is_enabled', 'label', 'rpm_limit', 'tpm_limit', 'weight']],
      ['platform_credential.delete', []],
    ]);
  });

  it('200 a rotation is tried first; edges open the new version and no longer the old one', async () => {
    const { id } = (await send()).body;
    answered = ({ headers }) => ({ status: headers.authorization === 'Bearer wrong' ? 401 : 200 });
    const rotate = (api_key: string): Promise<Answer> =>
      keys.call('POST', `${at(id)}/rotate`, { as: keys.admin, body: { credentials: { api_key } } });
    expect(codeOf(await rotate('wrong'))).toEqual([422, 'unprocessable_entity']);
    expect(await pool().open(String(id), 1)).toEqual({ kind: 'api_key', key: SECRET });
    expect((await rotate(`${SECRET}-new`)).body).toMatchObject({
      status: 'ready',
      test: { status: 'works' },
    });
    expect(await pool().open(String(id), 1)).toBeNull();
    expect(await pool().open(String(id), 2)).toEqual({ kind: 'api_key', key: `${SECRET}-new` });
  });

  it.each([
    [{ label: '' }, 'label'],
    [{ credentials: undefined }, 'credentials'],
    [{ weight: 1_001 }, 'weight'],
    [{ weight: null }, 'weight'],
    [{ rpm_limit: 0 }, 'rpm_limit'],
    [{ tpm_limit: 1.5 }, 'tpm_limit'],
    [{ base_url: 'ftp://somewhere' }, 'base_url'],
    [{ base_url: 'https://user@somewhere' }, 'base_url'],
    [{ deployments: { 'gpt-5.4': 'ours' } }, 'deployments'],
    [{ colour: 'red' }, 'colour'],
  ])('422 refuses %j and names %s', async (more, field) => {
    const { status, body } = await send(more);
    expect([status, JSON.stringify(body)]).toEqual([422, expect.stringContaining(field)]);
  });

  it('201 keeps the names of deployments at its resource, and 422 names a name that Azure has not', async () => {
    const path = '/v1/admin/providers/azure/credentials';
    const sent = { skip_test: true, deployments: { 'gpt-5.4': 'team-gpt' } };
    const endpoint = { endpoint: 'https://ours.openai.azure.com', api_version: '2024-10-21' };
    const credentials = { api_key: SECRET, ...endpoint };
    const { status, body } = await send({ ...sent, credentials }, path);
    expect([status, body.deployments]).toEqual([201, sent.deployments]);
    expect(await pooled(body.id)).toMatchObject({ deployments: sent.deployments });
    const change = (deployments: unknown): Promise<Answer> =>
      keys.call('PATCH', `${path}/${String(body.id)}`, { as: keys.admin, body: { deployments } });
    for (const names of [{ 'gpt-5.4': 'a b' }, { 'gpt-5.4': 7 }, { 'a b': 'c' }, ['a'], 'a']) {
      const refused = await change(names);
      expect([refused.status, JSON.stringify(refused.body)]).toEqual([
        422,
        expect.stringContaining('deployments'),
      ]);
    }
    const many = Object.fromEntries(Array.from({ length: 201 }, (_, n) => [`m${String(n)}`, 'd']));
    expect((await change(many)).status).toBe(422);
    expect((await change(null)).body.deployments).toBeNull();
  });

  it('404 a provider that is not known, 409 one without keys, 409 the 65th', async () => {
    expect(codeOf(await send({}, '/v1/admin/providers/nobody/credentials'))).toEqual([404, 'not_found']);
    expect(codeOf(await send({}, '/v1/admin/providers/ollama/credentials'))).toEqual([409, 'conflict']);
    const one = await keys.database.prisma.platformCredential.findFirstOrThrow({
      where: { id: String((await send()).body.id) },
    });
    const { last_error: _last, allowed_models: _allowed, deployments: _names, ...columns } = one;
    const data = Array.from({ length: 63 }, (_, n) => ({ ...columns, id: `cred_${n}` }));
    await keys.database.prisma.platformCredential.createMany({ data });
    expect(codeOf(await send())).toEqual([409, 'conflict']);
  });

  it('403 a person who is no super admin', async () => {
    const as = await keys.person();
    expect((await keys.call('GET', PATH, { as })).status).toBe(403);
    expect((await keys.call('POST', PATH, { as, body: {} })).status).toBe(403);
  });
});

describe('the credential of the environment', () => {
  const environment = [{ provider: 'openai', variable: 'OPENAI_API_KEY', masked: 'sk-e...viro' }];
  const change = (method: 'PATCH' | 'DELETE', body?: object): Promise<Answer> =>
    keys.call(method, at('cred_env_openai'), { as: keys.admin, body });

  it('200 is the first of the list while an edge reports it; its weight changes, its secret does not', async () => {
    await send();
    await pool().sync({ ...NOTHING, environment });
    expect(await list()).toMatchObject([
      {
        id: 'cred_env_openai',
        source: 'environment',
        label: 'OPENAI_API_KEY',
        masked_credential: 'sk-e...viro',
        weight: 100,
        created_by: null,
      },
      { source: 'stored' },
    ]);
    expect(await pooled('cred_env_openai')).toBeUndefined();
    expect((await change('PATCH', { weight: 5, label: 'ours', rpm_limit: 7 })).body).toMatchObject({
      weight: 5,
      label: 'ours',
    });
    expect(await pooled('cred_env_openai')).toMatchObject({ weight: 5, rpmLimit: 7, source: 'environment' });
    const rotate = await keys.call('POST', `${at('cred_env_openai')}/rotate`, {
      as: keys.admin,
      body: { credentials: { api_key: SECRET } },
    });
    for (const answer of [rotate, await change('DELETE'), await change('PATCH', { base_url: null })]) {
      expect(codeOf(answer)).toEqual([409, 'conflict']);
      expect(answer.text).toContain('set by OPENAI_API_KEY');
    }
  });

  it('404 is not there while no edge has it', async () => {
    expect((await change('PATCH', { weight: 5 })).status).toBe(404);
  });
});

describe('news of the edges', () => {
  it('the newest finding holds, and a rotation ends it', async () => {
    const id = String((await send()).body.id);
    const nowMs = Date.now();
    const error = { code: 'upstream_error', providerCode: 'rate_limit_exceeded', httpStatus: 429 };
    const cooling = { id, status: 'cooling' as const, untilMs: nowMs + 60_000, atMs: nowMs, error };
    await pool().sync({ ...NOTHING, states: [cooling] });
    await pool().sync({ ...NOTHING, states: [{ ...cooling, status: 'refused', atMs: nowMs - 1 }] });
    expect((await list())[0]).toMatchObject({
      status: 'cooling',
      cooldown_until: new Date(nowMs + 60_000).toISOString(),
      last_error: { code: 'upstream_error', provider_code: 'rate_limit_exceeded', http_status: 429 },
    });
    expect((await keys.call('POST', `${at(id)}/test`, { as: keys.admin })).body.status).toBe('works');
    expect((await list())[0]).toMatchObject({ status: 'ready', cooldown_until: null });
  });

  it('counts the requests of the last day', async () => {
    const id = String((await send()).body.id);
    const lastUsedMs = Date.now();
    await pool().sync({ ...NOTHING, uses: [{ id, requests: 2, lastUsedMs }] });
    await pool().sync({ ...NOTHING, uses: [{ id, requests: 3, lastUsedMs }] });
    await pool().sync({ ...NOTHING, uses: [{ id, requests: 9, lastUsedMs: lastUsedMs - 90_000_000 }] });
    expect((await list())[0]).toMatchObject({
      requests_24h: 5,
      last_used_at: new Date(lastUsedMs).toISOString(),
    });
  });
});
