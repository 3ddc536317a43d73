import type { Credential, Principal } from '@gateway/contracts';

const STRINGS: Readonly<Record<Principal['kind'], readonly string[]>> = {
  key: ['keyId', 'status', 'accountId', 'createdBy', 'endUserKey'],
  session: ['userId', 'sessionId', 'accountId'],
  admin_key: ['keyId', 'orgId', 'accountId', 'createdBy'],
};
const ARRAYS: Readonly<Record<Principal['kind'], readonly string[]>> = {
  key: ['limits', 'access'],
  session: ['memberships'],
  admin_key: ['scopes'],
};

/** A principal as the keys service answers it. Throws where the answer cannot be one of this kind. */
export function parsePrincipal(value: unknown, kind: Credential['kind']): Principal {
  if (!isPrincipal(value, kind)) throw new Error('The keys service answered no principal.');
  return value;
}

function isPrincipal(value: unknown, kind: Credential['kind']): value is Principal {
  if (typeof value !== 'object' || value === null) return false;
  const record = value as Readonly<Record<string, unknown>>;
  return (
    record.kind === kind &&
    typeof record.accountVersion === 'number' &&
    STRINGS[kind].every((name) => typeof record[name] === 'string') &&
    ARRAYS[kind].every((name) => Array.isArray(record[name]))
  );
}
