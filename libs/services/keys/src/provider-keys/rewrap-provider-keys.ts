import type { Random } from '@gateway/contracts';
import { Prisma } from '../generated/prisma/client.js';
import type { KeysConfig } from '../keys.config.js';
import { KeysDatabase, type Tx } from '../postgres/keys-database.js';
import { kekIdOf, rewrapped, type EnvelopeContext } from '@gateway/sealing';
import { loadSecrets, type ServiceSecrets } from '../secrets/service-secrets.js';
import { checkSealingKek } from '../sessions/signing-keys.js';
import { contextOf, platformContextOf, type SealedRow } from './provider-key-secrets.js';

const STATEMENT_TIMEOUT_MS = 5_000;
const BATCH = 100;

type Keks = Pick<ServiceSecrets, 'keks'>;

interface DueRow {
  id: string;
  account_id: string;
  provider: string;
  version: number;
  wrapped_key: Uint8Array<ArrayBuffer>;
  kek_id: string;
}

/** A table whose rows hold sealed credentials; rows without any have no kek_id. */
interface SealedTable {
  name: Prisma.Sql;
  /** Columns that bind an envelope, beside id, provider and version. */
  columns: Prisma.Sql;
  contextOf: (row: SealedRow) => EnvelopeContext;
}

const TABLES: readonly SealedTable[] = [
  { name: Prisma.sql`provider_key`, columns: Prisma.sql`account_id`, contextOf },
  {
    name: Prisma.sql`platform_credential`,
    columns: Prisma.sql`'' AS account_id`,
    contextOf: platformContextOf,
  },
];

/**
 * Seals the data key of every provider key and platform credential with the current KEYS_KEK. Services that have both keys go on meanwhile. A
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
    for (const table of TABLES) moved += await rewrapTable(database, table, secrets, random);
    return moved;
  } finally {
    await database.onApplicationShutdown();
  }
}

/** Returns how many rows it has moved. */
async function rewrapTable(
  database: KeysDatabase,
  table: SealedTable,
  secrets: Keks,
  random: Random,
): Promise<number> {
  let moved = 0;
  let after = '';
  for (;;) {
    const from = after;
    const ids = await database.transaction((tx) => rewrapBatch(tx, table, { after: from, secrets, random }));
    // From the start once more: a replica that did not know the new key yet may have sealed another meanwhile.
    if (ids.length === 0 && from === '') return moved;
    moved += ids.length;
    after = ids.at(-1) ?? '';
  }
}

/**
 * Returns the ids that it has moved, in their order. Each begins after the one before: rows that are done are not read
 * again.
 */
async function rewrapBatch(
  tx: Tx,
  table: SealedTable,
  { after, secrets: { keks }, random }: { after: string; secrets: Keks; random: Random },
): Promise<string[]> {
  const current = kekIdOf(keks[0]);
  const rows = await tx.$queryRaw<DueRow[]>`
    SELECT id, ${table.columns}, provider, version, wrapped_key, kek_id FROM ${table.name}
    WHERE id > ${after} AND kek_id <> ${current} ORDER BY id LIMIT ${BATCH} FOR UPDATE`;
  if (rows.length === 0) return [];
  const moved = rows.map((row) => {
    const envelope = { wrappedKey: row.wrapped_key, kekId: row.kek_id };
    const { wrappedKey, kekId } = rewrapped(envelope, keks, table.contextOf(row), random);
    return Prisma.sql`(${row.id}, ${wrappedKey}::bytea, ${kekId})`;
  });
  await tx.$executeRaw`
    UPDATE ${table.name} p SET wrapped_key = m.wrapped_key, kek_id = m.kek_id
    FROM (VALUES ${Prisma.join(moved)}) AS m (id, wrapped_key, kek_id) WHERE p.id = m.id`;
  return rows.map(({ id }) => id);
}

/** Throws where a row is sealed with a key that this process does not have: it would fail one request after another. */
export async function checkProviderKeys(tx: Tx, { keks }: Keks): Promise<void> {
  const options = { where: { kek_id: { notIn: keks.map(kekIdOf) } }, select: { id: true } };
  const foreign =
    (await tx.providerKey.findFirst(options)) ?? (await tx.platformCredential.findFirst(options));
  if (foreign !== null)
    throw new Error(
      'A provider key or a platform credential is sealed with another KEYS_KEK: set that one as KEYS_KEK_PREVIOUS and run rotate-kek.',
    );
}
