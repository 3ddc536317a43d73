import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { applyMigrations } from '@gateway/database';
import { ConfigError } from '@gateway/platform';
import { testDatabase, type TestDatabase } from '@gateway/testing';
import { startKeysApp, type KeysApp } from '../keys-app.fixture.js';
import { SCHEMA, SCHEMA_DIR } from '../postgres/keys-database.js';
import { orgDefaultsOf } from './org-defaults.js';

const FILE = `
organizations:
  rpm_limit: 600
  spend_cap_usd: '1000'
  blocked_models: [openai/*]
  default_api_version: '2026-09'
  realtime_enabled: false
`;

let folder: string;
let database: TestDatabase;
let keys: KeysApp;

function file(text: string): string {
  const path = join(folder, 'gateway.yaml');
  writeFileSync(path, text);
  return path;
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'org-defaults-'));
  const migrate = async (url: string): Promise<void> => {
    await applyMigrations({ url, schemaDir: SCHEMA_DIR, schema: SCHEMA });
  };
  database = await testDatabase({ schemaDir: SCHEMA_DIR, migrate });
  keys = await startKeysApp(database.url, { config: { GATEWAY_CONFIG: file(FILE) } });
});
afterAll(async () => {
  await keys.close();
  await database.drop();
  rmSync(folder, { recursive: true });
});

describe('what organizations begin with, by the operator’s file', () => {
  const BEGIN = {
    rpm_limit: 600,
    rpd_limit: null,
    spend_cap_usd: '1000',
    blocked_models: ['openai/*'],
    default_api_version: '2026-09',
    realtime_enabled: false,
  };

  it('holds for the first one, and for those that people make, whoever they are', async () => {
    const first = await keys.call('GET', `/v1/orgs/${keys.first.orgId}`, { as: keys.admin });
    expect(first.body).toMatchObject(BEGIN);
    const as = await keys.person();
    const made = await keys.call('POST', '/v1/orgs', { as, body: { name: 'Acme' } });
    expect([made.status, made.body]).toEqual([201, expect.objectContaining(BEGIN)]);
  });

  it('gives way to what the creator names, null too', async () => {
    const as = await keys.person();
    const own = { rpm_limit: 5, spend_cap_usd: null, blocked_models: [] };
    const made = await keys.call('POST', '/v1/orgs', { as, body: { name: 'Acme', ...own } });
    expect(made.body).toMatchObject({ ...BEGIN, ...own });
  });

  it('is replaced by what a super admin writes, from the next organization on, and for that alone', async () => {
    const path = '/v1/admin/organization-defaults';
    const read = async (): Promise<object> => (await keys.call('GET', path, { as: keys.admin })).body;
    const { rpd_limit: _none, ...file } = BEGIN;
    expect(await read()).toEqual(file);
    const as = await keys.person();
    const before = await keys.call('POST', '/v1/orgs', { as, body: { name: 'Before' } });
    const body = { rpm_limit: 900, realtime_max_sessions: 3, tpm_limit: null };
    const written = await keys.call('PUT', path, { as: keys.admin, body });
    expect([written.status, written.body]).toEqual([200, { rpm_limit: 900, realtime_max_sessions: 3 }]);
    expect(await read()).toEqual(written.body);
    const made = await keys.call('POST', '/v1/orgs', { as, body: { name: 'After' } });
    expect(made.body).toMatchObject({
      ...written.body,
      spend_cap_usd: null,
      blocked_models: null,
      realtime_enabled: true,
    });
    const old = await keys.call('GET', `/v1/orgs/${String(before.body.id)}`, { as });
    expect(old.body).toMatchObject(BEGIN);
    await keys.call('PUT', path, { as: keys.admin, body: {} });
    expect(await read()).toEqual({});
    const bare = await keys.call('POST', '/v1/orgs', { as, body: { name: 'Bare' } });
    expect(bare.body).toMatchObject({ rpm_limit: null, default_api_version: null });
  });

  it.each([
    [{ rpm_limit: 5_000 }],
    [{ default_api_version: '2020-01' }],
    [{ tier: 'gold' }],
    [{ credit_limit_usd: '1' }],
    [{ spend_cap_usd: 5 }],
  ])('is 422 for what a create would not take, or no default is: %j', async (body) => {
    const path = '/v1/admin/organization-defaults';
    expect((await keys.call('PUT', path, { as: keys.admin, body })).status).toBe(422);
  });

  it.each([
    [
      'organizations: { rpm_limit: 5000 }',
      /GATEWAY_CONFIG: \S+, line 1: organizations\.rpm_limit: rpm_limit/,
    ],
    [
      "organizations: { default_api_version: '2020-01' }",
      /GATEWAY_CONFIG: \S+, line 1: organizations\.default_api_version: /,
    ],
    [
      'organizations: { name: All }',
      /GATEWAY_CONFIG: \S+, line 1: organizations: name is unknown; what may stand here is rpm_limit, /,
    ],
    ['organizations: [', /GATEWAY_CONFIG: /],
  ])('stops the start with a sentence: %s', (text, sentence) => {
    const read = (): unknown => orgDefaultsOf({ GATEWAY_CONFIG: file(text), BILLING: 'prepaid' });
    expect(read).toThrow(ConfigError);
    expect(read).toThrow(sentence);
    expect(orgDefaultsOf({ BILLING: 'prepaid' })).toEqual({});
  });
});
