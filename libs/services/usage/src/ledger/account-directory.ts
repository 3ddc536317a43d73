import { Injectable } from '@nestjs/common';
import { ApiError, type CreditBody, Directory, type Payer, type SessionPrincipal } from '@gateway/contracts';

export interface Payee {
  accountId: string;
  orgId: string | null;
}

/** Finds the account that a credit goes to: the keys service owns organizations, people and their accounts, and is asked. */
@Injectable()
export class AccountDirectory {
  constructor(private readonly directory: Directory) {}

  /**
   * Throws ApiError `validation_error` unless one id is given, `not_found` where it names no account, or one of an
   * organization that was deleted: nobody could spend what it gets.
   */
  async payee({ account_id, org_id, user_id }: CreditBody, caller: SessionPrincipal): Promise<Payee> {
    const given = [account_id, org_id, user_id].filter((id) => id != null);
    if (given.length !== 1) {
      const msg = 'Give exactly one of org_id, user_id and account_id.';
      throw new ApiError('validation_error', {
        message: msg,
        details: [{ type: 'value_error', loc: ['org_id'], msg }],
      });
    }
    if (user_id === caller.userId) return { accountId: caller.accountId, orgId: null };
    const payer = await this.directory.payer(given[0]);
    if (payer === null || payer.isClosed === true || !isNamed(payer, { account_id, org_id }))
      throw unknownPayee();
    return { accountId: payer.accountId, orgId: payer.orgId };
  }
}

/** The directory takes any of an account's ids: one of another kind is a slip of the pen. */
function isNamed({ accountId, orgId }: Payer, { account_id, org_id }: Partial<CreditBody>): boolean {
  if (account_id != null) return accountId === account_id;
  return (org_id ?? null) === orgId;
}

function unknownPayee(): ApiError {
  return new ApiError('not_found', {
    message: 'There is no such organization, person or account.',
  });
}
