import type { Tx } from '../postgres/keys-database.js';
import { pepperedDigest } from './seal.js';
import type { ServiceSecrets } from './service-secrets.js';

/** Digest of a text that everybody may know. */
const KNOWN_DIGEST = '00'.repeat(32);

type Peppers = Pick<ServiceSecrets, 'peppers'>;

/** Throws where a pepper is not the one this database was filled with, or one is missing: keys would be unknown. */
export async function checkPeppers(tx: Tx, { peppers }: Peppers): Promise<void> {
  await checkVersions(
    tx,
    peppers.map(({ version }) => version),
  );
  for (const { version, key } of peppers) {
    const hmac = pepperedDigest(key, KNOWN_DIGEST);
    await tx.pepperCheck.createMany({ data: { version, hmac }, skipDuplicates: true });
    const row = await tx.pepperCheck.findUniqueOrThrow({ where: { version } });
    if (row.hmac !== hmac)
      throw new Error(`Pepper version ${version} is not the one that the keys were stored with.`);
  }
}

/** Checks the versions of callable keys: a suspended one needs no pepper. */
async function checkVersions(tx: Tx, known: number[]): Promise<void> {
  const pepper_version = { notIn: known };
  const select = { pepper_version: true } as const;
  const key =
    (await tx.apiKey.findFirst({ where: { pepper_version, status: 'active' }, select })) ??
    (await tx.adminKey.findFirst({ where: { pepper_version, revoked_at: null }, select }));
  if (key === null) return;
  throw new Error(
    `Keys are stored with pepper version ${key.pepper_version}, which is not here: set it as KEYS_PEPPER_PREVIOUS, with ` +
      'KEYS_PEPPER_VERSION one above it, or see docs/operations/secrets.md.',
  );
}
