import type { Clock, Random } from '@gateway/contracts';
import type { KeysConfig } from '../keys.config.js';
import { KeysDatabase } from '../postgres/keys-database.js';
import { loadSecrets } from '../secrets/service-secrets.js';
import { SigningKeys } from './signing-keys.js';

const STATEMENT_TIMEOUT_MS = 5_000;

/**
 * Makes a new key of session tokens, sealed with the current KEYS_KEK; the one before verifies for another 20 minutes.
 * Running services take the new one within 30 s. Answers its id.
 */
export async function rotateSigningKey(
  config: Readonly<KeysConfig>,
  { clock, random }: { clock: Clock; random: Random },
): Promise<string> {
  const database = new KeysDatabase({
    url: config.KEYS_DATABASE_URL,
    maxConnections: 2,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
  });
  try {
    const keys = new SigningKeys(database, loadSecrets(config, random), clock, random);
    await keys.rotate();
    return (await keys.current()).kid;
  } finally {
    await database.onApplicationShutdown();
  }
}
