import { Inject, Injectable } from '@nestjs/common';
import { ApiError, newId, type Clock, type OrgRole, type Random } from '@gateway/contracts';
import { auditRow } from '@gateway/database';
import { CLOCK, RANDOM } from '@gateway/platform';
import type { FastifyRequest } from 'fastify';
import { AccountChanges, type Changed } from '../accounts/account-change.js';
import { createAccount } from '../accounts/account.store.js';
import { KeysConfig } from '../keys.config.js';
import { addMember, asRole, findMember, orgAccount, removeMember } from '../members/member.store.js';
import { KeysDatabase, type Tx } from '../postgres/keys-database.js';
import { SessionsService, type Signed } from '../sessions/sessions.service.js';
import { USER_FIELDS, type SessionUser } from '../sessions/session.store.js';
import { isLast, lockHolders } from '../super-admins/super-admins.service.js';
import { grantsOf, type GroupGrants } from './group-roles.js';
import type { Vouched } from './identity-provider.js';

const PERSON_FIELDS = {
  ...USER_FIELDS,
  disabled_at: true,
  is_super_admin: true,
  super_admin_source: true,
  account: { select: { id: true } },
} as const;

interface Person extends SessionUser {
  disabled_at: Date | null;
  is_super_admin: boolean;
  super_admin_source: string | null;
  account: { id: string } | null;
}

/** Logs in whom the identity provider vouches for, and gives them what their groups say: no more, and no longer. */
@Injectable()
export class OidcLoginService {
  private readonly sources: { clock: Clock; random: Random };

  constructor(
    private readonly database: KeysDatabase,
    private readonly changes: AccountChanges,
    private readonly sessions: SessionsService,
    private readonly config: KeysConfig,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) random: Random,
  ) {
    this.sources = { clock, random };
  }

  /** Throws ApiError `forbidden` for who may not come in. Repeated after a crash it ends the same. */
  async login(vouched: Vouched, request: FastifyRequest): Promise<Signed> {
    const grants = grantsOf(vouched.groups, this.config.OIDC_GROUP_ROLES);
    const person = await this.person(vouched, grants, request);
    if (person.disabled_at !== null) throw new ApiError('forbidden', { message: 'This person is disabled.' });
    await this.grant(person, grants, request);
    return this.sessions.sign(
      await this.database.transaction((tx) => this.sessions.begin(tx, person, request)),
    );
  }

  private async person(vouched: Vouched, grants: GroupGrants, request: FastifyRequest): Promise<Person> {
    const { issuer, subject } = vouched;
    const { prisma } = this.database;
    const known = await prisma.identity.findUnique({
      where: { issuer_subject: { issuer, subject } },
      select: { user: { select: PERSON_FIELDS } },
    });
    if (known !== null) return known.user;
    return this.database.transaction(async (tx) => {
      // Two first logins with one address at once make one person.
      await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtext('keys.identity'), hashtext(${vouched.email ?? ''}))`;
      const user = await this.link(tx, vouched, grants);
      const now = new Date(this.clock.now());
      await tx.identity.createMany({
        data: [{ issuer, subject, user_id: user.id, created_at: now }],
        skipDuplicates: true,
      });
      const target = { targetType: 'user', targetId: user.id, orgId: null, personId: user.id };
      const write = { action: 'identity.link', ...target, changedFields: ['identity'] };
      await tx.auditLog.create({ data: auditRow(request, write, this.sources) });
      return user;
    });
  }

  /**
   * An address that the provider has not verified could be anybody's: it opens no person, and makes none whom its owner
   * would meet later. A person has one subject at an issuer, because addresses are given to somebody else in time.
   */
  private async link(
    tx: Tx,
    { issuer, subject, email, isEmailVerified, name }: Vouched,
    grants: GroupGrants,
  ): Promise<Person> {
    if (email === null) throw refused('The identity provider sends no email address.');
    if (!isEmailVerified) throw refused('The identity provider has not verified this email address.');
    const known = await tx.user.findUnique({ where: { email }, select: PERSON_FIELDS });
    if (known !== null) {
      const others = await tx.identity.count({
        where: { user_id: known.id, issuer, subject: { not: subject } },
      });
      if (others > 0) throw refused('Somebody else logs in with this email address.');
      return known;
    }
    const isWanted =
      this.config.OIDC_GROUP_ROLES === undefined || grants.isSuperAdmin || grants.orgs.size > 0;
    if (!isWanted) throw refused('None of your groups has access.');
    const id = newId('usr', this.sources.clock, this.sources.random);
    const created_at = new Date(this.clock.now());
    await tx.user.create({ data: { id, email, name: name ?? email, created_at } });
    await createAccount(tx, { userId: id }, this.sources);
    return tx.user.findUniqueOrThrow({ where: { id }, select: PERSON_FIELDS });
  }

  private async grant(person: Person, grants: GroupGrants, request: FastifyRequest): Promise<void> {
    const given = await this.database.prisma.membership.findMany({
      where: { user_id: person.id, source: 'oidc', removed_at: null },
      select: { org_id: true },
    });
    const orgIds = new Set([...grants.orgs.keys(), ...given.map(({ org_id }) => org_id)]);
    for (const orgId of orgIds) await this.member(person, orgId, grants.orgs.get(orgId) ?? null, request);
    await this.platformRole(person, grants.isSuperAdmin, request);
  }

  /** `role` null = no group gives one any more. What a person decided by hand stays as it is. */
  private async member(
    person: Person,
    orgId: string,
    role: OrgRole | null,
    request: FastifyRequest,
  ): Promise<void> {
    const account_id = await orgAccount(this.database.prisma, orgId);
    if (account_id === null || person.account === null) return;
    await this.changes.run(request, {
      accounts: [account_id, person.account.id],
      make: async (tx): Promise<Changed<null>> => {
        const current = await findMember(tx, orgId, person.id);
        if (current !== null && (current.source !== 'oidc' || current.role === role)) return UNCHANGED;
        if (current === null && role === null) return UNCHANGED;
        const now = new Date(this.clock.now());
        const target = { targetType: 'member', targetId: person.id, orgId, personId: person.id };
        const event = (type: 'member.added' | 'member.removed', given: OrgRole) =>
          ({ type, account_id, org_id: orgId, data: { user_id: person.id, role: given } }) as const;
        if (role === null) {
          await removeMember(tx, orgId, person.id, now);
          const audit = { action: 'member.remove', ...target, changedFields: ['removed_at'] };
          return { answer: null, audit, events: [event('member.removed', asRole(current?.role ?? ''))] };
        }
        const audit = { action: current === null ? 'member.add' : 'member.update', ...target };
        await addMember(tx, { orgId, userId: person.id, role }, now, 'oidc');
        const events = current === null ? [event('member.added', role)] : [];
        return { answer: null, audit: { ...audit, changedFields: ['role'] }, events };
      },
    });
  }

  /** Gives or revokes the platform role; it is revoked only where a group gave it. */
  private async platformRole(person: Person, isWanted: boolean, request: FastifyRequest): Promise<void> {
    const isTakenBack = !isWanted && person.super_admin_source === 'oidc';
    if (person.account === null || !(isWanted ? !person.is_super_admin : isTakenBack)) return;
    const granted = { super_admin_at: new Date(this.clock.now()), super_admin_source: 'oidc' };
    const data = isWanted
      ? { is_super_admin: true, ...granted }
      : { is_super_admin: false, super_admin_at: null, super_admin_source: null };
    await this.changes.run(request, {
      accounts: [person.account.id],
      make: async (tx): Promise<Changed<null>> => {
        await lockHolders(tx);
        // The last one stays, whatever the groups say: nobody could let anybody in again.
        if (!isWanted && (await isLast(tx))) return UNCHANGED;
        // Behind the lock: granted or revoked by hand meanwhile, it is no longer ours to change.
        const where = isWanted ? { is_super_admin: false } : { super_admin_source: 'oidc' };
        const { count } = await tx.user.updateMany({ where: { id: person.id, ...where }, data });
        if (count === 0) return UNCHANGED;
        const target = { targetType: 'user', targetId: person.id, orgId: null, personId: person.id };
        const action = isWanted ? 'super_admin.grant' : 'super_admin.revoke';
        return { answer: null, audit: { action, ...target, changedFields: ['is_super_admin'] } };
      },
    });
  }
}

const UNCHANGED: Changed<null> = { answer: null, audit: null };

function refused(message: string): ApiError {
  return new ApiError('forbidden', { message });
}
