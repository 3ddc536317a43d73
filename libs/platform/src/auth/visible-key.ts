import { ApiError, type KeyPrincipal, type Principal, type PrincipalReader } from '@gateway/contracts';

/**
 * The record of a key that the caller may look at: owners, admins and admin keys every key of their organization,
 * members their own, everybody their personal ones, a key itself. Throws ApiError `not_found` alike for all others,
 * known or not.
 */
export async function visibleKey(
  principals: PrincipalReader,
  caller: Principal,
  keyId: string,
): Promise<KeyPrincipal> {
  const key = await principals.keyById(keyId, accountsOf(caller));
  if (!reaches(caller, key)) throw new ApiError('not_found');
  return key;
}

function accountsOf(caller: Principal): string[] {
  const own = [caller.accountId];
  return caller.kind === 'session' ? [...own, ...caller.memberships.map(({ accountId }) => accountId)] : own;
}

function reaches(caller: Principal, key: KeyPrincipal): boolean {
  switch (caller.kind) {
    case 'key':
      return caller.keyId === key.keyId;
    case 'admin_key':
      return caller.orgId === key.orgId;
    case 'session': {
      const membership = caller.memberships.find(({ accountId }) => accountId === key.accountId);
      if (membership === undefined) return key.accountId === caller.accountId;
      return membership.role !== 'member' || key.createdBy === caller.userId;
    }
  }
}
