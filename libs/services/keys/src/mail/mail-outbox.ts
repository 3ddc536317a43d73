import {
  Inject,
  Injectable,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { newId, type Clock, type Random } from '@gateway/contracts';
import { Mailer, type OutgoingMail } from '@gateway/mail';
import { CLOCK, LOGGER, RANDOM, repeat, type Repeated } from '@gateway/platform';
import { seal, unsealWithAny } from '@gateway/sealing';
import type { Logger } from 'pino';
import { KeysDatabase, type Tx } from '../postgres/keys-database.js';
import type { ServiceSecrets } from '../secrets/service-secrets.js';
import { SERVICE_SECRETS } from '../secrets/tokens.js';

const EVERY_MS = 5_000;
const BATCH = 20;
const SEND_TIMEOUT_MS = 15_000;
/** Time until the first repeat; it doubles. Longer than a batch may take, so that no other process sends the same. */
const FIRST_WAIT_MS = 6 * 60_000;
const WAIT_DOUBLINGS_MAX = 4;

interface DueMail {
  id: string;
  sealed: Uint8Array;
}

/**
 * Mail with a link that works once: written in the transaction that made the link, sealed, and sent until the mailer has
 * taken it or the link is dead. A mail that was taken and not acknowledged may go out twice.
 */
@Injectable()
export class MailOutbox implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private loop: Repeated | null = null;

  constructor(
    private readonly database: KeysDatabase,
    private readonly mailer: Mailer,
    @Inject(SERVICE_SECRETS) private readonly secrets: Pick<ServiceSecrets, 'keks'>,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  onApplicationBootstrap(): void {
    this.loop = repeat(
      this.clock,
      EVERY_MS,
      () => this.sendDue(),
      (failure) => this.logger.warn({ err: failure }, 'mail waits in the outbox'),
    );
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.loop?.stop();
  }

  /** Adds a mail. Call `wake` after the commit. */
  async add(tx: Tx, mail: OutgoingMail, expiresAt: Date): Promise<void> {
    const id = newId('mail', this.clock, this.random);
    const now = new Date(this.clock.now());
    const sealed = seal(Buffer.from(JSON.stringify(mail)), this.secrets.keks[0], contextOf(id), this.random);
    await tx.mail.create({ data: { id, sealed, created_at: now, expires_at: expiresAt, next_at: now } });
  }

  wake(): void {
    this.loop?.wake();
  }

  private async sendDue(): Promise<void> {
    let taken: DueMail[];
    do {
      taken = await this.take(new Date(this.clock.now()));
      for (const mail of taken) await this.send(mail);
    } while (taken.length === BATCH);
  }

  /** A mail is taken before it is sent: another process, or this one after a crash, comes to it when its time is due again. */
  private take(now: Date): Promise<DueMail[]> {
    return this.database.prisma.$queryRaw<DueMail[]>`
      UPDATE mail SET attempts = attempts + 1,
        next_at = ${now}::timestamptz
          + make_interval(secs => ${FIRST_WAIT_MS / 1000}::double precision * 2 ^ least(attempts, ${WAIT_DOUBLINGS_MAX}))
      WHERE id IN (
        SELECT id FROM mail WHERE next_at <= ${now} AND expires_at > ${now}
        ORDER BY next_at LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)
      RETURNING id, sealed`;
  }

  private async send({ id, sealed }: DueMail): Promise<void> {
    try {
      const text = unsealWithAny(sealed, this.secrets.keks, contextOf(id)).toString('utf8');
      await this.mailer.send(JSON.parse(text) as OutgoingMail, AbortSignal.timeout(SEND_TIMEOUT_MS));
    } catch (failure) {
      this.logger.warn({ err: failure, mail_id: id }, 'a mail could not be sent and is tried again');
      return;
    }
    await this.database.prisma.mail.deleteMany({ where: { id } });
  }
}

function contextOf(id: string): string {
  return `mail/${id}`;
}
