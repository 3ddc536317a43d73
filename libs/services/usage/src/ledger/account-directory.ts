import { ApiError, type CreditBody, type Directory, type SessionPrincipal } from '@gateway/contracts';
import type { LedgerStore } from './ledger.store.js';

export interface Payee {
  accountId: string;
  orgId: string | null;
}

/**
 * Finds the account that a credit goes to. The keys service owns organizations and people; this service knows the
 * caller's own and those that postings and credits have named, and asks for the others.
 */
export class AccountDirectory {
  constructor(
    private readonly ledger: LedgerStore,
    private readonly directory: () => Directory,
  ) {}

  /** Throws ApiError `validation_error` unless one id is given, `not_found` where it names no known account. */
  async payee(body: CreditBody, caller: SessionPrincipal): Promise<Payee> {
    const given = [body.account_id, body.org_id, body.user_id].filter((id) => id !== undefined);
    if (given.length !== 1) {
      const msg = 'Give exactly one of org_id, user_id and account_id.';
      throw new ApiError('validation_error', {
        message: msg,
        details: [{ type: 'one_of', loc: ['org_id'], msg }],
      });
    }
    if (body.account_id !== undefined) return { accountId: body.account_id, orgId: null };
    if (body.org_id !== undefined) return this.ofOrg(body.org_id, caller);
    if (body.user_id === caller.userId) return { accountId: caller.accountId, orgId: null };
    return this.ofOthers(body.user_id ?? '');
  }

  private async ofOrg(orgId: string, caller: SessionPrincipal): Promise<Payee> {
    const own = caller.memberships.find((membership) => membership.orgId === orgId);
    const accountId = own?.accountId ?? (await this.ledger.accountOfOrg(orgId));
    return accountId === null ? this.ofOthers(orgId) : { accountId, orgId };
  }

  private async ofOthers(id: string): Promise<Payee> {
    const payer = await this.directory().payer(id);
    if (payer === null) throw unknownPayee();
    return payer;
  }
}

function unknownPayee(): ApiError {
  return new ApiError('not_found', {
    message: 'There is no such organization or person.',
  });
}
