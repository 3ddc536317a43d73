import { Inject, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import {
  ApiError,
  CatalogueNames,
  type Clock,
  type CursorPage,
  type ListMembersQuery,
  type MemberRecord,
  type OrgRole,
  type SessionPrincipal,
  type UpdateMemberBody,
} from '@gateway/contracts';
import { CLOCK, refuseFaults, sentFields } from '@gateway/platform';
import { AccountChanges, type Changed } from '../accounts/account-change.js';
import { limitColumns, limitFaults, tierOf } from '../accounts/scope-limits.js';
import { changedValues } from '../audit/changed-values.js';
import { refuseUnlisted } from '../names/unknown-names.js';
import { KeysDatabase, type Tx } from '../postgres/keys-database.js';
import {
  asRole,
  findMember,
  listMembers,
  orgAccount,
  refuseOneMoreOwned,
  removeMember,
  roleOf,
  teamsOf,
  toWire,
  type MemberRow,
} from './member.store.js';

@Injectable()
export class MembersService {
  constructor(
    private readonly database: KeysDatabase,
    private readonly changes: AccountChanges,
    private readonly names: CatalogueNames,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async list(orgId: string, query: ListMembersQuery): Promise<CursorPage<MemberRecord>> {
    const { prisma } = this.database;
    const page = await listMembers(prisma, orgId, query);
    const ids = page.data.map(({ user_id }) => user_id);
    const teams = await teamsOf(prisma, orgId, ids);
    return { ...page, data: page.data.map((row) => toWire(row, teams.get(row.user_id) ?? [])) };
  }

  async read(orgId: string, userId: string): Promise<MemberRecord> {
    return this.record(this.database.prisma, orgId, await this.existing(this.database.prisma, orgId, userId));
  }

  /**
   * `role: owner` hands the organization on. Throws ApiError `not_found`, `conflict` for a change of the owner's own role,
   * `forbidden` for an admin who hands it on, `validation_error`.
   */
  async update(
    caller: SessionPrincipal,
    { orgId, userId }: { orgId: string; userId: string },
    body: UpdateMemberBody,
    request: FastifyRequest,
  ): Promise<MemberRecord> {
    const accounts = await this.accountsOf(orgId, userId);
    if (body.role === 'owner') accounts.add(caller.accountId);
    const stored = (): Promise<MemberRow> => this.existing(this.database.prisma, orgId, userId);
    await refuseUnlisted(this.names, body, stored, orgId);
    return this.changes.run(request, {
      accounts: [...accounts],
      make: async (tx) => {
        const member = await this.existing(tx, orgId, userId);
        await refuseLimits(tx, orgId, body);
        const current = asRole(member.role);
        const next = body.role ?? current;
        refuseRoleChange({ actor: await this.actorRole(tx, orgId, caller.userId), current, next });
        const isHandedOn = next === 'owner' && current !== 'owner';
        if (isHandedOn) await this.handOn(tx, orgId, caller.userId, userId);
        return this.write(tx, member, body, isHandedOn ? 'org.transfer' : 'member.update');
      },
    });
  }

  /** Removes a member, or lets one leave. Their keys stay and go on counting against them. */
  async remove(
    caller: SessionPrincipal,
    { orgId, userId }: { orgId: string; userId: string },
    request: FastifyRequest,
  ): Promise<void> {
    const accounts = await this.accountsOf(orgId, userId);
    await this.changes.run(request, {
      accounts: [...accounts],
      make: async (tx): Promise<Changed<null>> => {
        const member = await this.existing(tx, orgId, userId);
        const role = asRole(member.role);
        if (role === 'owner') throw soleOwner();
        if (caller.userId !== userId) await this.actorRole(tx, orgId, caller.userId);
        await removeMember(tx, orgId, userId, new Date(this.clock.now()));
        const data = { user_id: userId, role };
        const account_id = (await orgAccount(tx, orgId)) ?? '';
        return {
          answer: null,
          audit: memberAudit('member.remove', orgId, userId, ['removed_at']),
          events: [{ type: 'member.removed', account_id, org_id: orgId, data }],
        };
      },
    });
  }

  private async write(
    tx: Tx,
    member: MemberRow,
    body: UpdateMemberBody,
    action: string,
  ): Promise<Changed<MemberRecord>> {
    const { org_id, user_id } = member;
    const changedFields = sentFields(body).filter((name) => name !== 'role' || body.role !== member.role);
    if (changedFields.length === 0) return { answer: await this.record(tx, org_id, member), audit: null };
    await tx.membership.update({
      where: { org_id_user_id: { org_id, user_id } },
      // What a person decided the identity provider does not take back.
      data: {
        ...limitColumns(body),
        role: body.role,
        ...(body.role === undefined ? {} : { source: 'direct' }),
      },
    });
    const updated = await this.existing(tx, org_id, user_id);
    const answer = await this.record(tx, org_id, updated);
    const audit = memberAudit(action, org_id, user_id, changedFields);
    return { answer, audit, values: changedValues(member, updated) };
  }

  private async handOn(tx: Tx, orgId: string, from: string, to: string): Promise<void> {
    await refuseOneMoreOwned(tx, to);
    // First: there is one owner at any time, and the database holds to it.
    await tx.membership.update({
      where: { org_id_user_id: { org_id: orgId, user_id: from } },
      data: { role: 'admin', source: 'direct' },
    });
  }

  /** Returns the role behind the lock: the session's may be outdated. Throws ApiError `forbidden`. */
  private async actorRole(tx: Tx, orgId: string, userId: string): Promise<'owner' | 'admin'> {
    const role = await roleOf(tx, orgId, userId);
    if (role === 'owner' || role === 'admin') return role;
    throw new ApiError('forbidden');
  }

  private async existing(tx: Tx, orgId: string, userId: string): Promise<MemberRow> {
    const row = await findMember(tx, orgId, userId);
    if (row === null) throw new ApiError('not_found');
    return row;
  }

  private async accountsOf(orgId: string, userId: string): Promise<Set<string>> {
    const { prisma } = this.database;
    const member = await this.existing(prisma, orgId, userId);
    const account = await orgAccount(prisma, orgId);
    const person = member.user.account;
    if (account === null || person === null) throw new ApiError('not_found');
    return new Set([account, person.id]);
  }

  private async record(tx: Tx, orgId: string, row: MemberRow): Promise<MemberRecord> {
    return toWire(row, (await teamsOf(tx, orgId, [row.user_id])).get(row.user_id) ?? []);
  }
}

/** Throws ApiError `validation_error` above the ceilings of the organization's tier. */
async function refuseLimits(tx: Tx, orgId: string, body: UpdateMemberBody): Promise<void> {
  const { tier } = await tx.org.findUniqueOrThrow({ where: { id: orgId }, select: { tier: true } });
  refuseFaults('validation_error', limitFaults(tierOf(tier), body));
}

function memberAudit(action: string, orgId: string, userId: string, changedFields: readonly string[]) {
  return { action, targetType: 'member', targetId: userId, orgId, changedFields };
}

/**
 * Judges a change of roles. Throws ApiError `conflict` for the owner, who can only hand the organization on, `forbidden`
 * where somebody else than the owner hands it on.
 */
function refuseRoleChange({
  actor,
  current,
  next,
}: {
  actor: OrgRole;
  current: OrgRole;
  next: OrgRole;
}): void {
  if (current === next) return;
  if (current === 'owner') throw soleOwner();
  if (next === 'owner' && actor !== 'owner') {
    throw new ApiError('forbidden', {
      message: 'Only the owner hands the organization on.',
      param: 'role',
    });
  }
}

function soleOwner(): ApiError {
  return new ApiError('conflict', {
    message: 'An organization has exactly one owner: hand it on first, by making another member its owner.',
  });
}
