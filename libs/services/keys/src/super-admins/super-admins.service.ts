import { Inject, Injectable } from '@nestjs/common';
import {
  ApiError,
  type Clock,
  type GrantSuperAdminBody,
  type SuperAdminRecord,
  type CreateAnswer,
} from '@gateway/contracts';
import { CLOCK, refuseFaults } from '@gateway/platform';
import type { FastifyRequest } from 'fastify';
import { AccountChanges, type Changed } from '../accounts/account-change.js';
import { KeysDatabase, type Tx } from '../postgres/keys-database.js';

/** More people than this hold the platform's role nowhere. */
const HOLDERS_MAX = 200;
const FIELDS = { id: true, email: true, created_at: true, super_admin_at: true, account: true } as const;

interface Holder {
  id: string;
  email: string;
  created_at: Date;
  super_admin_at: Date | null;
}

const LAST_ONE = 'This person is the last super admin: make another person a super admin first.';

/** Holders of the platform's own role. There is always at least one. */
@Injectable()
export class SuperAdminsService {
  constructor(
    private readonly database: KeysDatabase,
    private readonly changes: AccountChanges,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async list(): Promise<SuperAdminRecord[]> {
    const rows = await this.database.prisma.user.findMany({
      where: { is_super_admin: true },
      select: FIELDS,
      orderBy: { id: 'asc' },
      take: HOLDERS_MAX,
    });
    return rows.map(toWire);
  }

  /** Throws ApiError `unprocessable_entity` for a person who is not known, `conflict` for one who holds it already. */
  async grant(body: GrantSuperAdminBody, request: FastifyRequest): Promise<CreateAnswer<SuperAdminRecord>> {
    const person = await this.person(body);
    return this.changes.create(request, {
      accounts: [person.accountId],
      make: async (tx) => {
        await lockHolders(tx);
        const current = await tx.user.findUniqueOrThrow({ where: { id: person.id } });
        if (current.is_super_admin)
          throw new ApiError('conflict', { message: 'This person is a super admin already.' });
        if ((await tx.user.count({ where: { is_super_admin: true } })) >= HOLDERS_MAX)
          throw new ApiError('conflict', { message: `There are at most ${HOLDERS_MAX} super admins.` });
        const granted = { super_admin_at: new Date(this.clock.now()), super_admin_source: null };
        const data = { is_super_admin: true, ...granted };
        const row = await tx.user.update({ where: { id: person.id }, data, select: FIELDS });
        const answer = { status: 201, body: { ...toWire(row) } };
        return { answer, audit: roleAudit('super_admin.grant', person.id) };
      },
    });
  }

  /** Throws ApiError `not_found` for who is none, `conflict` for the last one. */
  async revoke(userId: string, request: FastifyRequest): Promise<void> {
    const where = { id: userId, is_super_admin: true };
    const person = await this.database.prisma.user.findFirst({ where, select: FIELDS });
    if (person === null) throw new ApiError('not_found');
    await this.changes.run(request, {
      accounts: [person.account?.id ?? ''],
      make: async (tx): Promise<Changed<null>> => {
        await lockHolders(tx);
        if ((await tx.user.count({ where })) === 0) throw new ApiError('not_found');
        if (await isLast(tx)) throw new ApiError('conflict', { message: LAST_ONE });
        const data = { is_super_admin: false, super_admin_at: null, super_admin_source: null };
        await tx.user.update({ where: { id: userId }, data });
        return { answer: null, audit: roleAudit('super_admin.revoke', userId) };
      },
    });
  }

  private async person({ user_id, email }: GrantSuperAdminBody): Promise<{ id: string; accountId: string }> {
    const person = await this.database.prisma.user.findFirst({
      where: { id: user_id, email: email?.toLowerCase(), disabled_at: null },
      select: FIELDS,
    });
    if (person?.account == null) {
      const loc = [user_id === undefined ? 'email' : 'user_id'];
      refuseFaults('unprocessable_entity', [
        { type: 'unknown_reference', loc, msg: 'There is no such person.' },
      ]);
      throw new ApiError('unprocessable_entity');
    }
    return { id: person.id, accountId: person.account.id };
  }
}

/** Returns true, behind `lockHolders`, where nobody else could run the platform. */
export async function isLast(tx: Tx): Promise<boolean> {
  return (await tx.user.count({ where: { is_super_admin: true, disabled_at: null } })) === 1;
}

/** Two who are the last two must not both go. */
export async function lockHolders(tx: Tx): Promise<void> {
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtext('keys.super_admins'))`;
}

function toWire({ id, email, created_at, super_admin_at }: Holder): SuperAdminRecord {
  return { user_id: id, email, granted_at: (super_admin_at ?? created_at).toISOString() };
}

function roleAudit(action: string, userId: string) {
  return {
    action,
    targetType: 'user',
    targetId: userId,
    orgId: null,
    changedFields: ['is_super_admin'],
  };
}
