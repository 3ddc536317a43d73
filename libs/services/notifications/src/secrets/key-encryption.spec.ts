import { seededRandom } from '@gateway/testing/plain';
import type { Tx } from '../postgres/notifications-database.js';
import { checkKeks, type SealedColumns } from './key-encryption.js';

/** The one row that says which key the database was filled with. */
function database(): Tx {
  const rows: SealedColumns[] = [];
  const kekCheck = {
    createMany: ({ data }: { data: SealedColumns }) => Promise.resolve(rows.length === 0 && rows.push(data)),
    findUniqueOrThrow: () => Promise.resolve(rows[0]),
  };
  return { kekCheck } as unknown as Tx;
}

describe('the key-encryption key of signing secrets', () => {
  const random = seededRandom(1);
  const [own, other] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];

  it('is the one that the database was filled with, or one before it; another says what to restore', async () => {
    const tx = database();
    await checkKeks(tx, [own], random);
    await checkKeks(tx, [own], random);
    await checkKeks(tx, [other, own], random);
    await expect(checkKeks(tx, [other], random)).rejects.toThrow(
      /NOTIFICATIONS_KEK is not .*: restore it, or the file that NOTIFICATIONS_SECRETS_FILE names .* from a backup/,
    );
  });
});
