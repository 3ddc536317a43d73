import type { Membership, SessionPrincipal } from '@gateway/contracts';
import { sessionPrincipal } from '@gateway/testing';
import { payerOf } from './view.js';

const orgs = ['org_1', 'org_2'].map((orgId): Membership => ({
  orgId,
  accountId: `acct_of_${orgId}`,
  role: 'owner',
  teams: [],
  limits: [],
}));
const inOrgs = (count: number): SessionPrincipal =>
  sessionPrincipal({ accountId: 'acct_own', memberships: orgs.slice(0, count) });

describe('whose money a session means', () => {
  it.each([
    ['its only organization', 1, undefined, 'acct_of_org_1'],
    ['the organization that it names', 2, 'org_2', 'acct_of_org_2'],
    ['its own account in no organization', 0, undefined, 'acct_own'],
    ['its own account by name', 1, 'personal', 'acct_own'],
  ])('READ-19 %s', (_what, count, orgId, accountId) => {
    expect(payerOf(inOrgs(count), orgId)).toBe(accountId);
  });

  it('READ-19 422 in several, where it names none', () => {
    expect(() => payerOf(inOrgs(2), undefined)).toThrow(
      expect.objectContaining({
        status: 422,
        message: 'You are in several organizations: org_id is required.',
      }),
    );
  });
});
