import type { KeyPrincipal } from '@gateway/contracts';
import { keyPrincipal, scopeLimits } from '@gateway/testing/plain';
import { unitScopes } from './admission.js';
import { admitRequest } from './admit-request.js';
import { keyScopeLimits } from './limit-rules.js';

function principal(change: Partial<KeyPrincipal> = {}): KeyPrincipal {
  return keyPrincipal({
    ...{ keyId: 'k1', accountVersion: 7, creditLimitUsd: '0.5', orgId: 'o1', createdBy: 'u1' },
    limits: [
      keyScopeLimits('k1', { rpm: null, rpd: 20, tpm: null, spendCapUsd: '1.25' }),
      scopeLimits('org', 'o1', { tpm: 500 }),
    ],
    ...change,
  });
}

const RESERVATION = { requestedAtMs: 0, nano: 10n, worstNano: 40n, tokens: 400 };
const PAID = { id: 'acme/one', isFree: false };

describe('admitRequest', () => {
  it('LIM-03 throttles tokens only where somebody set a number, and carries money in nano-USD', () => {
    expect(admitRequest(principal(), PAID, 'req_1/0', RESERVATION)).toEqual({
      accountId: 'acct_1',
      accountVersion: 7,
      unitId: 'req_1/0',
      scopes: [
        { kind: 'key', id: 'k1', rpm: 100, rpd: 20, tpm: null, capNano: 1_250_000_000n },
        { kind: 'org', id: 'o1', rpm: null, rpd: null, tpm: 500, capNano: null },
      ],
      extra: [],
      creditLimitNano: 500_000_000n,
      reservationNano: 10n,
      worstNano: 40n,
      tokenEstimate: 400,
      leaseMs: 90_000,
    });
    expect(
      admitRequest(principal({ creditLimitUsd: null }), PAID, 'u', RESERVATION).creditLimitNano,
    ).toBeNull();
  });

  it('LIM-10 LIM-11 counts a free model on the one free counter of the key: 20 a minute, 200 a day', () => {
    const request = admitRequest(principal(), { id: 'acme/gift', isFree: true }, 'u', {
      requestedAtMs: 0,
      nano: 0n,
      worstNano: 0n,
      tokens: 1,
    });
    expect(request.extra).toEqual([{ name: 'free', rpm: 20, rpd: 200, tpm: null }]);
    expect(unitScopes(request)).toEqual([
      { kind: 'key', id: 'k1' },
      { kind: 'org', id: 'o1' },
      { kind: 'key', id: 'k1/free' },
    ]);
  });

  it('takes the exact model limit before its brand’s, and a brand’s models share one counter', () => {
    const own = principal({
      modelLimits: { 'acme/*': { rpm: 5 }, 'acme/one': { rpd: 3, spend_cap_usd: '0.1' } },
    });
    const extra = (id: string) => admitRequest(own, { id, isFree: false }, 'u', RESERVATION).extra;
    expect(extra('acme/one')).toEqual([
      { name: 'm:acme/one', rpm: null, rpd: 3, tpm: null, capNano: 100_000_000n },
    ]);
    expect(extra('acme/two')).toEqual([{ name: 'm:acme/*', rpm: 5, rpd: null, tpm: null, capNano: null }]);
    expect(extra('other/one')).toEqual([]);
    expect(extra('acme')).toEqual([]);
  });

  it('gives every request of a principal the same array of scopes', () => {
    const same = principal();
    expect(admitRequest(same, PAID, 'a', RESERVATION).scopes).toBe(
      admitRequest(same, PAID, 'b', RESERVATION).scopes,
    );
  });
});
