import { Inject, Injectable } from '@nestjs/common';
import { uuidv7, type Clock, type Random } from '@gateway/contracts';
import { CLOCK, RANDOM } from '@gateway/platform';
import { openEnvelope, sealEnvelope, type EnvelopeContext } from '@gateway/sealing';
import { NotificationsDatabase, type Tx } from '../postgres/notifications-database.js';
import { envelopeColumns, envelopeOf, type Keks } from './key-encryption.js';

export const KEKS = Symbol('Keks');

const SECRET_BYTES = 32;
const GRACE_MS = 24 * 3_600_000;

/** Secrets that sign the deliveries of webhooks: shown once, stored sealed, opened to sign. */
@Injectable()
export class SigningSecrets {
  constructor(
    private readonly database: NotificationsDatabase,
    @Inject(KEKS) private readonly keks: Keks,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {}

  /** Creates a secret, which is current from now on, and returns its plaintext. */
  async create(tx: Tx, channelId: string): Promise<string> {
    const id = uuidv7(this.clock, this.random);
    const secret = `whsec_${Buffer.from(this.random.bytes(SECRET_BYTES)).toString('base64')}`;
    const envelope = sealEnvelope(Buffer.from(secret), this.keks, contextOf(id, channelId), this.random);
    const created_at = new Date(this.clock.now());
    await tx.signingSecret.create({
      data: { id, channel_id: channelId, ...envelopeColumns(envelope), created_at },
    });
    return secret;
  }

  /** The current one signs for a day more; one that was in its grace already ends. */
  async rotate(tx: Tx, channelId: string): Promise<string> {
    const ends_at = new Date(this.clock.now() + GRACE_MS);
    await tx.signingSecret.deleteMany({ where: { channel_id: channelId, ends_at: { not: null } } });
    await tx.signingSecret.updateMany({ where: { channel_id: channelId }, data: { ends_at } });
    return this.create(tx, channelId);
  }

  /** Returns the secrets that sign now, the current one first. */
  async live(channelId: string): Promise<string[]> {
    const now = new Date(this.clock.now());
    const rows = await this.database.prisma.signingSecret.findMany({
      where: { channel_id: channelId, OR: [{ ends_at: null }, { ends_at: { gt: now } }] },
    });
    // null sorts first: the current one.
    const sorted = rows.toSorted((a, b) => (a.ends_at === null ? -1 : b.ends_at === null ? 1 : 0));
    return sorted.map((row) =>
      openEnvelope(envelopeOf(row), this.keks, contextOf(row.id, channelId)).toString('utf8'),
    );
  }
}

/** Returns the context that binds a secret to its row. */
export function contextOf(id: string, channelId: string): EnvelopeContext {
  const row = `signing_secret/${id}/${channelId}`;
  return { key: `${row}/key`, text: row };
}
