import { applyMigrations } from '@gateway/database';
import { SystemClock, SystemRandom } from '@gateway/platform';
import { testDatabase } from '@gateway/testing';
import { keysConfig, startKeysApp } from '../keys-app.fixture.js';
import { KeysDatabase, SCHEMA, SCHEMA_DIR } from '../postgres/keys-database.js';
import { loadSecrets } from '../secrets/service-secrets.js';
import { rotateSigningKey } from './rotate-signing-key.js';
import { SigningKeys } from './signing-keys.js';

const sources = { clock: new SystemClock(), random: new SystemRandom() };
const kek = (byte: number): string => Buffer.alloc(32, byte).toString('base64');

it('changes the key-encryption key without a token refused: both, a new signing key, the new one alone', async () => {
  const migrate = async (url: string): Promise<void> => {
    await applyMigrations({ url, schemaDir: SCHEMA_DIR, schema: SCHEMA });
  };
  const database = await testDatabase({ schemaDir: SCHEMA_DIR, migrate });
  const keys = await startKeysApp(database.url, { config: { KEYS_KEK: kek(1) } });
  try {
    const [before, both, after] = [
      keysConfig(database.url, { KEYS_KEK: kek(1) }),
      keysConfig(database.url, { KEYS_KEK: kek(2), KEYS_KEK_PREVIOUS: kek(1) }),
      keysConfig(database.url, { KEYS_KEK: kek(2) }),
    ];
    const canSign = async (config: typeof before): Promise<boolean> => {
      const own = new KeysDatabase({ url: database.url, maxConnections: 2, statementTimeoutMs: 5_000 });
      const { clock, random } = sources;
      const signing = new SigningKeys(own, loadSecrets(config, random), clock, random);
      return signing
        .current()
        .then(
          () => true,
          (failure: Error) => !failure.message.includes('KEYS_KEK'),
        )
        .finally(() => own.onApplicationShutdown());
    };
    expect([await canSign(before), await canSign(both), await canSign(after)]).toEqual([true, true, false]);
    // A shell without the fleet's KEK: what it sealed no service could open, and nobody could log in.
    await expect(rotateSigningKey(after, sources)).rejects.toThrow('KEYS_KEK is not the one');
    expect(await canSign(before)).toBe(true);
    await rotateSigningKey(both, sources);
    expect([await canSign(both), await canSign(after)]).toEqual([true, true]);
    // A new KEK that was mistyped beside the right one cannot be seen; the right one makes it good.
    await rotateSigningKey(
      keysConfig(database.url, { KEYS_KEK: kek(3), KEYS_KEK_PREVIOUS: kek(2) }),
      sources,
    );
    expect(await canSign(after)).toBe(false);
    await rotateSigningKey(after, sources);
    expect(await canSign(after)).toBe(true);
    // A token of before is still good.
    expect((await keys.call('GET', '/v1/keys', { as: keys.admin })).status).toBe(200);
  } finally {
    await keys.close();
    await database.drop();
  }
});
