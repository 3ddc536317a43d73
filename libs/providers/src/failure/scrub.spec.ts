import { cut } from './scrub.js';

describe('a text that is cut', () => {
  it.each([
    ['a\u{10000}b', 2, 'a'],
    ['a\u{10ffff}b', 2, 'a'],
    ['a\u{10000}b', 3, 'a\u{10000}'],
    ['a\u{10000}', 3, 'a\u{10000}'],
    ['a\ud7ffb', 2, 'a\ud7ff'],
    ['a\ue000b', 2, 'a\ue000'],
    ['ab', 2, 'ab'],
  ])('%j to %i: %j, so that no pair is parted', (text, length, left) => {
    expect(cut(text, length)).toBe(left);
  });
});
