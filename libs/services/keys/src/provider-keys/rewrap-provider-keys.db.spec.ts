import { applyMigrations } from '@gateway/database';
import { SystemRandom } from '@gateway/platform';
import { dyingRandom, testDatabase, type TestDatabase } from '@gateway/testing';
import { keysConfig, startKeysApp } from '../keys-app.fixture.js';
import { isSealed } from '../platform-credentials/platform-credential.store.js';
import { KeysDatabase, SCHEMA, SCHEMA_DIR } from '../postgres/keys-database.js';
import { contextOf, platformContextOf, ProviderKeySecrets } from './provider-key-secrets.js';
import { checkProviderKeys, rewrapProviderKeys } from './rewrap-provider-keys.js';

const random = new SystemRandom();
const [older, newer] = [Buffer.alloc(32, 2), Buffer.alloc(32, 3)];
const ROWS = 250;

let testing: TestDatabase;
let database: KeysDatabase;

beforeAll(async () => {
  const migrate = async (url: string): Promise<void> => {
    await applyMigrations({ url, schemaDir: SCHEMA_DIR, schema: SCHEMA });
  };
  testing = await testDatabase({ schemaDir: SCHEMA_DIR, migrate });
  database = new KeysDatabase({
    url: testing.url,
    maxConnections: 2,
    statementTimeoutMs: 5_000,
    onIdleError: () => undefined,
  });
  const secrets = new ProviderKeySecrets({ keks: [older] }, random);
  const now = new Date();
  const rows = Array.from({ length: ROWS }, (_, n) => {
    const row = { id: `pk_${n}`, account_id: 'acct_1', provider: 'openai', version: 1 };
    const more = { masked_credential: '****', created_by: 'usr_1', created_at: now, updated_at: now };
    return { ...row, ...more, ...secrets.seal({ kind: 'api_key', key: `sk-${n}` }, contextOf(row)) };
  });
  await database.prisma.providerKey.createMany({ data: rows });
  const times = { state_at: now, created_at: now, updated_at: now };
  const pooled = { ...times, label: 'x', masked_credential: '****', created_by: 'usr_1' };
  const one = { id: 'cred_1', provider: 'openai', version: 1 };
  const sealed = secrets.seal({ kind: 'api_key', key: 'sk-pooled' }, platformContextOf(one));
  const ofEnvironment = { ...pooled, id: 'cred_env_openai', provider: 'openai' };
  await database.prisma.platformCredential.createMany({
    data: [{ ...pooled, ...one, ...sealed }, ofEnvironment],
  });
});

afterAll(async () => {
  await database?.onApplicationShutdown();
  await testing?.drop();
});

/** Returns how many rows these keys open. */
async function readable(...keks: [Buffer, ...Buffer[]]): Promise<number> {
  const secrets = new ProviderKeySecrets({ keks }, random);
  const rows = await database.prisma.providerKey.findMany();
  return rows.filter((row) => {
    try {
      return JSON.stringify(secrets.open(row, contextOf(row))).includes(`"sk-${row.id.slice(3)}"`);
    } catch {
      return false;
    }
  }).length;
}

it('S03 a service whose KEK opens its signing key and not a provider key refuses to start', async () => {
  const config = { KEYS_KEK: newer.toString('base64') };
  await expect(startKeysApp(testing.url, { config })).rejects.toThrow(/set that one as KEYS_KEK_PREVIOUS/);
  expect(await database.prisma.signingKey.count()).toBe(1);
});

it('S03 a rotation to a KEK with which the services do not sign is refused and moves no row', async () => {
  const config = keysConfig(testing.url, {
    KEYS_KEK: Buffer.alloc(32, 9).toString('base64'),
    KEYS_KEK_PREVIOUS: older.toString('base64'),
  });
  await expect(rewrapProviderKeys(config, random)).rejects.toThrow(/rotate-signing-key/);
  expect(await readable(older)).toBe(ROWS);
});

it('S03 a rotation that is killed leaves every row readable, and the next run does the rest', async () => {
  const config = keysConfig(testing.url, {
    KEYS_KEK: newer.toString('base64'),
    KEYS_KEK_PREVIOUS: older.toString('base64'),
  });
  expect(await readable(older)).toBe(ROWS);
  await expect(rewrapProviderKeys(config, dyingRandom(random, 150))).rejects.toThrow('killed');
  expect(await readable(newer, older)).toBe(ROWS);
  expect(await readable(newer)).toBe(100);
  await expect(checkProviderKeys(database.prisma, { keks: [newer] })).rejects.toThrow(/rotate-kek/);
  await checkProviderKeys(database.prisma, { keks: [newer, older] });
  expect(await rewrapProviderKeys(config, random)).toBe(ROWS - 100 + 1);
  expect(await readable(newer)).toBe(ROWS);
  expect(await readable(older)).toBe(0);
  const pooled = await database.prisma.platformCredential.findUniqueOrThrow({ where: { id: 'cred_1' } });
  expect(
    isSealed(pooled) &&
      new ProviderKeySecrets({ keks: [newer] }, random).open(pooled, platformContextOf(pooled)),
  ).toEqual({
    kind: 'api_key',
    key: 'sk-pooled',
  });
  await checkProviderKeys(database.prisma, { keks: [newer] });
  expect(await rewrapProviderKeys(config, random)).toBe(0);
});
