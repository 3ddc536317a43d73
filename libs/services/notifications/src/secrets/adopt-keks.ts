import type { Random } from '@gateway/contracts';
import { kekIdOf, openEnvelope, rewrapped, sealEnvelope } from '@gateway/sealing';
import type { Tx } from '../postgres/notifications-database.js';
import { envelopeColumns, envelopeOf, type Keks } from './key-encryption.js';
import { contextOf } from './signing-secrets.js';

const KNOWN = Buffer.from('notifications');
const CHECK = { key: 'kek_check/1/key', text: 'kek_check/1' };
const BATCH = 100;

/**
 * Puts the data key of every signing secret, and at last the check, under the first of the keys. The one before can then
 * be taken away. A start that is killed leaves each of them readable, and the next one does the rest. Throws where the
 * keys are not those that this database was filled with: no secret would open.
 */
export async function adoptKeks(tx: Tx, keks: Keks, random: Random): Promise<void> {
  const made = envelopeColumns(sealEnvelope(KNOWN, keks, CHECK, random));
  await tx.kekCheck.createMany({ data: { id: 1, ...made }, skipDuplicates: true });
  const row = await tx.kekCheck.findUniqueOrThrow({ where: { id: 1 } });
  try {
    openEnvelope(envelopeOf(row), keks, CHECK);
  } catch (cause) {
    throw new Error(
      'NOTIFICATIONS_KEK is not the key that the signing secrets were sealed with: restore it, or the file that ' +
        'NOTIFICATIONS_SECRETS_FILE names (notifications-secrets.json in the data folder of npm start), from a backup.',
      { cause },
    );
  }
  await rewrapSecrets(tx, keks, random);
  if (row.kek_id !== made.kek_id) await tx.kekCheck.update({ where: { id: 1 }, data: made });
}

async function rewrapSecrets(tx: Tx, keks: Keks, random: Random): Promise<void> {
  const kek_id = kekIdOf(keks[0]);
  const foreign = await tx.signingSecret.findFirst({ where: { kek_id: { notIn: keks.map(kekIdOf) } } });
  if (foreign !== null)
    throw new Error(
      'A signing secret is sealed with another NOTIFICATIONS_KEK: set that one as NOTIFICATIONS_KEK_PREVIOUS.',
    );
  // Each once, in the order of their ids: beside a start that has the keys in the other order both would go on for ever.
  for (let after = ''; ;) {
    const where = { id: { gt: after }, kek_id: { not: kek_id } };
    const due = await tx.signingSecret.findMany({ where, orderBy: { id: 'asc' }, take: BATCH });
    if (due.length === 0) return;
    after = due[due.length - 1].id;
    for (const row of due) {
      const context = contextOf(row.id, row.channel_id);
      const { wrappedKey } = rewrapped(envelopeOf(row), keks, context, random);
      // Another replica that starts may have done it, or somebody deleted it.
      await tx.signingSecret.updateMany({
        where: { id: row.id, kek_id: row.kek_id },
        data: { wrapped_key: wrappedKey, kek_id },
      });
    }
  }
}
