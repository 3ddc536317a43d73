import type { KeyPrincipal } from '@gateway/contracts';

/** A key that may do everything, of a personal account. */
export function probeKey(more: Partial<KeyPrincipal> = {}): KeyPrincipal {
  return {
    kind: 'key',
    keyId: 'key_1',
    label: null,
    status: 'active',
    accountId: 'acct_1',
    accountVersion: 1,
    creditLimitUsd: '0',
    orgId: null,
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
