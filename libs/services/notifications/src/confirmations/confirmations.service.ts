import { createHash } from 'node:crypto';
import { Inject, Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import type { Clock, Random } from '@gateway/contracts';
import { Mailer, type OutgoingMail } from '@gateway/mail';
import { CLOCK, LOGGER, RANDOM } from '@gateway/platform';
import type { Logger } from 'pino';
import type { Channel } from '../generated/prisma/client.js';
import { NotificationsConfig } from '../notifications.config.js';
import { holdCount } from '../postgres/hold-count.js';
import { NotificationsDatabase, type Tx } from '../postgres/notifications-database.js';

const TOKEN_BYTES = 32;
const VALID_MS = 24 * 3_600_000;
const HOUR_MS = 3_600_000;
/** Number of mails in an hour, to one channel and to one address. */
const MAILS_MAX = 5;
const SEND_TIMEOUT_MS = 15_000;
const AGAIN_MS = [1_000, 10_000] as const;

/**
 * State of a link that confirms nothing: `used` where the address is confirmed, `replaced` by a newer link, `unknown`
 * made up or of a deleted channel.
 */
export type DeadLink = 'used' | 'replaced' | 'expired' | 'unknown';

/** Links that confirm the address of an e-mail channel: only their digest is stored, each works once. */
@Injectable()
export class ConfirmationsService implements BeforeApplicationShutdown {
  private readonly underWay = new Set<Promise<void>>();

  constructor(
    private readonly database: NotificationsDatabase,
    private readonly mailer: Mailer,
    private readonly config: NotificationsConfig,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all(this.underWay);
  }

  /**
   * A new link in place of the one before, in the transaction of what it is for: hand what it answers to `send` after the
   * commit. null = too many were mailed, and the one before goes on working.
   */
  async begin(tx: Tx, { id: channel_id, destination }: Channel): Promise<OutgoingMail | null> {
    const now = this.clock.now();
    await holdCount(tx, 'mailsToAddress', destination);
    const recent = await tx.confirmation.count({
      where: { created_at: { gt: new Date(now - HOUR_MS) }, OR: [{ channel_id }, { destination }] },
    });
    if (recent >= MAILS_MAX) return null;
    const token = Buffer.from(this.random.bytes(TOKEN_BYTES)).toString('base64url');
    const created_at = new Date(now);
    await this.void(tx, channel_id);
    await tx.confirmation.create({
      data: {
        digest: digestOf(token),
        channel_id,
        destination,
        created_at,
        expires_at: new Date(now + VALID_MS),
      },
    });
    // Behind the `#`, so that no server's log and no Referer holds it.
    return mailOf(destination, `${this.config.ALERTS_PUBLIC_URL}/dashboard/confirm#token=${token}`);
  }

  /** Links of an address that is no longer the channel's. */
  async void(tx: Tx, channelId: string): Promise<void> {
    const spent_at = new Date(this.clock.now());
    await tx.confirmation.updateMany({
      where: { channel_id: channelId, spent_at: null },
      data: { spent_at },
    });
  }

  /** Sends without a wait: an answer says nothing of the address. A mail that is lost is asked for again. */
  send(mail: OutgoingMail | null): void {
    if (mail === null) return;
    const work = this.trySend(mail)
      .catch((failure: unknown) => this.logger.warn({ err: failure }, 'a confirmation could not be mailed'))
      .finally(() => this.underWay.delete(work));
    this.underWay.add(work);
  }

  /** Spends the link. Who has it reads the mailbox, and may know why it does not work; nobody guesses 256 bits. */
  async confirm(token: string): Promise<'confirmed' | DeadLink> {
    const digest = digestOf(token);
    const now = new Date(this.clock.now()).toISOString();
    return this.database.batch(async (client) => {
      // Before the link: changes of a channel take them in this order, too.
      await client.query(
        'SELECT 1 FROM channel WHERE id = (SELECT channel_id FROM confirmation WHERE digest = $1) FOR UPDATE',
        [digest],
      );
      // The one of many at once that spends the link confirms.
      const { rowCount } = await client.query(
        `WITH spent AS (
          UPDATE confirmation SET spent_at = $2::timestamptz
          WHERE digest = $1 AND spent_at IS NULL AND expires_at > $2::timestamptz RETURNING channel_id, destination
        )
        UPDATE channel c SET verified_at = $2::timestamptz, updated_at = $2::timestamptz FROM spent s
        WHERE c.id = s.channel_id AND c.destination = s.destination AND c.verified_at IS NULL`,
        [digest, now],
      );
      if (rowCount === 1) return 'confirmed';
      const { rows } = await client.query<{ is_spent: boolean; is_confirmed: boolean }>(
        `SELECT f.spent_at IS NOT NULL AS is_spent, c.verified_at IS NOT NULL AS is_confirmed
        FROM confirmation f LEFT JOIN channel c ON c.id = f.channel_id AND c.destination = f.destination
        WHERE f.digest = $1`,
        [digest],
      );
      return deadLink(rows.at(0));
    });
  }

  private async trySend(mail: OutgoingMail): Promise<void> {
    for (const pause of AGAIN_MS) {
      try {
        return await this.mailer.send(mail, AbortSignal.timeout(SEND_TIMEOUT_MS));
      } catch (failure) {
        this.logger.warn({ err: failure }, 'a confirmation is mailed again');
        await this.clock.sleep(pause);
      }
    }
    await this.mailer.send(mail, AbortSignal.timeout(SEND_TIMEOUT_MS));
  }
}

function deadLink(found: { is_spent: boolean; is_confirmed: boolean } | undefined): DeadLink {
  if (found === undefined) return 'unknown';
  if (found.is_confirmed) return 'used';
  return found.is_spent ? 'replaced' : 'expired';
}

function digestOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

function mailOf(to: string, link: string): OutgoingMail {
  const why = 'Somebody wants to send the notices of a Model Gateway organization to this address.';
  const rest = 'The link works once, for 24 hours. If you do not want this, do nothing.';
  return {
    to,
    subject: 'Confirm this address for notices',
    text: `${why}\n\nTo confirm it, open:\n${link}\n\n${rest}\n`,
    html: `<p>${why}</p><p><a href="${link}">Confirm this address</a></p><p>${rest}</p>`,
  };
}
