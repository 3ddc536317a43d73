import {
  Inject,
  Injectable,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { Directory, type Clock } from '@gateway/contracts';
import { Mailer } from '@gateway/mail';
import { CLOCK, LOGGER, repeat, type Repeated } from '@gateway/platform';
import type { Logger } from 'pino';
import { NotificationsDatabase } from '../postgres/notifications-database.js';

const EVERY_MS = 60_000;
const SEND_TIMEOUT_MS = 10_000;

interface ClosedChannel {
  id: string;
  org_id: string;
  destination: string;
  disabled_reason: 'failing' | 'gone';
}

/** Notifies the owners of an organization that one of its channels was disabled: until a mail server has taken it. */
@Injectable()
export class ClosedChannels implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private loop: Repeated | null = null;
  /** The one that failed last. The next round begins behind it: an owner whose mailbox takes nothing keeps no other waiting. */
  private failedId = '';

  constructor(
    private readonly database: NotificationsDatabase,
    private readonly mailer: Mailer,
    private readonly directory: Directory,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    this.loop = repeat(
      this.clock,
      EVERY_MS,
      () => this.notifyAll(),
      (failure) => this.logger.warn({ err: failure }, 'owners could not be notified of a disabled channel'),
    );
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.loop?.stop();
  }

  async notifyAll(): Promise<void> {
    while (await this.notifyOne());
  }

  /** The row stays locked while it is sent, so that of two processes one sends. */
  private notifyOne(): Promise<boolean> {
    return this.database.batch(async (client) => {
      const { rows } = await client.query<ClosedChannel>(
        `SELECT id, org_id, destination, disabled_reason FROM channel
          WHERE disabled_reason IS NOT NULL AND owners_mailed_at IS NULL
          ORDER BY id <= $1, id LIMIT 1 FOR UPDATE SKIP LOCKED`,
        [this.failedId],
      );
      const channel = rows.at(0);
      if (channel === undefined) return false;
      await this.mail(channel);
      const now = new Date(this.clock.now()).toISOString();
      await client.query('UPDATE channel SET owners_mailed_at = $2::timestamptz WHERE id = $1', [
        channel.id,
        now,
      ]);
      return true;
    });
  }

  private async mail(channel: ClosedChannel): Promise<void> {
    try {
      for (const to of await this.directory.ownerEmails(channel.org_id))
        await this.mailer.send({ to, ...mailOf(channel) }, AbortSignal.timeout(SEND_TIMEOUT_MS));
    } catch (failure) {
      this.failedId = channel.id;
      throw failure;
    }
  }
}

function mailOf({ id, destination, disabled_reason }: ClosedChannel): { subject: string; text: string } {
  const why =
    disabled_reason === 'gone'
      ? 'it answered 410, which says that it wants no more events'
      : 'every delivery to it has failed for five days';
  return {
    subject: 'A notification channel was disabled',
    text: `The channel ${id} to ${destination} was disabled, because ${why}.\nEvents are not sent to it until somebody enables it again.\n`,
  };
}
