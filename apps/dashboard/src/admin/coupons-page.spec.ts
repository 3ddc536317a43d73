import { bodyOfDraft } from './coupons-page.js';

describe('what the form of a coupon sends', () => {
  const draft = { code: ' WELCOME ', amount_usd: '5', max_redemptions: '', ends: '' };

  it('is nothing of what was left empty', () => {
    expect(bodyOfDraft(draft)).toEqual({ code: 'WELCOME', amount_usd: '5' });
  });

  it('lets it be redeemed on its last day', () => {
    expect(bodyOfDraft({ ...draft, ends: '2026-11-30' })).toMatchObject({
      expires_at: '2026-12-01T00:00:00.000Z',
    });
  });

  it('never is any number of redemptions where something else was typed', () => {
    expect(JSON.parse(JSON.stringify(bodyOfDraft({ ...draft, max_redemptions: '1,000' })))).toMatchObject({
      max_redemptions: '1,000',
    });
  });
});
