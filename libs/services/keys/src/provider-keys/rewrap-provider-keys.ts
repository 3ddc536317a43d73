import type { Random } from '@gateway/contracts';
import { Prisma } from '../generated/prisma/client.js';
import type { KeysConfig } from '../keys.config.js';
import { KeysDatabase, type Tx } from '../postgres/keys-database.js';
import { kekIdOf, rewrapped } from '@gateway/sealing';
import { loadSecrets, type ServiceSecrets } from '../secrets/service-secrets.js';
import { checkSealingKek } from '../sessions/signing-keys.js';
import { contextOf } from './provider-key-secrets.js';

const STATEMENT_TIMEOUT_MS = 5_000;
const BATCH = 100;

type Keks = Pick<ServiceSecrets, 'keks'>;

/**
 * Seals the data key of every provider key with the current KEYS_KEK. Services that have both keys go on meanwhile. A
 * batch is one transaction: a run that is killed leaves every row readable, and the next one does the rest. Answers how
 * many rows it has moved. Throws, before the first, where no service seals with that KEK: nobody could open what it moves.
 */
export async function rewrapProviderKeys(config: Readonly<KeysConfig>, random: Random): Promise<number> {
  const secrets = loadSecrets(config, random);
  const database = new KeysDatabase({
    url: config.KEYS_DATABASE_URL,
    maxConnections: 2,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
  });
  try {
    await checkSealingKek(database.prisma, secrets.keks[0]);
    let moved = 0;
    let after = '';
    for (;;) {
      const from = after;
      const ids = await database.transaction((tx) => rewrapBatch(tx, from, secrets, random));
      // From the start once more: a replica that did not know the new key yet may have sealed another meanwhile.
      if (ids.length === 0 && from === '') return moved;
      moved += ids.length;
      after = ids.at(-1) ?? '';
    }
  } finally {
    await database.onApplicationShutdown();
  }
}

/**
 * Returns the ids that it has moved, in their order. Each begins after the one before: rows that are done are not read
 * again.
 */
async function rewrapBatch(tx: Tx, after: string, { keks }: Keks, random: Random): Promise<string[]> {
  const current = kekIdOf(keks[0]);
  const due = await tx.$queryRaw<{ id: string }[]>`
    SELECT id FROM provider_key WHERE id > ${after} AND kek_id <> ${current} ORDER BY id LIMIT ${BATCH} FOR UPDATE`;
  const ids = due.map(({ id }) => id);
  if (ids.length === 0) return [];
  const rows = await tx.providerKey.findMany({ where: { id: { in: ids } } });
  const moved = rows.map((row) => {
    const envelope = { wrappedKey: row.wrapped_key, kekId: row.kek_id };
    const { wrappedKey, kekId } = rewrapped(envelope, keks, contextOf(row), random);
    return Prisma.sql`(${row.id}, ${wrappedKey}::bytea, ${kekId})`;
  });
  await tx.$executeRaw`
    UPDATE provider_key p SET wrapped_key = m.wrapped_key, kek_id = m.kek_id
    FROM (VALUES ${Prisma.join(moved)}) AS m (id, wrapped_key, kek_id) WHERE p.id = m.id`;
  return ids;
}

/** Throws where a row is sealed with a key that this process does not have: it would fail one request after another. */
export async function checkProviderKeys(tx: Tx, { keks }: Keks): Promise<void> {
  const foreign = await tx.providerKey.findFirst({
    where: { kek_id: { notIn: keks.map(kekIdOf) } },
    select: { id: true },
  });
  if (foreign !== null)
    throw new Error(
      'A provider key is sealed with another KEYS_KEK: set that one as KEYS_KEK_PREVIOUS and run rotate-kek.',
    );
}
