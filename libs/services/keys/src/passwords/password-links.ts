import { Inject, Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { type Clock, type Random } from '@gateway/contracts';
import { CLOCK, LOGGER, RANDOM, unavailable, LoginAttempts } from '@gateway/platform';
import type { FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { KeysConfig } from '../keys.config.js';
import { linkDigest, linkTo, newLinkToken } from '../mail/link.js';
import { MailOutbox } from '../mail/mail-outbox.js';
import { KeysDatabase } from '../postgres/keys-database.js';

const LINK_LIFE_MS = 3_600_000;
/** Links mailed to one person in the life of one. */
const LINKS_MAX = 5;
/** Requests for a link whose work is under way. */
const REQUESTS_MAX = 100;

/** Mails links that reset a forgotten password. */
@Injectable()
export class PasswordLinks implements BeforeApplicationShutdown {
  private readonly requests = new Set<Promise<void>>();

  constructor(
    private readonly database: KeysDatabase,
    private readonly attempts: LoginAttempts,
    private readonly mail: MailOutbox,
    private readonly config: KeysConfig,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all(this.requests);
  }

  /** Answers before anything is looked up, so that an answer and its time do not show who is known. */
  request(email: string, request: FastifyRequest): void {
    this.attempts.takeLink(request.clientIp);
    if (this.requests.size >= REQUESTS_MAX) throw unavailable(this.random);
    const work = this.sendLink(email.toLowerCase())
      .catch((failure: unknown) => this.logger.warn({ err: failure }, 'a password link could not be made'))
      .finally(() => this.requests.delete(work));
    this.requests.add(work);
  }

  private async sendLink(email: string): Promise<void> {
    const user = await this.database.prisma.user.findUnique({ where: { email } });
    if (user === null || user.disabled_at !== null) return;
    const now = this.clock.now();
    const since = new Date(now - LINK_LIFE_MS);
    const expires_at = new Date(now + LINK_LIFE_MS);
    const token = newLinkToken(this.random);
    await this.database.transaction(async (tx) => {
      // Of one person one after the other: many at once are counted, too.
      await tx.$executeRaw`SELECT 1 FROM "user" WHERE id = ${user.id} FOR UPDATE`;
      const sent = await tx.passwordReset.count({ where: { user_id: user.id, created_at: { gt: since } } });
      if (sent >= LINKS_MAX) return;
      const row = {
        token_digest: linkDigest(token),
        user_id: user.id,
        created_at: new Date(now),
        expires_at,
      };
      await tx.passwordReset.create({ data: row });
      const link = linkTo(this.config.KEYS_PUBLIC_URL, 'reset', token);
      await this.mail.add(tx, resetMail(email, link), expires_at);
    });
    this.mail.wake();
  }
}

function resetMail(to: string, link: string) {
  const text = [
    'Somebody, probably you, asked for a new password for this address on Model Gateway.',
    '',
    'Choose it within the hour:',
    link,
    '',
    'The link works once and ends every session. If it was not you, ignore this mail: nothing has changed.',
  ].join('\n');
  return { to, subject: 'Choose a new password', text };
}
