import { Inject, Injectable } from '@nestjs/common';
import {
  ApiError,
  newId,
  type Clock,
  type MemoriesRecord,
  type Principal,
  type PutMemoriesBody,
  type Random,
} from '@gateway/contracts';
import { CLOCK, RANDOM, type OrgRule } from '@gateway/platform';
import type { FastifyRequest } from 'fastify';
import { endUserHashOf } from '../accounts/end-user-hash.js';
import { AccountChanges } from '../accounts/account-change.js';
import { ledAccount } from '../accounts/led-account.js';
import { storedJson } from '../postgres/columns.js';
import { KeysDatabase } from '../postgres/keys-database.js';

type Item = MemoriesRecord['items'][number];

const END_USER_ID_MAX = 512;

/** Members see no end users of the organization. */
export const MEMORY_RULE: OrgRule = { roles: ['owner', 'admin'], own: true };

/** Memories of accounts on their end users, under an HMAC of the end user's id. */
@Injectable()
export class MemoriesService {
  constructor(
    private readonly database: KeysDatabase,
    private readonly changes: AccountChanges,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(RANDOM) private readonly random: Random,
  ) {}

  async read(caller: Principal, orgId: string | null, endUserId: string): Promise<MemoriesRecord> {
    const place = await this.placeOf(payerOf(caller, orgId).accountId, endUserId);
    const row = await this.database.prisma.memory.findUnique({ where: place.where });
    return { end_user_id: endUserId, items: row === null ? [] : storedJson<Item[]>(row.items) };
  }

  /** Replaces what was there. Read by each request anew, so no principal changes by it. */
  async put(
    caller: Principal,
    orgId: string | null,
    endUserId: string,
    { items: sent }: PutMemoriesBody,
    request: FastifyRequest,
  ): Promise<MemoriesRecord> {
    const payer = payerOf(caller, orgId);
    const { where, account_id, end_user_hash } = await this.placeOf(payer.accountId, endUserId);
    return this.changes.run(request, {
      accounts: [payer.accountId],
      keepsVersions: true,
      make: async (tx) => {
        const now = new Date(this.clock.now());
        const items = sent.map(({ text }) => ({
          id: newId('mem', this.clock, this.random),
          text,
          created_at: now.toISOString(),
        }));
        const data = { items, updated_at: now };
        await tx.memory.upsert({ where, create: { account_id, end_user_hash, ...data }, update: data });
        const audit = memoryAudit('memory.replace', end_user_hash, payer.orgId, ['items']);
        return { answer: { end_user_id: endUserId, items }, audit };
      },
    });
  }

  async clear(
    caller: Principal,
    orgId: string | null,
    endUserId: string,
    request: FastifyRequest,
  ): Promise<void> {
    const payer = payerOf(caller, orgId);
    const { account_id, end_user_hash } = await this.placeOf(payer.accountId, endUserId);
    await this.changes.run(request, {
      accounts: [payer.accountId],
      keepsVersions: true,
      make: async (tx) => {
        const { count } = await tx.memory.deleteMany({ where: { account_id, end_user_hash } });
        const audit = memoryAudit('memory.delete', end_user_hash, payer.orgId, []);
        return { answer: undefined, audit: count === 0 ? null : audit };
      },
    });
  }

  /** The row of an end user. The plain id is kept nowhere, as in usage data. */
  private async placeOf(accountId: string, endUserId: string) {
    if (endUserId.length > END_USER_ID_MAX) throw new ApiError('not_found');
    const end_user_hash = await endUserHashOf(this.database.prisma, accountId, endUserId);
    const place = { account_id: accountId, end_user_hash };
    return { ...place, where: { account_id_end_user_hash: place } };
  }
}

/** A key's own account; with a session that of the organization named, or the caller's own. */
function payerOf(caller: Principal, orgId: string | null): { accountId: string; orgId: string | null } {
  if (caller.kind === 'session') return ledAccount(caller, orgId, MEMORY_RULE);
  return { accountId: caller.accountId, orgId: caller.orgId };
}

function memoryAudit(action: string, targetId: string, orgId: string | null, changedFields: string[]) {
  return { action, targetType: 'memory', targetId, orgId, changedFields };
}
