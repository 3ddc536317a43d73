import type { KeyPrincipal } from '@gateway/contracts';
import { applyMigrations } from '@gateway/database';
import { secretDigest } from '@gateway/platform';
import { testDatabase, type TestDatabase } from '@gateway/testing';
import { FLEET_TOKEN, startKeysApp, type KeysApp } from '../keys-app.fixture.js';
import { SCHEMA, SCHEMA_DIR } from '../postgres/keys-database.js';

let database: TestDatabase;
let keys: KeysApp;

beforeAll(async () => {
  const migrate = async (url: string): Promise<void> => {
    await applyMigrations({ url, schemaDir: SCHEMA_DIR, schema: SCHEMA });
  };
  database = await testDatabase({ schemaDir: SCHEMA_DIR, migrate });
  keys = await startKeysApp(database.url, { config: { BILLING: 'off' } });
});
afterAll(async () => {
  await keys.close();
  await database.drop();
});

const principalOf = async (key: string): Promise<KeyPrincipal> =>
  (
    await keys.call('POST', '/internal/principals/resolve', {
      body: { kind: 'key', digest: secretDigest(key) },
      headers: { 'x-fleet-token': FLEET_TOKEN },
    })
  ).body as unknown as KeyPrincipal;

/** Settings of a running service, for what is decided with each request. */
async function withSettings(settings: Partial<KeysApp['config']>, run: () => Promise<void>): Promise<void> {
  const before = { ...keys.config };
  Object.assign(keys.config, settings);
  try {
    await run();
  } finally {
    Object.assign(keys.config, before);
  }
}

describe('where billing is off', () => {
  it('the first organization has no opening credit and the tier enterprise, and so has every new one', async () => {
    const account = await keys.database.prisma.account.findUniqueOrThrow({
      where: { id: keys.first.accountId },
    });
    expect([account.opening_credit_usd, account.opening_credit_state]).toEqual([null, 'none']);
    const first = await keys.call('GET', `/v1/orgs/${keys.first.orgId}`, { as: keys.admin });
    expect(first.body.tier).toBe('enterprise');
    const made = await keys.call('POST', '/v1/orgs', { as: await keys.person(), body: { name: 'Acme' } });
    expect([made.status, made.body.tier]).toEqual([201, 'enterprise']);
  });

  it('the operator’s tier wins over that of the mode, and a super admin’s over both', async () => {
    const as = await keys.person();
    const tierOfNew = async (): Promise<unknown> =>
      (await keys.call('POST', '/v1/orgs', { as, body: { name: 'Acme' } })).body.tier;
    await withSettings({ BILLING: 'prepaid' }, async () => expect(await tierOfNew()).toBe('standard'));
    await withSettings({ KEYS_DEFAULT_TIER: 'platform' }, async () => {
      expect(await tierOfNew()).toBe('platform');
      const path = '/v1/admin/organization-defaults';
      expect((await keys.call('PUT', path, { as: keys.admin, body: { tier: 'standard' } })).status).toBe(200);
      expect(await tierOfNew()).toBe('standard');
      await keys.call('PUT', path, { as: keys.admin, body: {} });
    });
  });

  it('a key calls without a limit of debt, and its units are booked on the house', async () => {
    const { body } = await keys.call('POST', '/v1/keys', { as: keys.admin, body: {} });
    expect(await principalOf(String(body.key))).toMatchObject({ billing: 'off', creditLimitUsd: null });
  });

  it('tells the mode to whoever may log in', async () => {
    expect((await keys.call('GET', '/auth/options')).body).toMatchObject({ billing: 'off' });
    await withSettings({ BILLING: 'prepaid' }, async () =>
      expect((await keys.call('GET', '/auth/options')).body).toMatchObject({ billing: 'prepaid' }),
    );
  });

  it('a key of one’s own is told that its balance is empty, where there are balances', async () => {
    const as = await keys.person();
    const noticeOf = async (more: object = {}): Promise<unknown> =>
      (await keys.call('POST', '/v1/keys', { as, body: more })).body.notice;
    expect(await noticeOf()).toBeNull();
    await withSettings({ BILLING: 'prepaid' }, async () => {
      expect(await noticeOf()).toMatch(/balance of your own account is empty.*coupon.*org_id/);
      keys.funds.balanceNano = 1n;
      expect(await noticeOf()).toBeNull();
      keys.funds.balanceNano = 0n;
      keys.funds.isUnavailable = true;
      expect(await noticeOf()).toBeNull();
      keys.funds.isUnavailable = false;
      const { orgId } = await keys.org(as);
      expect(await noticeOf({ org_id: orgId })).toBeNull();
    });
  });
});
