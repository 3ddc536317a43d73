import { cut, scrub } from './scrub.js';

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

describe('a long token', () => {
  it.each([
    ['random letters and digits', 'Zx8Qm2Vt7Lp4Rk9Wc3Yb6Nd1Hf5Jg0SaTuEoIiP', true],
    ['one letter', 'a'.repeat(40), false],
    ['words', 'the-model-that-was-asked-for-is-not-there-now', false],
    ['a hash in hex', '0123456789abcdef0123456789abcdef01234567', false],
  ])('of %s is a credential: %#', (_name, token, isHidden) => {
    expect(scrub(`see ${token} here`).includes(token)).toBe(!isHidden);
  });
});
