import { jest } from '@jest/globals';
import fc from 'fast-check';
import { WholeFrames } from './whole-frames.js';

describe('frames of a stream in pieces', () => {
  it('are the same wherever it is cut, and what has no end is left', () => {
    const text = fc.array(fc.constantFrom('a', '\n', 'b\n\n', '{}'), { maxLength: 30 });
    fc.assert(
      fc.property(text, fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1 }), (parts, sizes) => {
        const whole = parts.join('');
        const frames = new WholeFrames();
        const found: string[] = [];
        for (let at = 0, turn = 0; at < whole.length; turn += 1) {
          const size = sizes[turn % sizes.length] ?? 1;
          found.push(...frames.push(whole.slice(at, at + size)));
          at += size;
        }
        const expected = new WholeFrames();
        expect(found).toEqual(expected.push(whole));
        expect(frames.length).toBe(expected.length);
      }),
    );
    const frames = new WholeFrames();
    expect(frames.push('a\n')).toEqual([]);
    expect(frames.push('\nb\n\nc')).toEqual(['a', 'b']);
    expect([frames.length, frames.push('\n\n')]).toEqual([1, ['c']]);
  });

  it('U08 are joined once, however many pieces a long one comes in', () => {
    const join = jest.spyOn(Array.prototype, 'join');
    let joined = 0;
    try {
      const frames = new WholeFrames();
      for (let piece = 0; piece < 1_000; piece += 1) frames.push('x'.repeat(100));
      frames.push('\n\n');
      for (const { value } of join.mock.results) joined += String(value).length;
    } finally {
      join.mockRestore();
    }
    expect(joined).toBe(100_002);
  });
});
