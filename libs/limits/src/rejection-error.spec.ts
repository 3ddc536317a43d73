import { errorEnvelope, errorHeaders, messagesErrorEnvelope } from '@gateway/contracts';
import type { Random, LimitRejection } from '@gateway/contracts';
import { rejectionError } from './rejection-error.js';

const REJECTION: LimitRejection = {
  scope: 'key',
  scopeId: 'k1',
  metric: 'rpm',
  counter: null,
  current: '100',
  limit: '100',
  resetsInSeconds: 37,
  reservationsOnly: false,
  held: null,
};

/** Rejection by the key's cap of 1 USD, of which 0.31 are spent and 0.7 held. */
const CAPPED: LimitRejection = {
  ...REJECTION,
  metric: 'spend_cap',
  current: '1010000000',
  limit: '1000000000',
  resetsInSeconds: null,
  reservationsOnly: true,
  held: { scope: '700000000', account: '700000000', batch: '0', video: '0', realtime: '0' },
};

const BALANCE: LimitRejection = {
  ...CAPPED,
  scope: 'account',
  scopeId: 'acct_1',
  metric: 'balance',
  current: '-500000000',
  limit: '-250000000',
};

const ORG = { orgId: 'org_1' };

function random(fraction: number): Random {
  return { bytes: (size) => new Uint8Array(size), fraction: () => fraction };
}

describe('rejectionError', () => {
  it('402 of a budget names it, the end of its period and its id, and is not worth a retry', () => {
    const budget = {
      ...{ id: 'bud_1', name: 'Autumn', scope: { kind: 'team' as const, id: 'team_1' } },
      endMs: Date.parse('2026-12-01T00:00:00Z'),
    };
    const of = { ...CAPPED, scope: 'team' as const, scopeId: 'team_1', counter: 'b:1-2', budget };
    const error = rejectionError({ ...of, reservationsOnly: false }, random(0), ORG);
    expect([error.status, error.code, errorHeaders(error)['x-should-retry']]).toEqual([
      402,
      'spend_limit_exceeded',
      'false',
    ]);
    expect(errorEnvelope(error, 'req_1').error).toMatchObject({ budget_id: 'bud_1' });
    expect(messagesErrorEnvelope(error, 'req_1').error).toMatchObject({ budget_id: 'bud_1' });
    expect(error.message).toBe(
      'Of the budget "Autumn" of 1 USD of the team, whose period ends at 2026-12-01T00:00:00.000Z, 0.69 USD are left; this request may cost more.',
    );
    const full = { ...of, current: '1710000000', reservationsOnly: false };
    expect(rejectionError(full, random(0), ORG).message).toBe(
      'The budget "Autumn" of 1 USD of the team, whose period ends at 2026-12-01T00:00:00.000Z, is reached: 1.01 USD are spent.',
    );
    const held = rejectionError(of, random(0), ORG);
    expect([errorHeaders(held), held.options.budgetId]).toEqual([
      { 'Retry-After': '1', 'x-should-retry': 'true' },
      'bud_1',
    ]);
    expect(errorEnvelope(rejectionError(CAPPED, random(0), ORG), 'req_1').error).not.toHaveProperty(
      'budget_id',
    );
  });

  it('ERR-43 LIM-20 429 rate_limit_exceeded with Retry-After between the reset and 5 s more, at random', () => {
    const after = (fraction: number) =>
      errorHeaders(rejectionError(REJECTION, random(fraction), ORG))['Retry-After'];
    expect([after(0), after(0.5), after(0.999_999)]).toEqual(['37', '39', '41']);
    const error = rejectionError(REJECTION, random(0), ORG);
    expect([error.status, error.code]).toEqual([429, 'rate_limit_exceeded']);
    expect(error.message).toBe('The limit of 100 requests per minute of the key is used up.');
  });

  it('ERR-43 a 429 whose reset is more than a minute away, which no SDK waits for, is not worth their retry', () => {
    const shouldRetry = (resetsInSeconds: number) =>
      errorHeaders(rejectionError({ ...REJECTION, metric: 'rpd', resetsInSeconds }, random(0), ORG))[
        'x-should-retry'
      ];
    expect([shouldRetry(60), shouldRetry(61), shouldRetry(48_271)]).toEqual(['true', 'false', 'false']);
  });

  it.each([
    ['rpd', 'member', 'requests per day of the organization member'],
    ['tpm', 'team', 'tokens per minute of the team'],
    ['rpm', 'team_member', 'requests per minute of the team member'],
  ] as const)('names metric and scope: %s of %s', (metric, scope, words) => {
    expect(rejectionError({ ...REJECTION, metric, scope }, random(0), ORG).message).toContain(words);
  });

  it('names the extra counter that refused', () => {
    const text = (counter: string) => rejectionError({ ...REJECTION, counter }, random(0), ORG).message;
    expect(text('free')).toContain('over all free models of the key');
    expect(text('m:acme/*')).toContain('for acme/* of the key');
  });

  it('one request is one, and the words are plain', () => {
    const error = rejectionError({ ...REJECTION, limit: '1' }, random(0), ORG);
    expect(error.message).toBe('The limit of 1 request per minute of the key is used up.');
  });

  it('ERR-16 402 spend_limit_exceeded at a cap: says what is spent, and asks SDKs not to retry', () => {
    const reached: LimitRejection = {
      ...CAPPED,
      scope: 'org',
      current: '1720000000',
      reservationsOnly: false,
    };
    const error = rejectionError(reached, random(0), ORG);
    expect([error.status, error.code]).toEqual([402, 'spend_limit_exceeded']);
    expect(error.message).toBe('The spend cap of 1 USD of the organization is reached: 1.02 USD are spent.');
    expect(errorHeaders(error)).toEqual({ 'x-should-retry': 'false' });
  });

  it.each([
    [ORG, 'The balance of the organization is used up: -0.05 USD are available.'],
    [
      { orgId: null },
      'This key belongs to no organization; its own balance is -0.05 USD. Add credit to it, or use a key of an organization.',
    ],
  ])('ERR-17 402 spend_limit_exceeded on an empty balance says whose it is: %j', (payer, message) => {
    const empty: LimitRejection = { ...BALANCE, current: '-1000000000', reservationsOnly: false };
    const error = rejectionError(empty, random(0), payer);
    expect([error.status, error.code, error.message]).toEqual([402, 'spend_limit_exceeded', message]);
    expect(errorHeaders(error)).toEqual({ 'x-should-retry': 'false' });
  });

  it.each([
    [
      CAPPED,
      'Of the spend cap of 1 USD of the key 0.31 USD are spent. Up to 0.7 USD are held by running requests. ',
    ],
    [BALANCE, 'The balance of the organization is 0.45 USD. Up to 0.7 USD are held by running requests. '],
  ])(
    'R1 402 by running requests alone says what they hold, and is worth a retry: %j',
    (rejection, message) => {
      const error = rejectionError(rejection, random(0.9), ORG);
      expect(error.message).toBe(
        `${message}Send the request again when they have ended, or set a lower max_tokens.`,
      );
      expect(errorHeaders(error)).toEqual({ 'Retry-After': '1', 'x-should-retry': 'true' });
    },
  );

  it('402 by what batches and videos hold is no reason to come back in a second', () => {
    const held = {
      scope: '700000000',
      account: '900000000',
      batch: '600000000',
      video: '250000000',
      realtime: '0',
    };
    const error = rejectionError({ ...BALANCE, held: { ...held, scope: held.account } }, random(0), ORG);
    expect(error.message).toBe(
      'The balance of the organization is 0.65 USD. Up to 0.9 USD are held by running requests, batches and videos. They may take hours; raise the limit or add credit to go on at once.',
    );
    expect(errorHeaders(error)).toEqual({ 'x-should-retry': 'false' });
    // Of a key in such an account nobody knows more than what the running requests cannot hold.
    expect(errorHeaders(rejectionError({ ...CAPPED, held }, random(0), ORG))['x-should-retry']).toBe('true');
  });

  it('402 of a request that does not fit with its memory says what is left', () => {
    const left: LimitRejection = { ...CAPPED, current: '900000000', reservationsOnly: false, held: null };
    expect(rejectionError(left, random(0), ORG).message).toBe(
      'Of the spend cap of 1 USD of the key 0.1 USD are left; this request may cost more.',
    );
  });
});
