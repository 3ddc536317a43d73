import type { Random } from '@gateway/contracts';
import { ConfigError } from '@gateway/platform';
import { kekFromFile, kekIdOf, openEnvelope, sealEnvelope, type Envelope } from '@gateway/sealing';
import type { Logger } from 'pino';
import type { UsageDatabase } from '../postgres/usage-database.js';
import type { UsageSecretsConfig } from '../usage.config.js';

/** Key-encryption keys: the first seals, an older one only opens. */
export type Keks = readonly [Buffer, ...Buffer[]];

/** Nest token of Keks, or of null where this deployment keeps no contents. */
export const CONTENT_KEKS = Symbol('ContentKeks');

export interface SealedColumns {
  sealed: Uint8Array<ArrayBuffer>;
  wrapped_key: Uint8Array<ArrayBuffer>;
  kek_id: string;
}

const KNOWN = Buffer.from('contents');
const CHECK = { key: 'content_kek_check/1/key', text: 'content_kek_check/1' };

/**
 * Loads the keys from the environment, else from the file; null where neither is named: then no contents are stored.
 * Throws ConfigError.
 */
export function loadContentKeks(config: Readonly<UsageSecretsConfig>, random: Random): Keks | null {
  const kek = config.USAGE_KEK ?? fromFile(config, random);
  if (kek === null) return null;
  const { USAGE_KEK_PREVIOUS: previous } = config;
  const current = Buffer.from(kek, 'base64');
  return previous === undefined ? [current] : [current, Buffer.from(previous, 'base64')];
}

/** Loads the keys and checks that the stored contents were sealed with them; says where none is named. */
export async function openContentKeks(
  config: Readonly<UsageSecretsConfig>,
  database: UsageDatabase,
  random: Random,
  logger: Logger,
): Promise<Keks | null> {
  const keks = loadContentKeks(config, random);
  if (keks === null) logger.info('no USAGE_KEK: bodies that organizations want logged are not kept');
  else await checkContentKeks(database, keks, random);
  return keks;
}

function fromFile(config: Readonly<UsageSecretsConfig>, random: Random): string | null {
  const { USAGE_SECRETS_FILE: path, USAGE_SECRETS_CREATE: mayCreate } = config;
  if (path === undefined) return null;
  try {
    return kekFromFile(path, { mayCreate, random });
  } catch (failure) {
    throw new ConfigError([`USAGE_SECRETS_FILE: ${(failure as Error).message}`]);
  }
}

export function sealedColumns(plain: Uint8Array, keks: Keks, row: string, random: Random): SealedColumns {
  const { sealed, wrappedKey, kekId } = sealEnvelope(plain, keks, { text: row, key: `${row}/key` }, random);
  return { sealed, wrapped_key: wrappedKey, kek_id: kekId };
}

/** Throws where the key is not there, or a byte or the row differs. */
export function openedColumns(columns: SealedColumns, keks: Keks, row: string): Buffer {
  return openEnvelope(envelopeOf(columns), keks, { text: row, key: `${row}/key` });
}

/**
 * Throws where the keys are not those that the contents were sealed with. The check goes over to a new key. The one
 * before can be taken away once the last content that it sealed is gone.
 */
async function checkContentKeks(database: UsageDatabase, keks: Keks, random: Random): Promise<void> {
  const made = sealEnvelope(KNOWN, keks, CHECK, random);
  const columns = { sealed: made.sealed, wrapped_key: made.wrappedKey, kek_id: made.kekId };
  const { contentKekCheck } = database.prisma;
  await contentKekCheck.createMany({ data: { id: 1, ...columns }, skipDuplicates: true });
  const row = await contentKekCheck.findUniqueOrThrow({ where: { id: 1 } });
  try {
    openEnvelope(envelopeOf(row), keks, CHECK);
  } catch (cause) {
    throw new Error(
      'USAGE_KEK is not the key that the logged contents were sealed with: restore it, or the file that ' +
        'USAGE_SECRETS_FILE names (usage-secrets.json in the data folder of npm start), from a backup.',
      { cause },
    );
  }
  if (row.kek_id !== kekIdOf(keks[0])) await contentKekCheck.update({ where: { id: 1 }, data: columns });
}

function envelopeOf({ sealed, wrapped_key, kek_id }: SealedColumns): Envelope {
  return { sealed, wrappedKey: wrapped_key, kekId: kek_id };
}
