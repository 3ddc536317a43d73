import { lineDiff } from './line-diff.js';

describe('two versions of a prompt side by side', () => {
  it('keeps what is common in one line, and leaves a gap where one lacks it', () => {
    expect(lineDiff('a\nb\nc', 'a\nx\nc\nd')).toEqual([
      { before: 'a', after: 'a' },
      { before: 'b', after: null },
      { before: null, after: 'x' },
      { before: 'c', after: 'c' },
      { before: null, after: 'd' },
    ]);
  });

  it('shows texts too long to compare whole', () => {
    const long = Array.from({ length: 1_100 }, (_, n) => `line ${n}`).join('\n');
    expect(lineDiff(long, `${long}!`)).toHaveLength(2_200);
  });
});
