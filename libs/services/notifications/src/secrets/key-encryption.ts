import type { Random } from '@gateway/contracts';
import { ConfigError } from '@gateway/platform';
import { kekFromFile, openEnvelope, sealEnvelope, type Envelope } from '@gateway/sealing';
import type { NotificationsConfig } from '../notifications.config.js';
import type { Tx } from '../postgres/notifications-database.js';

/** Key-encryption keys: the first seals, an older one only opens. */
export type Keks = readonly [Buffer, ...Buffer[]];

const KNOWN = Buffer.from('notifications');

/** From the environment, else from the file. Throws ConfigError where neither has one. */
export function loadKeks(config: Readonly<NotificationsConfig>, random: Random): Keks {
  const kek = config.NOTIFICATIONS_KEK ?? fromFile(config, random);
  if (kek === null)
    throw new ConfigError(['NOTIFICATIONS_KEK, or NOTIFICATIONS_SECRETS_FILE that holds it, is required']);
  const previous = config.NOTIFICATIONS_KEK_PREVIOUS;
  const current = Buffer.from(kek, 'base64');
  return previous === undefined ? [current] : [current, Buffer.from(previous, 'base64')];
}

function fromFile(config: Readonly<NotificationsConfig>, random: Random): string | null {
  const { NOTIFICATIONS_SECRETS_FILE: path, NOTIFICATIONS_SECRETS_CREATE: mayCreate } = config;
  if (path === undefined) return null;
  try {
    return kekFromFile(path, { mayCreate, random });
  } catch (failure) {
    throw new ConfigError([`NOTIFICATIONS_SECRETS_FILE: ${(failure as Error).message}`]);
  }
}

/** An envelope as the columns of its row. */
export interface SealedColumns {
  sealed: Uint8Array<ArrayBuffer>;
  wrapped_key: Uint8Array<ArrayBuffer>;
  kek_id: string;
}

export function envelopeColumns({ sealed, wrappedKey, kekId }: Envelope): SealedColumns {
  return { sealed, wrapped_key: wrappedKey, kek_id: kekId };
}

export function envelopeOf({ sealed, wrapped_key, kek_id }: SealedColumns): Envelope {
  return { sealed, wrappedKey: wrapped_key, kekId: kek_id };
}

/** Throws where the keys are not those that this database was filled with: no secret would open. */
export async function checkKeks(tx: Tx, keks: Keks, random: Random): Promise<void> {
  const context = { key: 'kek_check/1/key', text: 'kek_check/1' };
  const columns = envelopeColumns(sealEnvelope(KNOWN, keks, context, random));
  await tx.kekCheck.createMany({ data: { id: 1, ...columns }, skipDuplicates: true });
  const row = await tx.kekCheck.findUniqueOrThrow({ where: { id: 1 } });
  try {
    openEnvelope(envelopeOf(row), keks, context);
  } catch (cause) {
    throw new Error(
      'NOTIFICATIONS_KEK is not the key that the signing secrets were sealed with: restore it, or the file that ' +
        'NOTIFICATIONS_SECRETS_FILE names (notifications-secrets.json in the data folder of npm start), from a backup.',
      { cause },
    );
  }
}
