import { sentText, Unanswered } from './sent-lines.js';

describe('lines that a provider was given', () => {
  it('takes one answer of each, and none of a line that it never had', () => {
    const unanswered = new Unanswered(sentText([0, 3, 8, 1_000]));
    expect([0, 3, 8, 1_000].map((line) => unanswered.take(line))).toEqual([true, true, true, true]);
    const never = [0, 3, 8, 1_000, 1, 2, 7, 9, 1_001, 1_007, 1_008, 9_999_999];
    expect(never.filter((line) => unanswered.take(line))).toEqual([]);
  });

  it('says when all have their answer', () => {
    const unanswered = new Unanswered(sentText([7, 8]));
    expect([unanswered.isEmpty, unanswered.take(8), unanswered.isEmpty]).toEqual([false, true, false]);
    expect([unanswered.take(8), unanswered.take(7), unanswered.isEmpty]).toEqual([false, true, true]);
    expect(new Unanswered(sentText([])).isEmpty).toBe(true);
  });

  it('keeps 50,000 lines in less than 9 KB of the state', () => {
    const all = Array.from({ length: 50_000 }, (_, line) => line);
    const text = sentText(all);
    expect(text.length).toBeLessThan(9_000);
    const unanswered = new Unanswered(text);
    expect(all.every((line) => unanswered.take(line)) && unanswered.isEmpty).toBe(true);
  });
});
