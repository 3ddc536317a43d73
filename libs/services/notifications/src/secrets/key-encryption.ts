import type { Random } from '@gateway/contracts';
import { ConfigError } from '@gateway/platform';
import { kekFromFile, type Envelope } from '@gateway/sealing';
import type { NotificationsSecretsConfig } from '../notifications.config.js';

/** Key-encryption keys: the first seals, an older one only opens. */
export type Keks = readonly [Buffer, ...Buffer[]];

/** Loads the keys from the environment, else from the file. Throws ConfigError where neither has one. */
export function loadKeks(config: Readonly<NotificationsSecretsConfig>, random: Random): Keks {
  const kek = config.NOTIFICATIONS_KEK ?? fromFile(config, random);
  if (kek === null)
    throw new ConfigError(['NOTIFICATIONS_KEK, or NOTIFICATIONS_SECRETS_FILE that holds it, is required']);
  const previous = config.NOTIFICATIONS_KEK_PREVIOUS;
  const current = Buffer.from(kek, 'base64');
  return previous === undefined ? [current] : [current, Buffer.from(previous, 'base64')];
}

function fromFile(config: Readonly<NotificationsSecretsConfig>, random: Random): string | null {
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
