import fc from 'fast-check';
import { seededRandom } from '@gateway/testing/plain';
import { bodyOf, drawWork, expectedPico, orderOf, pico, workOf } from './work.js';

const work = {
  ...drawWork(7, seededRandom(1)),
  promptTokens: 1_000,
  cachedTokens: 400,
  completionTokens: 10,
};

describe('the work of a seed', () => {
  it('is the same for the same seed', () => {
    const drawn = (seed: number) => {
      const random = seededRandom(seed);
      return Array.from({ length: 50 }, (_, n) => drawWork(n, random));
    };
    expect(drawn(3)).toEqual(drawn(3));
    expect(drawn(3)).not.toEqual(drawn(4));
  });

  it('costs what the price list says: cached tokens are among the prompt’s in chat, beside them in messages', () => {
    // 600 at 0.5, 400 at 0.05, 10 at 2 USD per million; 1,000 at 1, 400 at 0.1, 10 at 5.
    expect(expectedPico({ ...work, dialect: 'chat' })).toBe(340_000_000n);
    expect(expectedPico({ ...work, dialect: 'messages' })).toBe(1_090_000_000n);
  });

  it('reaches the upstream in the text of its request', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 31 }), (seed) => {
        const drawn = drawWork(1, seededRandom(seed));
        expect(workOf(orderOf(drawn))).toEqual(drawn);
        expect(JSON.parse(bodyOf(drawn)).messages[0].content).toBe(orderOf(drawn));
      }),
    );
  });

  it('reads amounts to the last decimal', () => {
    expect(pico('1.000000000001')).toBe(1_000_000_000_001n);
    expect(pico('-0.5')).toBe(-500_000_000_000n);
    expect(() => pico('1e-7')).toThrow('not an amount');
  });
});
