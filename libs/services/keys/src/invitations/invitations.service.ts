import { Inject, Injectable } from '@nestjs/common';
import {
  ApiError,
  newId,
  type Clock,
  type CreateInvitationBody,
  type CursorPage,
  type CursorPageQuery,
  type InvitationRecord,
  type Random,
  type SessionPrincipal,
  type CreateAnswer,
} from '@gateway/contracts';
import { CLOCK, RANDOM, sentFields } from '@gateway/platform';
import type { FastifyRequest } from 'fastify';
import { AccountChanges, type Changed } from '../accounts/account-change.js';
import { KeysConfig } from '../keys.config.js';
import { linkDigest, linkTo, newLinkToken } from '../mail/link.js';
import { MailOutbox } from '../mail/mail-outbox.js';
import { orgAccount } from '../members/member.store.js';
import { KeysDatabase, type Tx } from '../postgres/keys-database.js';
import { listInvitations, openAt, toWire, type InvitationRow } from './invitation.store.js';

const LIFE_MS = 7 * 86_400_000;
/**
 * Number of invitations of one organization, and of one person in all of theirs: nobody's mail server is lent to send
 * more.
 */
const PER_HOUR_MAX = 200;
const HOUR_MS = 3_600_000;
/** Number of invitations to one address, from all organizations. */
const PER_ADDRESS_MAX = 5;
const DAY_MS = 86_400_000;

/** Invitations as an organization's owner and admins see them. */
@Injectable()
export class InvitationsService {
  constructor(
    private readonly database: KeysDatabase,
    private readonly changes: AccountChanges,
    private readonly mail: MailOutbox,
    private readonly config: KeysConfig,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {}

  async list(orgId: string, query: CursorPageQuery): Promise<CursorPage<InvitationRecord>> {
    const now = new Date(this.clock.now());
    const page = await listInvitations(this.database.prisma, orgId, query, now);
    return { ...page, data: page.data.map(toWire) };
  }

  /**
   * Mails a link. An earlier invitation to the same address is void from here on. Throws ApiError `conflict` for somebody
   * who is a member already, `rate_limit_exceeded` for too many in an hour.
   */
  async create(
    caller: SessionPrincipal,
    orgId: string,
    body: CreateInvitationBody,
    request: FastifyRequest,
  ): Promise<CreateAnswer<InvitationRecord>> {
    const answer = await this.changes.create(request, {
      accounts: [await this.account(orgId)],
      make: async (tx) => {
        const row = await this.insert(tx, caller, orgId, body);
        const audit = invitationAudit('invitation.create', row, sentFields(body));
        return { answer: { status: 201, body: { ...toWire(row) } }, audit };
      },
    });
    this.mail.wake();
    return answer;
  }

  /** Throws ApiError `not_found` for one that cannot be accepted any more. */
  async revoke(orgId: string, id: string, request: FastifyRequest): Promise<void> {
    await this.changes.run(request, {
      accounts: [await this.account(orgId)],
      make: async (tx): Promise<Changed<null>> => {
        const now = new Date(this.clock.now());
        const row = await tx.invitation.findFirst({ where: { ...openAt(now), id, org_id: orgId } });
        if (row === null) throw new ApiError('not_found');
        await tx.invitation.update({ where: { id }, data: { revoked_at: now } });
        return { answer: null, audit: invitationAudit('invitation.revoke', row, ['revoked_at']) };
      },
    });
  }

  private async insert(
    tx: Tx,
    caller: SessionPrincipal,
    orgId: string,
    body: CreateInvitationBody,
  ): Promise<InvitationRow> {
    const now = new Date(this.clock.now());
    const email = body.email.toLowerCase();
    await inTurn(tx, email, caller.userId);
    await this.refuse(tx, { orgId, email, userId: caller.userId }, now);
    await tx.invitation.updateMany({
      where: { org_id: orgId, email, accepted_at: null, revoked_at: null },
      data: { revoked_at: now },
    });
    const token = newLinkToken(this.random);
    const expires_at = new Date(now.getTime() + LIFE_MS);
    const row = await tx.invitation.create({
      data: {
        id: newId('inv', this.clock, this.random),
        org_id: orgId,
        email,
        role: body.role,
        token_digest: linkDigest(token),
        created_by: caller.userId,
        created_at: now,
        expires_at,
      },
    });
    const { name } = await tx.org.findUniqueOrThrow({ where: { id: orgId }, select: { name: true } });
    const link = linkTo(this.config.KEYS_PUBLIC_URL, 'invite', token);
    await this.mail.add(tx, invitationMail(email, name, caller.email, link), expires_at);
    return row;
  }

  private async refuse(
    tx: Tx,
    { orgId, email, userId }: { orgId: string; email: string; userId: string },
    now: Date,
  ): Promise<void> {
    const isMember = await tx.membership.count({
      where: { org_id: orgId, removed_at: null, user: { email } },
    });
    if (isMember > 0) throw new ApiError('conflict', { message: 'This person is a member already.' });
    const within = (ms: number) => ({ created_at: { gt: new Date(now.getTime() - ms) } });
    const sent = await tx.invitation.count({ where: { org_id: orgId, ...within(HOUR_MS) } });
    if (sent >= PER_HOUR_MAX)
      throw tooMany(`An organization sends at most ${PER_HOUR_MAX} invitations an hour.`, HOUR_MS);
    const own = await tx.invitation.count({ where: { created_by: userId, ...within(HOUR_MS) } });
    if (own >= PER_HOUR_MAX)
      throw tooMany(`A person sends at most ${PER_HOUR_MAX} invitations an hour.`, HOUR_MS);
    const received = await tx.invitation.count({ where: { email, ...within(DAY_MS) } });
    if (received >= PER_ADDRESS_MAX)
      throw tooMany(`An address is sent at most ${PER_ADDRESS_MAX} invitations a day.`, DAY_MS);
  }

  private async account(orgId: string): Promise<string> {
    const account = await orgAccount(this.database.prisma, orgId);
    if (account === null) throw new ApiError('not_found');
    return account;
  }
}

/** Lets one invitation to an address, and one by a person, be counted at a time: those of other organizations are at work too. */
async function inTurn(tx: Tx, email: string, userId: string): Promise<void> {
  for (const name of [email, userId])
    await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtext('keys.invitation'), hashtext(${name}))`;
}

function tooMany(message: string, waitMs: number): ApiError {
  return new ApiError('rate_limit_exceeded', { message, retryAfterSeconds: waitMs / 1_000 });
}

/** Returns a name as a line without a link: earlier releases took any text. */
function asName(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').replaceAll(/\S*(?::\/\/|www\.)\S*/giu, '…');
}

function invitationAudit(action: string, { id, org_id }: InvitationRow, changedFields: readonly string[]) {
  return { action, targetType: 'invitation', targetId: id, orgId: org_id, changedFields };
}

function invitationMail(to: string, org: string, from: string, link: string) {
  const name = asName(org);
  const subject = `You are invited to ${name.slice(0, 100)}`;
  const text = [
    `${from} invites you to join ${name} on Model Gateway.`,
    '',
    'Accept within 7 days:',
    link,
    '',
    'The link works once. If you do not know the sender, ignore this mail.',
  ].join('\n');
  return { to, subject, text };
}
