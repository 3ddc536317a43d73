import type { Tx } from '../postgres/keys-database.js';
import { pepperedDigest } from './seal.js';
import type { ServiceSecrets } from './service-secrets.js';

/** Digest of a text that everybody may know. */
const KNOWN_DIGEST = '00'.repeat(32);

/** Throws where a pepper is not the one this database was filled with: every key would be unknown. */
export async function checkPeppers(tx: Tx, { peppers }: ServiceSecrets): Promise<void> {
  for (const { version, key } of peppers) {
    const hmac = pepperedDigest(key, KNOWN_DIGEST);
    await tx.pepperCheck.createMany({ data: { version, hmac }, skipDuplicates: true });
    const row = await tx.pepperCheck.findUniqueOrThrow({ where: { version } });
    if (row.hmac !== hmac)
      throw new Error(`Pepper version ${version} is not the one that the keys were stored with.`);
  }
}
