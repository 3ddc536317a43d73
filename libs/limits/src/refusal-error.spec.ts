import { errorHeaders } from '@gateway/contracts';
import type { Random, Refusal } from '@gateway/contracts';
import { refusalError } from './refusal-error.js';

const REFUSAL: Refusal = {
  scope: 'key',
  scopeId: 'k1',
  metric: 'rpm',
  counter: null,
  current: '100',
  limit: '100',
  resetsInSeconds: 37,
  reservationsOnly: false,
};

function random(fraction: number): Random {
  return { bytes: (size) => new Uint8Array(size), fraction: () => fraction };
}

describe('refusalError', () => {
  it('ERR-43 LIM-20 429 rate_limit_exceeded with Retry-After between the reset and 5 s more, at random', () => {
    const after = (fraction: number) => errorHeaders(refusalError(REFUSAL, random(fraction)))['Retry-After'];
    expect([after(0), after(0.5), after(0.999_999)]).toEqual(['37', '39', '41']);
    const error = refusalError(REFUSAL, random(0));
    expect([error.status, error.code]).toEqual([429, 'rate_limit_exceeded']);
    expect(error.message).toBe('The limit of 100 requests per minute (rpm) of the key is used up.');
  });

  it('ERR-43 a 429 whose reset is more than a minute away, which no SDK waits for, is not worth their retry', () => {
    const shouldRetry = (resetsInSeconds: number) =>
      errorHeaders(refusalError({ ...REFUSAL, metric: 'rpd', resetsInSeconds }, random(0)))['x-should-retry'];
    expect([shouldRetry(60), shouldRetry(61), shouldRetry(48_271)]).toEqual(['true', 'false', 'false']);
  });

  it.each([
    ['rpd', 'member', 'requests per day (rpd) of the organization member'],
    ['tpm', 'team', 'tokens per minute (tpm) of the team'],
    ['rpm', 'team_member', 'requests per minute (rpm) of the team member'],
  ] as const)('names metric and scope: %s of %s', (metric, scope, words) => {
    expect(refusalError({ ...REFUSAL, metric, scope }, random(0)).message).toContain(words);
  });

  it('names the extra counter that refused', () => {
    const text = (counter: string) => refusalError({ ...REFUSAL, counter }, random(0)).message;
    expect(text('free')).toContain('over all free models of the key');
    expect(text('m:acme/*')).toContain('for acme/* of the key');
  });

  it('ERR-16 402 spend_limit_exceeded at a cap: names cap and scope, and asks SDKs not to retry', () => {
    const error = refusalError(
      { ...REFUSAL, metric: 'spend_cap', scope: 'org', limit: '1500000000', resetsInSeconds: null },
      random(0),
    );
    expect([error.status, error.code]).toEqual([402, 'spend_limit_exceeded']);
    expect(error.message).toBe('The spend cap of 1.5 USD of the organization is reached (spend_cap).');
    expect(errorHeaders(error)).toEqual({ 'x-should-retry': 'false' });
  });

  it('ERR-17 402 spend_limit_exceeded on an empty balance', () => {
    const error = refusalError(
      { ...REFUSAL, metric: 'balance', scope: 'account', resetsInSeconds: null },
      random(0),
    );
    expect([error.status, error.code, error.message]).toEqual([
      402,
      'spend_limit_exceeded',
      'The balance of the account is insufficient (balance).',
    ]);
    expect(errorHeaders(error)).toEqual({ 'x-should-retry': 'false' });
  });

  it.each(['spend_cap', 'balance'] as const)(
    '402 by reservations alone (%s) is worth a retry after a second',
    (metric) => {
      const error = refusalError(
        { ...REFUSAL, metric, reservationsOnly: true, resetsInSeconds: null },
        random(0.9),
      );
      expect(errorHeaders(error)).toEqual({ 'Retry-After': '1', 'x-should-retry': 'true' });
    },
  );
});
