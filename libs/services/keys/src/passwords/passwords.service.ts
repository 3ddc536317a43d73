import { Inject, Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { type Clock, type Random, type SessionPrincipal } from '@gateway/contracts';
import { CLOCK, LOGGER, RANDOM, unavailable, LoginAttempts } from '@gateway/platform';
import type { FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { AccountChanges, type Changed } from '../accounts/account-change.js';
import { refuseFaults } from '../accounts/body-faults.js';
import { KeysConfig } from '../keys.config.js';
import { deadLink, linkDigest, linkTo, newLinkToken } from '../mail/link.js';
import { MailOutbox } from '../mail/mail-outbox.js';
import { KeysDatabase, type Tx } from '../postgres/keys-database.js';
import { PasswordHasher } from '../sessions/password-hasher.js';
import { liveOf } from '../sessions/session.store.js';

const LINK_LIFE_MS = 3_600_000;
/** Links mailed to one person in the life of one. */
const LINKS_MAX = 5;
/** Requests for a link whose work is under way. */
const REQUESTS_MAX = 100;

/** A person's password: changed with the one before it, or set anew by a mailed link. */
@Injectable()
export class PasswordsService implements BeforeApplicationShutdown {
  private readonly requests = new Set<Promise<void>>();

  constructor(
    private readonly database: KeysDatabase,
    private readonly changes: AccountChanges,
    private readonly hasher: PasswordHasher,
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

  /** Ends every other session of the person. Throws ApiError `validation_error`, `rate_limit_exceeded`. */
  async change(
    caller: SessionPrincipal,
    { current, next }: { current: string; next: string },
    request: FastifyRequest,
  ): Promise<void> {
    const ip = request.clientIp;
    this.attempts.take(ip, caller.email);
    const { password_hash } = await this.database.prisma.user.findUniqueOrThrow({
      where: { id: caller.userId },
    });
    if (!(await this.hasher.matches(current, password_hash))) {
      this.attempts.failed(ip, caller.email);
      const msg = 'This is not the current password.';
      refuseFaults('validation_error', [{ type: 'password_wrong', loc: ['current_password'], msg }]);
    }
    this.attempts.succeeded(ip, caller.email);
    const hash = await this.hasher.hash(next, 'new_password');
    const others = { id: { not: caller.sessionId } };
    await this.changes.run(request, {
      accounts: [caller.accountId],
      make: async (tx) => {
        await this.write(tx, caller.userId, hash, { epoch: undefined }, others);
        return passwordChange('user.password_change', caller.userId);
      },
    });
  }

  /** Answers before anything is looked up, so that an answer and its time do not show who is known. */
  forgot(email: string, request: FastifyRequest): void {
    this.attempts.takeLink(request.clientIp);
    if (this.requests.size >= REQUESTS_MAX) throw unavailable(this.random);
    const work = this.sendLink(email.toLowerCase())
      .catch((failure: unknown) => this.logger.warn({ err: failure }, 'a password link could not be made'))
      .finally(() => this.requests.delete(work));
    this.requests.add(work);
  }

  /**
   * Resets the password, once per link; ends every session of the person. Throws ApiError `unprocessable_entity`,
   * `validation_error`.
   */
  async reset(token: string, password: string, request: FastifyRequest): Promise<void> {
    this.attempts.takeLink(request.clientIp);
    const token_digest = linkDigest(token);
    const row = await this.database.prisma.passwordReset.findFirst({
      where: { token_digest, ...this.alive(), user: { disabled_at: null } },
      select: { user_id: true, user: { select: { account: { select: { id: true } } } } },
    });
    if (row?.user.account == null) throw deadLink();
    const hash = await this.hasher.hash(password, 'password');
    const { user_id } = row;
    await this.changes.run(request, {
      accounts: [row.user.account.id],
      make: async (tx) => {
        const data = { used_at: new Date(this.clock.now()) };
        const spent = await tx.passwordReset.updateMany({ where: { token_digest, ...this.alive() }, data });
        if (spent.count === 0) throw deadLink();
        await this.write(tx, user_id, hash, { epoch: { increment: 1 } }, {});
        return passwordChange('user.password_reset', user_id);
      },
    });
  }

  /** The other links end with the old password, and so do the sessions named. */
  private async write(
    tx: Tx,
    userId: string,
    password_hash: string,
    more: { epoch: { increment: number } | undefined },
    sessions: { id?: { not: string } },
  ): Promise<void> {
    const now = new Date(this.clock.now());
    await tx.user.update({ where: { id: userId }, data: { password_hash, ...more } });
    await tx.session.updateMany({ where: { ...liveOf(userId, now), ...sessions }, data: { ended_at: now } });
    await tx.passwordReset.updateMany({ where: { user_id: userId, used_at: null }, data: { used_at: now } });
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
    this.mail.nudge();
  }

  private alive(): { used_at: null; expires_at: { gt: Date } } {
    return { used_at: null, expires_at: { gt: new Date(this.clock.now()) } };
  }
}

function passwordChange(action: string, userId: string): Changed<null> {
  const target = { targetType: 'user', targetId: userId, orgId: null, personId: userId };
  return { answer: null, audit: { action, ...target, changedFields: ['password'] } };
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
