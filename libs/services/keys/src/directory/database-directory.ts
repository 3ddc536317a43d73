import { Injectable } from '@nestjs/common';
import {
  Directory,
  type AuditedAction,
  type ContentPromise,
  type NamedIds,
  type Payer,
} from '@gateway/contracts';
import { bumpAccount } from '../accounts/account.store.js';
import { promisesOf } from '../orgs/org.store.js';
import { KeysDatabase } from '../postgres/keys-database.js';

/** Names and accounts, from the database. */
@Injectable()
export class DatabaseDirectory extends Directory {
  constructor(private readonly database: KeysDatabase) {
    super();
  }

  override async names(accountId: string, ids: Parameters<Directory['names']>[1]): Promise<NamedIds> {
    const { prisma } = this.database;
    const of = (asked: readonly string[]) => ({ id: { in: [...asked] } });
    // People are shown where a key of the account was theirs: that is how their ids came into its usage.
    const [keys, users, teams] = await Promise.all([
      prisma.apiKey.findMany({
        where: { ...of(ids.keys), account_id: accountId },
        select: { id: true, label: true },
      }),
      prisma.user.findMany({
        where: { ...of(ids.users), keys: { some: { account_id: accountId } } },
        select: { id: true, name: true, email: true },
      }),
      prisma.team.findMany({
        where: { ...of(ids.teams), org: { account: { id: accountId } } },
        select: { id: true, name: true },
      }),
    ]);
    return {
      keys: Object.fromEntries(keys.map(({ id, label }) => [id, label])),
      users: Object.fromEntries(users.map(({ id, name, email }) => [id, name || email])),
      teams: Object.fromEntries(teams.map(({ id, name }) => [id, name])),
    };
  }

  override async teamsOf(orgId: string, userId: string): Promise<string[]> {
    const rows = await this.database.prisma.teamMember.findMany({
      where: { user_id: userId, removed_at: null, team: { org_id: orgId } },
      select: { team_id: true },
    });
    return rows.map(({ team_id }) => team_id);
  }

  override async payer(id: string): Promise<Payer | null> {
    const row = await this.database.prisma.account.findFirst({
      where: { OR: [{ id }, { org_id: id }, { user_id: id }] },
      select: { id: true, org_id: true, org: { select: { deleted_at: true } } },
    });
    if (row === null) return null;
    const isClosed = row.org?.deleted_at != null;
    return { accountId: row.id, orgId: row.org_id, ...(isClosed && { isClosed }) };
  }

  override async ownerEmails(orgId: string): Promise<string[]> {
    const rows = await this.database.prisma.membership.findMany({
      where: { org_id: orgId, role: 'owner', removed_at: null, user: { disabled_at: null } },
      select: { user: { select: { email: true } } },
    });
    return rows.map(({ user }) => user.email);
  }

  override async audit({ created_at, ...action }: AuditedAction): Promise<void> {
    const data = { ...action, created_at: new Date(created_at) };
    await this.database.prisma.auditLog.createMany({ data, skipDuplicates: true });
  }

  /** Returns the promises of deleted organizations too: their logs go when they were promised to go. */
  override async contentPromises(orgIds: readonly string[]): Promise<Record<string, ContentPromise[]>> {
    const rows = await this.database.prisma.org.findMany({
      where: { id: { in: [...orgIds] } },
      select: { id: true, request_logging_days: true, request_logging_past: true },
    });
    return Object.fromEntries(
      rows.map((row) => [row.id, [...promisesOf(row), { until: null, days: row.request_logging_days }]]),
    );
  }

  override async forget(accountId: string, endUserHash: string): Promise<void> {
    await this.database.transaction(async (tx) => {
      await tx.memory.deleteMany({ where: { account_id: accountId, end_user_hash: endUserHash } });
      const org = { account: { id: accountId } };
      const budgets = { org, scope: 'end_user', scope_id: endUserHash };
      const { count } = await tx.budget.deleteMany({ where: budgets });
      // The version is stamped by the relay.
      if (count > 0) await bumpAccount(tx, accountId);
    });
  }
}
