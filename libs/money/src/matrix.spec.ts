import type { PriceMatrixRow } from '@gateway/contracts';
import { matchRow } from './matrix.js';
import type { PriceContext } from './price-record.js';

describe('matchRow', () => {
  it.each<[string, PriceMatrixRow['when'], PriceContext, string]>([
    ['an empty when', {}, {}, 'holds'],
    ['a scalar in other case', { quality: 'HIGH' }, { quality: 'high' }, 'holds'],
    ['another scalar', { quality: 'high' }, { quality: 'low' }, 'fails'],
    ['a boolean', { has_audio: false }, { has_audio: false }, 'holds'],
    ['the other boolean', { has_audio: false }, { has_audio: true }, 'fails'],
    ['a number written otherwise', { duration: 5 }, { duration: '5.0' }, 'holds'],
    ['one of a list', { size: ['a', 'b'] }, { size: 'B' }, 'holds'],
    ['none of a list', { size: ['a', 'b'] }, { size: 'c' }, 'fails'],
    ['the lower end of a range', { duration: { min: '5', max: '10' } }, { duration: '5.00' }, 'holds'],
    ['the upper end of a range', { duration: { min: '5', max: '10' } }, { duration: 10 }, 'holds'],
    ['just above a range', { duration: { max: '10' } }, { duration: '10.01' }, 'fails'],
    ['just below a range', { duration: { min: '5' } }, { duration: '4.99' }, 'fails'],
    ['a range over what is no number', { duration: { max: '10' } }, { duration: 'short' }, 'fails'],
    ['a key the context lacks', { quality: 'low' }, {}, 'open'],
    ['a key the context holds as null', { quality: 'low' }, { quality: null }, 'open'],
    ['a key that only objects inherit', { constructor: 'x' }, {}, 'open'],
    ['a lacking key beside one that fails', { quality: 'low', size: 'a' }, { size: 'b' }, 'fails'],
  ])('%s', (_case, when, context, match) => {
    expect(matchRow(when, context)).toBe(match);
  });
});
