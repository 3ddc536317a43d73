import { Prisma } from '../generated/prisma/client.js';
import { changedValues } from './changed-values.js';

describe('the values of a change', () => {
  it('are those of the columns that differ, money and times as the API has them', () => {
    const until = new Date('2026-12-01T00:00:00Z');
    const before = { name: 'a', rpm_limit: 5, spend_cap_usd: new Prisma.Decimal('1.500'), raise_until: null };
    const after = { name: 'a', rpm_limit: null, spend_cap_usd: new Prisma.Decimal('20'), raise_until: until };
    expect(changedValues(before, after)).toEqual({
      rpm_limit: [5, null],
      spend_cap_usd: ['1.5', '20'],
      raise_until: [null, '2026-12-01T00:00:00.000Z'],
    });
    expect(changedValues(after, after)).toBeNull();
  });

  it('AUTH-06 are never those of a column that nobody has named, as a secret would be', () => {
    const before = { secret_hmac: 'a', masked_key: 'b', request_tags: { x: '1' }, password_hash: 'c' };
    const after = { secret_hmac: 'd', masked_key: 'e', request_tags: { x: '2' }, password_hash: 'f' };
    expect(changedValues(before, after)).toBeNull();
  });

  it('are left out where one is long', () => {
    const models = Array.from({ length: 200 }, (_, n) => `brand/model-${n}`);
    expect(changedValues({ allowed_models: null }, { allowed_models: models })).toBeNull();
    expect(changedValues({ allowed_models: null }, { allowed_models: ['a/b'] })).toEqual({
      allowed_models: [null, ['a/b']],
    });
  });
});
