import { bodyOfDraft, shareOf } from './alias-draft.js';

describe('an alias that is written', () => {
  it('is sent without rows that name no model, and without a description where it has none', () => {
    const targets = [
      { model: 'acme/fast', weight: '95' },
      { model: '', weight: '5' },
    ];
    expect(bodyOfDraft({ name: ' fast ', description: ' ', targets })).toEqual({
      name: 'fast',
      description: null,
      targets: [{ model: 'acme/fast', weight: 95 }],
    });
  });

  it.each([
    [95, [95, 5], '95%'],
    [1, [1, 1, 1], '33.3%'],
    [0, [0, 10], '0%'],
    [0, [0], null],
    [Number.NaN, [Number.NaN, 5], null],
  ])('shows the share of weight %d among %j as %p', (weight, weights, share) => {
    expect(shareOf(weight, weights)).toBe(share);
  });
});
