import type { KeyPrincipal, ModelAccess, ScopeKind, ScopeLimits, SessionPrincipal } from '@gateway/contracts';

/** A key of an organization that may do everything and has no limits. */
export function keyPrincipal(more: Partial<KeyPrincipal> = {}): KeyPrincipal {
  return {
    kind: 'key',
    keyId: 'key_1',
    label: null,
    status: 'active',
    accountId: 'acct_1',
    accountVersion: 1,
    creditLimitUsd: '0',
    orgId: 'org_1',
    teamId: null,
    createdBy: 'usr_1',
    apiVersion: null,
    defaultModel: null,
    permissions: null,
    limits: [],
    access: [],
    modelLimits: {},
    routingPolicy: null,
    fixedProvider: null,
    requestTags: {},
    expiresAtMs: null,
    endUserKey: 'AA==',
    ...more,
  };
}

/** A person without memberships. */
export function sessionPrincipal(more: Partial<SessionPrincipal> = {}): SessionPrincipal {
  return {
    kind: 'session',
    userId: 'usr_1',
    sessionId: 'ses_1',
    email: 'person@example.com',
    isSuperAdmin: false,
    accountId: 'acct_own',
    accountVersion: 1,
    memberships: [],
    ...more,
  };
}

/** Limits that somebody has set on one scope; what is not named is unlimited. */
export function scopeLimits(kind: ScopeKind, id: string, more: Partial<ScopeLimits> = {}): ScopeLimits {
  const unlimited = { rpm: null, rpd: null, tpm: null, spendCapUsd: null };
  return { kind, id, ...unlimited, isDefault: { rpm: false, rpd: false, tpm: false }, ...more };
}

/** Model lists of one scope. */
export function modelAccess(
  kind: ModelAccess['kind'],
  allowed: string[] | null,
  blocked: string[] | null,
): ModelAccess {
  return { kind, allowed, blocked };
}
