import { Inject, Injectable } from '@nestjs/common';
import { ApiError, newId, type AcceptInvitationBody, type Clock, type Random } from '@gateway/contracts';
import { CLOCK, RANDOM, LoginAttempts } from '@gateway/platform';
import type { FastifyRequest } from 'fastify';
import { AccountChanges, type Changed } from '../accounts/account-change.js';
import { createAccount } from '../accounts/account.store.js';
import { Prisma } from '../generated/prisma/client.js';
import { deadLink } from '../mail/link.js';
import { addMember, asRole, findMember } from '../members/member.store.js';
import { KeysDatabase, type Tx } from '../postgres/keys-database.js';
import { PasswordHasher } from '../sessions/password-hasher.js';
import { USER_FIELDS, type SessionUser, type SignedIn } from '../sessions/session.store.js';
import { SessionsService, type Signed } from '../sessions/sessions.service.js';
import { findByToken, spendInvitation, type OpenInvitation } from './invitation.store.js';

const UNIQUE_VIOLATION = 'P2002';

/** A person whom the gateway knows, or will know by joining. */
type Joining =
  | { kind: 'known'; userId: string; accountId: string; passwordHash: string | null }
  | { kind: 'new'; name: string; passwordHash: string };

/** The way in: whoever accepts an invitation becomes a person, a member, and is logged in. */
@Injectable()
export class JoiningService {
  constructor(
    private readonly database: KeysDatabase,
    private readonly changes: AccountChanges,
    private readonly sessions: SessionsService,
    private readonly hasher: PasswordHasher,
    private readonly attempts: LoginAttempts,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {}

  /**
   * A known person has to give the password that they have. Throws ApiError `unprocessable_entity` for a dead link;
   * `unauthorized` for a wrong password; `conflict` for who is a member already; `validation_error` for a new person
   * without a name or a password that will do.
   */
  async accept(body: AcceptInvitationBody, request: FastifyRequest): Promise<Signed> {
    const now = new Date(this.clock.now());
    const ip = request.clientIp;
    this.attempts.takeLink(ip);
    const invitation = await findByToken(this.database.prisma, body.token, now);
    if (invitation === null) throw deadLink();
    const joining = await this.identify(invitation, body, ip);
    return this.sessions.sign(await this.join(invitation, joining, request));
  }

  private async identify(
    { email }: OpenInvitation,
    { name, password }: AcceptInvitationBody,
    ip: string,
  ): Promise<Joining> {
    const known = await this.database.prisma.user.findUnique({
      where: { email },
      select: { id: true, password_hash: true, disabled_at: true, account: { select: { id: true } } },
    });
    if (known === null) {
      if (name == null) throw missingName();
      return { kind: 'new', name, passwordHash: await this.hasher.hash(password, 'password') };
    }
    const person = { kind: 'known', userId: known.id, accountId: known.account?.id ?? '' } as const;
    // The link was mailed to them: who had no password yet chooses one, as with the link of a reset.
    if (known.password_hash === null && known.disabled_at === null)
      return { ...person, passwordHash: await this.hasher.hash(password, 'password') };
    this.attempts.take(ip, email);
    const isRight = await this.hasher.matches(password, known.password_hash);
    if (isRight && known.disabled_at === null) return { ...person, passwordHash: null };
    this.attempts.failed(ip, email);
    throw new ApiError('unauthorized', {
      message: 'This address has an account, and this is not its password.',
    });
  }

  private async join(
    invitation: OpenInvitation,
    joining: Joining,
    request: FastifyRequest,
  ): Promise<SignedIn> {
    const account_id = invitation.org.account?.id ?? '';
    const accounts = joining.kind === 'known' ? [account_id, joining.accountId] : [account_id];
    const { org_id, id } = invitation;
    try {
      return await this.changes.run(request, {
        accounts,
        make: async (tx): Promise<Changed<SignedIn>> => {
          const now = new Date(this.clock.now());
          if (!(await spendInvitation(tx, id, now))) throw deadLink();
          // Who has come in by the identity provider meanwhile keeps that role, above all its owner.
          if (joining.kind === 'known' && (await findMember(tx, org_id, joining.userId)) !== null)
            throw new ApiError('conflict', { message: 'You are a member of this organization already.' });
          const user = await this.person(tx, invitation.email, joining, now);
          const role = asRole(invitation.role);
          await addMember(tx, { orgId: org_id, userId: user.id, role }, now);
          const answer = await this.sessions.begin(tx, user, request);
          const target = { targetType: 'member', targetId: user.id, orgId: org_id, personId: user.id };
          return {
            answer,
            audit: { action: 'member.add', ...target, changedFields: ['role'] },
            events: [{ type: 'member.added', account_id, org_id, data: { user_id: user.id, role } }],
          };
        },
      });
    } catch (failure) {
      // Two invitations of one new address, accepted at once.
      const isTaken =
        failure instanceof Prisma.PrismaClientKnownRequestError && failure.code === UNIQUE_VIOLATION;
      if (isTaken) throw new ApiError('conflict', { message: 'This address has just joined. Try again.' });
      throw failure;
    }
  }

  private async person(tx: Tx, email: string, joining: Joining, now: Date): Promise<SessionUser> {
    if (joining.kind === 'known') {
      const data = joining.passwordHash === null ? {} : { password_hash: joining.passwordHash };
      return tx.user.update({ where: { id: joining.userId }, data, select: USER_FIELDS });
    }
    const sources = { clock: this.clock, random: this.random };
    const { name, passwordHash: password_hash } = joining;
    const id = newId('usr', this.clock, this.random);
    const user = await tx.user.create({
      data: { id, email, name, password_hash, created_at: now },
      select: USER_FIELDS,
    });
    await createAccount(tx, { userId: id }, sources);
    return user;
  }
}

function missingName(): ApiError {
  const msg = 'name is required for a person who has no account yet.';
  return new ApiError('validation_error', {
    message: msg,
    details: [{ type: 'missing', loc: ['name'], msg }],
  });
}
