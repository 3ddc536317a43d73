import { Inject, Injectable } from '@nestjs/common';
import { type Clock, type SessionPrincipal } from '@gateway/contracts';
import { CLOCK, LoginAttempts, refuseFaults } from '@gateway/platform';
import type { FastifyRequest } from 'fastify';
import { AccountChanges, type Changed } from '../accounts/account-change.js';
import { deadLink, linkDigest } from '../mail/link.js';
import { KeysDatabase, type Tx } from '../postgres/keys-database.js';
import { PasswordHasher } from '../sessions/password-hasher.js';
import { liveOf } from '../sessions/session.store.js';

/** A person's password: changed with the one before it, or set anew by a mailed link. */
@Injectable()
export class PasswordsService {
  constructor(
    private readonly database: KeysDatabase,
    private readonly changes: AccountChanges,
    private readonly hasher: PasswordHasher,
    private readonly attempts: LoginAttempts,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

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

  private alive(): { used_at: null; expires_at: { gt: Date } } {
    return { used_at: null, expires_at: { gt: new Date(this.clock.now()) } };
  }
}

function passwordChange(action: string, userId: string): Changed<null> {
  const target = { targetType: 'user', targetId: userId, orgId: null, personId: userId };
  return { answer: null, audit: { action, ...target, changedFields: ['password'] } };
}
