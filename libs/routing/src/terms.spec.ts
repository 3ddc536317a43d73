import { discountOn } from './terms.js';

describe('discountOn', () => {
  const route = { model: 'acme/swift', provider: 'base' };

  it.each([
    [null, null, '10'],
    [['acme/*'], null, '10'],
    [['acme/swift'], ['base'], '10'],
    [['other/*'], null, null],
    [null, ['elsewhere'], null],
    [[], null, null],
  ])('MOD-25 covers models %j and providers %j: %s', (models, providers, expected) => {
    expect(discountOn(route, { pct: '10', models, providers })).toBe(expected);
  });

  it('MOD-23 is none for an account without one', () => {
    expect([discountOn(route, null), discountOn(route, undefined)]).toEqual([null, null]);
  });
});
